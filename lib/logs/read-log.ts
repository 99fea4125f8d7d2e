// Reading a chunked log: newest first, filtered, in pages; and one entry by its id.
import { BadRequest } from "../core/errors.js";
import { isId } from "../core/ids.js";
import type { Json } from "../core/record.js";
import { always } from "../storage/filter.js";
import type { Row, Store } from "../storage/storage.js";
import { newestFirst } from "./append-log.js";
import { entryId, placeOf } from "./entry-id.js";
import { isOlder, oldestKept, type Retention } from "./retention.js";

const defaultLimit = 25;
const mostItems = 100;
/** Entries looked at in one call; where none of them matches, the page is short and has a cursor to go on from. */
const mostLookedAt = 50_000;
const mostChunksAtOnce = 128;
const entriesAtOnce = 2000;

export interface LogQuery {
  /** 1 to 100. @default 25 */
  readonly limit?: number | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface LogPage<Entry> {
  readonly items: readonly Entry[];
  /** null at the end. */
  readonly nextCursor: string | null;
}

/** The entry before which a page begins: its chunk, and how many of the chunk's entries are still to come. */
interface Position {
  readonly chunk: string;
  readonly left: number;
}

export interface ReadOptions<Entry> {
  readonly store: Store;
  readonly table: string;
  /** An entry from what is stored of it. */
  readonly unpack: (stored: Json, id: string) => Entry;
  readonly retention: Retention;
  readonly now: number;
}

/** One page. Throws BadRequest for a cursor that is none. */
export async function readLog<Entry>(options: ReadOptions<Entry> & LogQuery & { readonly matches: (entry: Entry) => boolean }): Promise<LogPage<Entry>> {
  const { store, table, unpack, matches } = options;
  const limit = Math.min(options.limit ?? defaultLimit, mostItems);
  const cutoff = oldestKept(options.retention, options.now);
  const from = options.cursor === undefined ? undefined : parseCursor(options.cursor);
  const items: Entry[] = [];
  let looked = 0;

  /** Takes what matches of one chunk; the position to go on from where the page is full. */
  const take = (row: Row, left: number): Position | undefined => {
    const entries = entriesOf(row);
    for (let index = Math.min(left, entries.length) - 1; index >= 0; index -= 1) {
      looked += 1;
      const entry = unpack(entries[index]!, entryId(row.id, index));
      if (!matches(entry)) continue;
      if (items.length === limit) return { chunk: row.id, left: index + 1 };
      items.push(entry);
    }
    return undefined;
  };
  const page = (next: Position | undefined): LogPage<Entry> => ({ items, nextCursor: next === undefined ? null : formatCursor(next) });

  let after = from?.chunk;
  if (from !== undefined && from.left > 0) {
    const begun = await store.table(table).find(from.chunk);
    const next = begun === undefined ? undefined : take(begun, from.left);
    if (next !== undefined) return page(next);
  }
  // Chunks of a quiet log are small: more of them are read at once.
  let atOnce = 2;
  for (;;) {
    const rows = await store.table(table).list({ filter: always, sort: newestFirst, limit: atOnce, after: after === undefined ? undefined : { value: after, id: after } });
    let entries = 0;
    for (const row of rows) {
      if (isOlder(row, cutoff)) return page(undefined);
      const next = take(row, Infinity);
      if (next !== undefined) return page(next);
      entries += entriesOf(row).length;
      after = row.id;
    }
    if (rows.length < atOnce) return page(undefined);
    if (looked >= mostLookedAt) return page({ chunk: after!, left: 0 });
    atOnce = Math.max(1, Math.min(mostChunksAtOnce, atOnce * 4, Math.floor(entriesAtOnce / (entries / rows.length))));
  }
}

/** The entry with this id. */
export async function findInLog<Entry>({ store, table, unpack, id }: Pick<ReadOptions<Entry>, "store" | "table" | "unpack"> & { readonly id: string }): Promise<Entry | undefined> {
  const at = placeOf(id);
  const row = at === undefined ? undefined : await store.table(table).find(at.chunk);
  const stored = row === undefined ? undefined : entriesOf(row)[at!.place];
  return stored === undefined ? undefined : unpack(stored, id);
}

function entriesOf(row: Row): readonly Json[] {
  return row.record["entries"] as readonly Json[];
}

function formatCursor({ chunk, left }: Position): string {
  return Buffer.from(`${chunk}:${left}`).toString("base64url");
}

function parseCursor(cursor: string): Position {
  const [chunk, left, ...more] = cursor.length > 100 ? [] : Buffer.from(cursor, "base64url").toString("utf8").split(":");
  if (!isId(chunk) || left === undefined || !/^[0-9]{1,4}$/.test(left) || more.length > 0) {
    throw new BadRequest("cursor is not one that this log has given");
  }
  return { chunk, left: Number(left) };
}
