// One-time tokens: what a mailed link carries. The token names tenant and account, so that it is found without a
// search; 256 random bits prove it. Only its hash is stored.
import { randomBytes } from "node:crypto";
import { idFromBytes, idToBytes, isId, sha256 } from "../../core/ids.js";

const idBytes = 16;
const secretBytes = 32;
/** base64url of two ids and the secret. */
const shape = /^[A-Za-z0-9_-]{86}$/;

export interface ParsedToken {
  readonly tenantId: string;
  readonly userId: string;
  readonly hash: string;
}

export function newOneTimeToken(tenantId: string, userId: string): { readonly token: string; readonly hash: string } {
  const token = Buffer.concat([idToBytes(tenantId), idToBytes(userId), randomBytes(secretBytes)]).toString("base64url");
  return { token, hash: sha256(token) };
}

/** undefined where the text is no such token. */
export function parseOneTimeToken(token: unknown): ParsedToken | undefined {
  if (typeof token !== "string" || !shape.test(token)) return undefined;
  const bytes = Buffer.from(token, "base64url");
  const tenantId = idFromBytes(bytes.subarray(0, idBytes));
  const userId = idFromBytes(bytes.subarray(idBytes, 2 * idBytes));
  return isId(tenantId) && isId(userId) ? { tenantId, userId, hash: sha256(token) } : undefined;
}
