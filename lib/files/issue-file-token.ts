// Gives a caller a file token, for HTTP and for host code alike.
import type { Caller } from "../core/call.js";
import { Forbidden, Unauthorized } from "../core/errors.js";
import { usersTable } from "../collections/collection.js";
import type { TenantContext } from "../tenants/context.js";
import type { FileTokens } from "./file-tokens.js";

export interface IssuedFileToken {
  readonly token: string;
  /** Seconds. */
  readonly expiresIn: number;
}

/** A token with the rights of this user or API key. Throws Unauthorized for a guest, Forbidden for a caller that is no user of the tenant. */
export async function issueFileToken(tokens: FileTokens, context: TenantContext, caller: Caller): Promise<IssuedFileToken> {
  if (caller.type === "guest") throw new Unauthorized();
  // The superadmin's session reaches files by itself, as a cookie.
  if (caller.type !== "user" && caller.type !== "apiKey") throw new Forbidden();
  const row = await context.store.table(usersTable).find(caller.user.id);
  if (row === undefined) throw new Unauthorized();
  const generation = row.hidden["generation"];
  const claims = {
    tenantId: context.tenant.id,
    userId: caller.user.id,
    keyId: caller.type === "apiKey" ? caller.keyId : null,
    familyId: caller.type === "user" ? caller.familyId : null,
    generation: typeof generation === "number" ? generation : 0,
  };
  return tokens.issue(claims, caller.expiresAt);
}
