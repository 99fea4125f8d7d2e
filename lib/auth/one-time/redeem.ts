// Redeeming a one-time token: the steps that reset and confirm share. One conditional update decides, so that a token
// works once, whoever else presents it at the same time on whatever node.
import { BadRequest } from "../../core/errors.js";
import type { JsonObject } from "../../core/record.js";
import { usersTable } from "../../collections/collection.js";
import { ConditionMissed, StampChanged, type Operation, type Row, type Update } from "../../storage/storage.js";
import type { TenantContext } from "../../tenants/context.js";
import { callOf, withoutSecrets, type Origin } from "../origin.js";
import type { OneTimeDeps } from "./deps.js";
import type { Kind } from "./kinds.js";
import { parseOneTimeToken } from "./token.js";

const rounds = 100;

/** What redeeming changes on the account, beside using the token up. */
export interface Effect {
  readonly update: Pick<Update, "set" | "setHidden" | "increment" | "where">;
  readonly operations: readonly Operation[];
}

/** Throws BadRequest("Invalid or expired token") whatever is wrong with it, HookRejected, HookFailed, and what `effect` throws: the token then stays usable. */
export async function redeem(
  deps: OneTimeDeps,
  kind: Kind,
  origin: Origin,
  input: JsonObject,
  effect: (context: TenantContext, row: Row) => Promise<Effect>,
): Promise<void> {
  const { tenants, users, clock } = deps;
  const token = parseOneTimeToken(input["token"]);
  let context = token === undefined ? undefined : await tenants.byId(token.tenantId);
  if (token === undefined || context === undefined) throw invalidToken();
  await runHooks(deps, context, origin, input);

  for (let round = 1; ; round += 1) {
    if (context === undefined || !kind.settings(context.settings).enabled) throw invalidToken();
    const row = await users.find(context, token.userId);
    const expires = row?.hidden[kind.expiresColumn];
    if (row === undefined || row.hidden[kind.hashColumn] !== token.hash || typeof expires !== "number" || expires <= clock.now()) throw invalidToken();
    const { update, operations } = await effect(context, row);
    try {
      await context.store.write({
        stamp: context.stamp,
        operations: [
          {
            ...update, type: "update", table: usersTable, id: row.id,
            hiddenIs: { [kind.hashColumn]: token.hash, [kind.expiresColumn]: expires },
            setHidden: { ...update.setHidden, [kind.hashColumn]: null, [kind.expiresColumn]: null },
            log: { collection: "users", content: "id" },
          },
          ...operations,
        ],
      });
      return;
    } catch (error) {
      if (error instanceof ConditionMissed) throw invalidToken();
      if (!(error instanceof StampChanged) || round === rounds) throw error;
      context = await tenants.byId(token.tenantId);
    }
  }
}

/** The global hooks of an auth route. Neither token nor password reaches them, and they can set neither. */
export async function runHooks({ hooks }: OneTimeDeps, context: TenantContext, origin: Origin, input: JsonObject): Promise<JsonObject> {
  const { token: _token, ...told } = withoutSecrets(input);
  const outcome = await hooks.beforeRequest(context, callOf(context, origin), { collection: "users", recordId: null, body: told, record: null });
  return outcome.body ?? told;
}

/** The one error of reset, confirm and setup (contract 6). */
export function invalidToken(): BadRequest {
  return new BadRequest("Invalid or expired token");
}
