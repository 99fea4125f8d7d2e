// Calls of host code: the caller it names, as that caller is now.
import { randomUUID } from "node:crypto";
import type { Call, Caller } from "../core/call.js";
import { BadRequest, NotFound } from "../core/errors.js";
import { usersTable } from "../collections/collection.js";
import type { TenantContext } from "../tenants/context.js";

/** Whose rights an operation of host code has. There is no default, so that no rule is skipped by accident. */
export type Who =
  /** A user of the tenant. */
  | { readonly userId: string }
  /** Somebody without a credential. */
  | "guest"
  /** No rules; hooks and validation still apply. */
  | "system";

/** What the operation would be over HTTP, for hooks and logs. */
export interface HostRequest {
  readonly method: string;
  readonly path: string;
  readonly mountPath: string;
}

/** Throws BadRequest where it names nobody: types are not there in JavaScript. */
export function checkWho(who: unknown): Who {
  if (who === "guest" || who === "system") return who;
  const userId = typeof who === "object" && who !== null && "userId" in who ? who.userId : undefined;
  if (typeof userId !== "string") throw new BadRequest('as(...) must name the caller: { userId }, "guest" or "system"');
  return { userId };
}

/** Throws NotFound where the user is unknown or inactive. */
export async function hostCall(context: TenantContext, who: Who, request: HostRequest): Promise<Call> {
  return {
    tenant: context.tenant,
    caller: await callerOf(context, checkWho(who)),
    request: { requestId: randomUUID(), headers: {}, ...request },
    meter: { hookMs: 0 },
  };
}

async function callerOf(context: TenantContext, who: Who): Promise<Caller> {
  if (who === "guest" || who === "system") return { type: who };
  const row = await context.store.table(usersTable).find(who.userId);
  if (row === undefined || row.hidden["active"] === false) throw new NotFound("User not found");
  return { type: "user", user: row.record, familyId: null, expiresAt: null };
}
