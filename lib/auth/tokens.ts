// Signed tokens (JWT, HS256): signing, exact checks, and a bounded cache of verified ones. Each type of token has a
// key and an audience of its own, so that none passes for another.
import { createSecretKey, hkdfSync, type KeyObject } from "node:crypto";
import { createRequire } from "node:module";
import type jsonwebtoken from "jsonwebtoken";
import type { Clock } from "../core/clock.js";
import { CredentialRejected } from "../core/errors.js";

/** `access`: tenant users. `admin`: the superadmin. `admin2fa`: between the two factors. `file`: viewing by link. */
export type TokenType = "access" | "admin" | "admin2fa" | "file";

export interface TokenClaims {
  /** The user's id, or the superadmin's. */
  readonly subject: string;
  /** null for the superadmin. */
  readonly tenantId: string | null;
  /** The subject's generation when the token was issued. */
  readonly generation: number;
  /** The refresh family that an access token belongs to. */
  readonly familyId: string | null;
}

export interface VerifiedToken extends TokenClaims {
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface Tokens {
  /** @param ttl seconds */
  sign(type: TokenType, claims: TokenClaims, ttl: number): string;
  /**
   * Checks signature, algorithm, issuer, audience, shape and expiry; whether the generation still holds is the
   * caller's to check. Throws CredentialRejected (`unknown` or `expired`).
   */
  verify(type: TokenType, token: string): VerifiedToken;
}

export interface TokensDeps {
  /** `secrets.token`, hexadecimal. */
  readonly secret: string;
  readonly clock: Clock;
  /** Verified tokens kept. @default 10000 */
  readonly cacheSize?: number;
}

const issuer = "records-service";
const types = ["access", "admin", "admin2fa", "file"] as const satisfies readonly TokenType[];
/** Longer ones were not made here. */
const longestToken = 2048;

interface Checker {
  readonly key: KeyObject;
  readonly audience: string;
  readonly cache: Map<string, VerifiedToken>;
}

const load = createRequire(import.meta.url);

/** Signs and checks the service's tokens. The only user of jsonwebtoken, which is loaded with the first token: no start waits for it. */
export function createTokens({ secret, clock, cacheSize = 10_000 }: TokensDeps): Tokens {
  let loaded: typeof jsonwebtoken | undefined;
  const library = () => (loaded ??= load("jsonwebtoken") as typeof jsonwebtoken);
  const checkers = new Map<TokenType, Checker>();
  for (const type of types) {
    const bytes = hkdfSync("sha256", Buffer.from(secret, "hex"), "", `records-service token ${type}`, 32);
    checkers.set(type, { key: createSecretKey(Buffer.from(bytes)), audience: type, cache: new Map() });
  }

  return {
    sign(type, claims, ttl) {
      const { key, audience } = checkers.get(type)!;
      const issuedAt = Math.floor(clock.now() / 1000);
      const payload = {
        iss: issuer,
        aud: audience,
        sub: claims.subject,
        ...(claims.tenantId === null ? {} : { tid: claims.tenantId }),
        gen: claims.generation,
        ...(claims.familyId === null ? {} : { fam: claims.familyId }),
        iat: issuedAt,
        exp: issuedAt + ttl,
      };
      return library().sign(payload, key, { algorithm: "HS256" });
    },

    verify(type, token) {
      const { key, audience, cache } = checkers.get(type)!;
      let claims = cache.get(token);
      if (claims === undefined) {
        claims = check(library(), token, key, audience);
        if (claims.expiresAt <= clock.now()) throw new CredentialRejected("expired", null, claims.tenantId);
        // Oldest first out: a Map keeps the order of insertion.
        if (cache.size >= cacheSize) cache.delete(cache.keys().next().value!);
        cache.set(token, claims);
      } else if (claims.expiresAt <= clock.now()) {
        cache.delete(token);
        throw new CredentialRejected("expired", null, claims.tenantId);
      }
      return claims;
    },
  };
}

function check(library: typeof jsonwebtoken, token: string, key: KeyObject, audience: string): VerifiedToken {
  if (token.length > longestToken) throw new CredentialRejected("unknown");
  let payload: unknown;
  try {
    // Expiry is checked by the service's clock, for tokens from the cache too.
    payload = library.verify(token, key, { algorithms: ["HS256"], issuer, audience, ignoreExpiration: true, ignoreNotBefore: true });
  } catch {
    throw new CredentialRejected("unknown");
  }
  const claims = claimsOf(payload, audience);
  if (claims === undefined) throw new CredentialRejected("unknown");
  return claims;
}

function claimsOf(payload: unknown, audience: string): VerifiedToken | undefined {
  if (typeof payload !== "object" || payload === null) return undefined;
  const { aud, sub, tid, gen, fam, exp } = payload as Record<string, unknown>;
  if (aud !== audience || typeof sub !== "string" || sub === "") return undefined;
  if (tid !== undefined && typeof tid !== "string") return undefined;
  if (fam !== undefined && typeof fam !== "string") return undefined;
  if (typeof gen !== "number" || !Number.isSafeInteger(gen)) return undefined;
  if (typeof exp !== "number" || !Number.isSafeInteger(exp)) return undefined;
  return Object.freeze({ subject: sub, tenantId: tid ?? null, generation: gen, familyId: fam ?? null, expiresAt: exp * 1000 });
}
