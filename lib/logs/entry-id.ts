// Ids of log entries: a chunk's id with the entry's place in its last three digits, so that no id has to be made or
// stored for an entry, and an entry is found by its id at once.
import { isId } from "../core/ids.js";

const digits = 3;
/** The place of no entry: it makes a chunk's id greater than those of its entries. */
const chunkMark = "f".repeat(digits);

/** The id of a chunk, from a fresh id. */
export function chunkId(fresh: string): string {
  return fresh.slice(0, -digits) + chunkMark;
}

/** @param place of the entry in its chunk, below 4095 */
export function entryId(chunk: string, place: number): string {
  return chunk.slice(0, -digits) + place.toString(16).padStart(digits, "0");
}

/** Where the entry with this id is; undefined where it cannot be one. */
export function placeOf(id: string): { readonly chunk: string; readonly place: number } | undefined {
  if (!isId(id)) return undefined;
  return { chunk: chunkId(id), place: Number.parseInt(id.slice(-digits), 16) };
}
