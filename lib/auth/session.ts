// What a signed-in user does with his sign-in: logout, me, issue-token. Guests and the superadmin get 401.
import { callerUser, type Call } from "../core/call.js";
import { Forbidden, NotFound, Unauthorized, ValidationFailed } from "../core/errors.js";
import type { JsonObject, RecordValue } from "../core/record.js";
import { usersTable } from "../collections/collection.js";
import { ConditionMissed } from "../storage/storage.js";
import type { TenantContext } from "../tenants/context.js";
import type { TokenPair } from "./auth.js";
import type { AuthDeps } from "./deps.js";
import { withoutSecrets } from "./origin.js";

/** `{ scope? }`: `all` (default) ends every session of the user, `session` the one of the token presented. */
export async function logout(deps: AuthDeps, context: TenantContext, call: Call, input: JsonObject): Promise<void> {
  const user = demandUser(call);
  await guard(deps, context, call, input);
  const scope = input["scope"] ?? "all";
  if (scope !== "all" && scope !== "session") throw new ValidationFailed([{ field: "scope", message: "must be all or session" }]);
  if (scope === "session") {
    const familyId = call.caller.type === "user" ? call.caller.familyId : null;
    if (familyId === null) throw new ValidationFailed([{ field: "scope", message: "must be all: this credential belongs to no session" }]);
    return deps.families.revoke(context, user.id, familyId);
  }
  const ended = await deps.families.removeOperations(context, user.id);
  try {
    await context.store.write({
      operations: [
        { type: "update", table: usersTable, id: user.id, increment: { generation: 1 }, setHidden: { revokedFamilies: null }, log: { collection: "users", content: "id" } },
        ...ended,
      ],
    });
  } catch (error) {
    // The account was removed meanwhile, and its tokens with it.
    if (!(error instanceof ConditionMissed)) throw error;
  }
}

/** The caller's own record, without `role`. */
export async function me(deps: AuthDeps, context: TenantContext, call: Call): Promise<RecordValue> {
  const { role: _role, ...record } = demandUser(call);
  await guard(deps, context, call, null);
  const collection = context.collections.get("users")!;
  return collection.passthrough ? (record as RecordValue) : deps.present(call, collection, record as RecordValue);
}

/** `{ userId }`: tokens of that user, for a caller among the tenant's token issuers. */
export async function issueToken(deps: AuthDeps, context: TenantContext, call: Call, input: JsonObject): Promise<TokenPair> {
  const { hooks, users, families } = deps;
  const caller = demandUser(call);
  const { userId } = (await guard(deps, context, call, input)) ?? input;
  if (!context.settings.tokenIssuers.includes(caller.id)) throw new Forbidden();
  if (typeof userId !== "string" || userId.trim() === "") throw new ValidationFailed([{ field: "userId", message: "is required and must be text" }]);
  const user = await users.find(context, userId);
  if (user === undefined) throw new NotFound("User not found");
  const done = { collection: "users", recordId: user.id, body: { userId }, record: user.record };
  const { pair, operations } = await families.begin(context, user);
  try {
    await context.store.write({ operations: [...operations, ...hooks.after(context, call, "afterLogin", done)] });
  } catch (error) {
    if (error instanceof ConditionMissed) throw new NotFound("User not found");
    throw error;
  }
  hooks.committed(context, call, "afterLogin", done);
  return pair;
}

/** The global hooks of an auth route; gives the body to go on with. */
async function guard({ hooks }: AuthDeps, context: TenantContext, call: Call, input: JsonObject | null): Promise<JsonObject | null> {
  const body = input === null ? null : withoutSecrets(input);
  return (await hooks.beforeRequest(context, call, { collection: "users", recordId: null, body, record: null })).body;
}

function demandUser(call: Call): RecordValue {
  const user = callerUser(call.caller);
  if (user === null) throw new Unauthorized();
  return user;
}
