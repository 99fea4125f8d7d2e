// Refresh tokens: opaque text that names tenant and family, holds 256 random bits, and is tagged by the service, so
// that a token which was once issued can be told from one that was made up, without keeping every spent one.
import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import { idFromBytes, idToBytes, sha256 } from "../core/ids.js";

export interface RefreshTokens {
  issue(tenantId: string, familyId: string): string;
  /** undefined where the service never issued this token. */
  parse(token: unknown): { readonly tenantId: string; readonly familyId: string; readonly hash: string } | undefined;
  /** What is stored of a token. */
  hash(token: string): string;
}

const tagLength = 16;
const contentLength = 16 + 16 + 32;
const textLength = Math.ceil(((contentLength + tagLength) * 4) / 3);

/** @param secret `secrets.token`, hexadecimal */
export function createRefreshTokens({ secret }: { readonly secret: string }): RefreshTokens {
  const key = Buffer.from(hkdfSync("sha256", Buffer.from(secret, "hex"), "", "records-service token refresh", 32));
  const tagOf = (content: Buffer): Buffer => createHmac("sha256", key).update(content).digest().subarray(0, tagLength);

  return {
    issue(tenantId, familyId) {
      const content = Buffer.concat([idToBytes(tenantId), idToBytes(familyId), randomBytes(32)]);
      return Buffer.concat([content, tagOf(content)]).toString("base64url");
    },

    parse(token) {
      if (typeof token !== "string" || token.length !== textLength) return undefined;
      const bytes = Buffer.from(token, "base64url");
      // Only the one spelling that was issued: decoding passes over foreign characters and spare bits.
      if (bytes.length !== contentLength + tagLength || bytes.toString("base64url") !== token) return undefined;
      const content = bytes.subarray(0, contentLength);
      if (!timingSafeEqual(tagOf(content), bytes.subarray(contentLength))) return undefined;
      return { tenantId: idFromBytes(content.subarray(0, 16)), familyId: idFromBytes(content.subarray(16, 32)), hash: sha256(token) };
    },

    hash: sha256,
  };
}
