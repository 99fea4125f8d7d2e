// From a file token to the caller that it stands for, as that caller is now: the user, his generation of tokens, the
// session and the API key are read again on every use.
import type { Clock } from "../core/clock.js";
import { CredentialRejected } from "../core/errors.js";
import { isInside, parseRanges } from "../api-keys/cidr.js";
import { keysTable, presentKey } from "../api-keys/key.js";
import type { Identity } from "../auth/auth.js";
import { tokenHolds } from "../auth/token-holds.js";
import { usersTable } from "../collections/collection.js";
import type { FileTokens } from "../files/file-tokens.js";
import type { TenantContext, TenantRegistry } from "../tenants/context.js";

export interface FileTokenCallerDeps {
  readonly tokens: FileTokens;
  readonly tenants: Pick<TenantRegistry, "byId">;
  readonly clock: Clock;
}

/** Tells the caller of a file token. Throws CredentialRejected: the same 401 as for any other credential. */
export type FileTokenCaller = (token: string, peer: string | undefined) => Promise<Identity & { readonly context: TenantContext }>;

export function createFileTokenCaller({ tokens, tenants, clock }: FileTokenCallerDeps): FileTokenCaller {
  return async (token, peer) => {
    const claims = tokens.verify(token);
    const context = claims === undefined ? undefined : await tenants.byId(claims.tenantId);
    if (claims === undefined || context === undefined) throw new CredentialRejected("unknown");
    const user = await context.store.table(usersTable).find(claims.userId);
    if (user === undefined || !tokenHolds(user, claims)) throw new CredentialRejected("revoked", null, context.tenant.id);
    if (claims.keyId === null) {
      return { context, caller: { type: "user", user: user.record, familyId: claims.familyId, expiresAt: null } };
    }
    const row = await context.store.table(keysTable).find(claims.keyId);
    if (row === undefined) throw new CredentialRejected("unknown");
    const key = presentKey(row.record);
    const told = { id: key.id, name: key.name, tenantId: claims.tenantId };
    const expiresAt = key.expiresAt === null ? null : Date.parse(key.expiresAt);
    if (key.status === "revoked" || key.userId !== user.id) throw new CredentialRejected("revoked", told);
    if (expiresAt !== null && expiresAt <= clock.now()) throw new CredentialRejected("expired", told);
    if (key.allowedCidrs.length > 0 && !isInside(parseRanges(key.allowedCidrs), peer)) throw new CredentialRejected("source", told);
    const { id: keyId, name: keyName, bypassRules, bypassHooks } = key;
    return { context, caller: { type: "apiKey", user: user.record, keyId, keyName, bypassRules, bypassHooks, expiresAt } };
  };
}
