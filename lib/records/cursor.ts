// Cursors: an opaque position in a list, bound to the query it came from.
import { BadRequest } from "../core/errors.js";
import type { Scalar } from "../core/record.js";

export interface Position {
  readonly value: Scalar;
  readonly id: string;
}

/** What a cursor belongs to: collection, sort, filter and where. A checksum (FNV-1a), against mistakes and not against people: a cursor gives no rights. */
export function queryKey(parts: readonly (string | undefined)[]): string {
  let hash = 0x811c9dc5;
  for (const part of parts) {
    const text = part === undefined ? "\u0001" : `${part}\u0000`;
    for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(36);
}

export function encodeCursor(key: string, position: Position): string {
  return Buffer.from(JSON.stringify([key, position.value, position.id])).toString("base64url");
}

/** Throws BadRequest where it is no cursor, or one of another query. */
export function decodeCursor(key: string, cursor: string): Position {
  let parts: unknown;
  try {
    const bytes = Buffer.from(cursor, "base64url");
    // Node skips what is no base64url: only the very text that was given counts.
    parts = bytes.toString("base64url") === cursor ? JSON.parse(bytes.toString()) : null;
  } catch {
    parts = null;
  }
  if (!Array.isArray(parts) || parts.length !== 3 || typeof parts[2] !== "string" || (typeof parts[1] === "object" && parts[1] !== null)) {
    throw new BadRequest("cursor is none that this service has given");
  }
  if (parts[0] !== key) throw new BadRequest("cursor belongs to a list with another sort, filter or where");
  return { value: parts[1] as Scalar, id: parts[2] };
}
