// Login: the recipe from a username and a password to a token pair. Whatever is wrong, the answer and the work are
// the same: one hash computation, one message.
import { Forbidden, Unauthorized } from "../core/errors.js";
import type { JsonObject } from "../core/record.js";
import { usersTable } from "../collections/collection.js";
import { ConditionMissed, type Operation, type Row } from "../storage/storage.js";
import type { TenantContext } from "../tenants/context.js";
import type { TokenPair } from "./auth.js";
import type { AuthDeps } from "./deps.js";
import { callOf, withoutSecrets, type Origin } from "./origin.js";

/** `{ username, password }`. Throws Unauthorized("Invalid credentials"), Forbidden("Email not verified"), TooManyRequests, HookRejected, HookFailed. */
export async function login(deps: AuthDeps, context: TenantContext | undefined, origin: Origin, input: JsonObject): Promise<TokenPair> {
  const { hooks, users, families } = deps;
  if (context === undefined) {
    await users.credentials.verify(undefined, input["password"]);
    throw invalid();
  }
  const call = callOf(context, origin);

  const told = withoutSecrets(input);
  const first = await users.findByUsername(context, input["username"]);
  const subject = { collection: "users", recordId: first?.id ?? null, body: told, record: first?.record ?? null };
  const requested = await hooks.beforeRequest(context, call, { ...subject, recordId: null, record: null });
  const outcome = await hooks.before(context, call, "beforeLogin", { ...subject, body: requested.body ?? told });
  const body = withoutSecrets(outcome.body ?? told);

  // Read anew: a hook may have taken its time, or named another account.
  const user =
    outcome.issueTokenFor === undefined
      ? await byPassword(deps, await users.findByUsername(context, body["username"]), input["password"])
      : await users.find(context, outcome.issueTokenFor);
  if (user === undefined) throw invalid();
  demandVerified(context, user);

  const upgrade = outcome.issueTokenFor === undefined ? await users.credentials.upgrade(user, String(input["password"])) : undefined;
  const rehash: Operation[] = upgrade === undefined ? [] : [{ type: "update", table: usersTable, id: user.id, optional: true, ...upgrade }];
  const done = { collection: "users", recordId: user.id, body, record: user.record };
  const { pair, operations } = await families.begin(context, user);
  try {
    await context.store.write({ operations: [...operations, ...rehash, ...hooks.after(context, call, "afterLogin", done)] });
  } catch (error) {
    if (error instanceof ConditionMissed) throw invalid();
    throw error;
  }
  hooks.committed(context, call, "afterLogin", done);
  return pair;
}

async function byPassword({ users }: AuthDeps, user: Row | undefined, password: unknown): Promise<Row | undefined> {
  return (await users.credentials.verify(user, password)) ? user : undefined;
}

/** Only after the right password: it tells that the account exists. */
function demandVerified({ settings }: TenantContext, user: Row): void {
  const { enabled, requireForLogin } = settings.emailVerification;
  if (enabled && requireForLogin && user.record["emailVerified"] !== true) throw new Forbidden("Email not verified");
}

function invalid(): Unauthorized {
  return new Unauthorized("Invalid credentials");
}
