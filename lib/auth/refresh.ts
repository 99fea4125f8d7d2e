// Refresh: the recipe from a refresh token to the next token pair of its session.
import { Unauthorized } from "../core/errors.js";
import type { JsonObject } from "../core/record.js";
import type { UserCaller } from "../core/call.js";
import { ConditionMissed } from "../storage/storage.js";
import type { TenantContext } from "../tenants/context.js";
import type { TokenPair } from "./auth.js";
import type { AuthDeps } from "./deps.js";
import { callOf, withoutSecrets, type Origin } from "./origin.js";

/** The tenant whose token this is; undefined where the service never issued it. */
export async function tenantOf({ refreshTokens, tenants }: AuthDeps, refreshToken: unknown): Promise<TenantContext | undefined> {
  const token = refreshTokens.parse(refreshToken);
  return token === undefined ? undefined : await tenants.byId(token.tenantId);
}

/** `{ refreshToken }`. Throws Unauthorized, HookRejected, HookFailed. */
export async function refresh(deps: AuthDeps, origin: Origin, input: JsonObject): Promise<TokenPair> {
  const { families, hooks } = deps;
  const token = deps.refreshTokens.parse(input["refreshToken"]);
  const context = await tenantOf(deps, input["refreshToken"]);
  if (token === undefined || context === undefined) throw new Unauthorized();
  const presented = await families.check(context, token);
  const { user, family } = presented;
  const caller: UserCaller = { type: "user", user: user.record, familyId: family.id, expiresAt: null };
  const call = callOf(context, origin, caller);

  const subject = { collection: "users", recordId: user.id, body: withoutSecrets(input), record: user.record };
  await hooks.beforeRequest(context, call, { ...subject, recordId: null, record: null });
  await hooks.before(context, call, "beforeRefresh", subject);

  const { pair, operation } = families.rotate(context, presented);
  try {
    await context.store.write({ operations: [operation, ...hooks.after(context, call, "afterRefresh", subject)] });
  } catch (error) {
    // Another request was first with this token: to this one it is spent.
    if (error instanceof ConditionMissed) throw new Unauthorized();
    throw error;
  }
  hooks.committed(context, call, "afterRefresh", subject);
  return pair;
}
