// File tokens: what a browser's <img> may carry as `?token=` instead of a header. Two minutes, for viewing only, with
// the rights of the caller as they are when it is used.
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Clock } from "../core/clock.js";

/** Seconds. */
export const fileTokenTtl = 120;

/** Whom a token stands for. Whoever verifies it reads the user and the key again. */
export interface FileTokenClaims {
  readonly tenantId: string;
  readonly userId: string;
  /** The API key that asked for it; null for a user's access token. */
  readonly keyId: string | null;
  /** The refresh family of the access token that asked for it; null without one. */
  readonly familyId: string | null;
  /** The user's generation of tokens. */
  readonly generation: number;
}

export interface FileTokens {
  /** `notAfter`: when the credential that asks for it ends, milliseconds since the epoch; null: never. */
  issue(claims: FileTokenClaims, notAfter: number | null): { readonly token: string; readonly expiresIn: number };
  /** The claims; undefined where the token is not ours, was altered, or has expired. */
  verify(token: string): FileTokenClaims | undefined;
}

/** @param options.secret the application secret; the key for signing is derived from it */
export function createFileTokens({ secret, clock }: { readonly secret: string; readonly clock: Clock }): FileTokens {
  const key = createHmac("sha256", secret).update("records-service file token 1").digest();
  const sign = (payload: string): Buffer => createHmac("sha256", key).update(payload).digest();

  return {
    issue({ tenantId, userId, keyId, familyId, generation }, notAfter) {
      const now = clock.now();
      const expires = Math.min(now + fileTokenTtl * 1000, notAfter ?? Infinity);
      const payload = Buffer.from(JSON.stringify([tenantId, userId, keyId, familyId, generation, expires])).toString("base64url");
      return { token: `${payload}.${sign(payload).toString("base64url")}`, expiresIn: Math.max(0, Math.floor((expires - now) / 1000)) };
    },

    verify(token) {
      const match = /^([A-Za-z0-9_-]{1,1024})\.([A-Za-z0-9_-]{43})$/.exec(token);
      if (match === null) return undefined;
      const expected = sign(match[1]!);
      const given = Buffer.from(match[2]!, "base64url");
      // The text must be the one form of its bytes: a changed last character may decode to the same ones.
      if (!timingSafeEqual(expected, given) || expected.toString("base64url") !== match[2]) return undefined;
      const [tenantId, userId, keyId, familyId, generation, expires] = JSON.parse(Buffer.from(match[1]!, "base64url").toString()) as [string, string, string | null, string | null, number, number];
      return clock.now() < expires ? { tenantId, userId, keyId, familyId, generation } : undefined;
    },
  };
}
