// The authenticator: from the text of an `Authorization` header to a caller. The user's row is read on every request,
// so that a raised generation, a removal or a deactivation by any process counts from the next one.
import type { Caller, UserCaller } from "../core/call.js";
import { CredentialRejected } from "../core/errors.js";
import { usersTable } from "../collections/collection.js";
import { createRecordReader } from "../storage/record-reader.js";
import type { TenantRegistry } from "../tenants/context.js";
import type { Authenticator, Identity } from "./auth.js";
import { tokenHolds } from "./token-holds.js";
import type { Tokens } from "./tokens.js";

export interface AuthenticatorDeps {
  readonly tenants: TenantRegistry;
  readonly tokens: Tokens;
  /** API keys: the caller that a key stands for. Throws CredentialRejected. */
  readonly keys: { authenticate(key: string, peer: string | undefined): Promise<Identity> };
  /** The superadmin's bearer tokens: undefined where the token is none of his. Throws CredentialRejected. */
  readonly admin?: { verifyToken(token: string): Promise<Extract<Caller, { type: "superadmin" }> | undefined> } | undefined;
  /** Parsed user records kept. @default 10000 */
  readonly cacheSize?: number;
}

const bearer = /^bearer +([!-~]+) *$/i;

export function createAuthenticator({ tenants, tokens, keys, admin, cacheSize = 10_000 }: AuthenticatorDeps): Authenticator {
  const read = createRecordReader(cacheSize);

  async function byAccessToken(token: string): Promise<Identity> {
    const claims = tokens.verify("access", token);
    const context = claims.tenantId === null ? undefined : await tenants.byId(claims.tenantId);
    if (context === undefined) throw new CredentialRejected("unknown");
    const row = await context.store.table(usersTable).find(claims.subject);
    if (row === undefined || !tokenHolds(row, claims)) throw new CredentialRejected("revoked", null, context.tenant.id);
    const caller: UserCaller = { type: "user", user: read(row), familyId: claims.familyId, expiresAt: claims.expiresAt };
    return { caller, context };
  }

  async function byAdminToken(token: string): Promise<Identity | undefined> {
    const caller = await admin?.verifyToken(token);
    return caller === undefined ? undefined : { caller, context: null };
  }

  return {
    async authenticate(authorization, peer) {
      if (authorization === undefined) return undefined;
      const token = bearer.exec(authorization)?.[1];
      if (token === undefined) throw new CredentialRejected("unknown");
      if (token.startsWith("pk_")) return keys.authenticate(token, peer);
      try {
        return await byAccessToken(token);
      } catch (error) {
        if (!(error instanceof CredentialRejected) || error.rejection !== "unknown") throw error;
        const identity = await byAdminToken(token);
        if (identity === undefined) throw error;
        return identity;
      }
    },
  };
}
