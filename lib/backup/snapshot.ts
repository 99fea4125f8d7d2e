// A tenant's records as they all were at one moment, read while others write: pages first, then what the change log
// says of the time in between. The log is followed all along, so that nothing of it is trimmed unread.
import { Conflict } from "../core/errors.js";
import type { Collection } from "../collections/collection.js";
import { always } from "../storage/filter.js";
import type { Change, Row } from "../storage/storage.js";
import type { TenantContext } from "../tenants/context.js";

/** What became of one record: its newest text, or that it was removed. */
export interface Changed {
  readonly recordId: string;
  /** null: removed. */
  readonly row: Pick<Row, "text" | "record" | "hidden"> | null;
}

export interface Snapshot {
  /** Rows of a collection, page by page. */
  pages(collection: Collection): AsyncGenerator<Row[]>;
  /** Follows the log to its end: from here on the moment is now. */
  settle(): Promise<void>;
  /** What became of the records of a collection up to the moment of the last `settle`. */
  changes(collection: Collection): AsyncGenerator<Changed[]>;
}

const pageSize = 200;
const changesAtOnce = 500;

/** Begins at the log's present end. */
export async function openSnapshot({ store }: TenantContext): Promise<Snapshot> {
  let cursor = await store.changes.head();
  /** By collection's name, then by record. */
  const seen = new Map<string, Map<string, Change>>();

  async function follow(): Promise<void> {
    for (;;) {
      const changes = await store.changes.since(cursor, changesAtOnce);
      if (changes === undefined) throw new Conflict("The tenant changes faster than it can be read; try again when it is calmer");
      for (const change of changes) {
        let records = seen.get(change.collection);
        if (records === undefined) seen.set(change.collection, (records = new Map()));
        records.set(change.recordId, change);
        cursor = change.id;
      }
      if (changes.length < changesAtOnce) return;
    }
  }

  return {
    settle: follow,

    async *pages({ table }) {
      for (let after: string | undefined; ;) {
        const rows = await store.table(table).list({ filter: always, limit: pageSize, ...(after === undefined ? {} : { after: { value: null, id: after } }) });
        await follow();
        if (rows.length > 0) yield rows;
        if (rows.length < pageSize) return;
        after = rows.at(-1)!.id;
      }
    },

    async *changes(collection) {
      let some: Changed[] = [];
      for (const [recordId, change] of [...(seen.get(collection.name) ?? [])]) {
        some.push({ recordId, row: await rowOf(collection, change) });
        if (some.length < pageSize) continue;
        yield some;
        some = [];
      }
      if (some.length > 0) yield some;
    },
  };

  /** The log has the record itself, but of accounts, which are read as they are now. */
  async function rowOf({ table }: Collection, change: Change): Promise<Changed["row"]> {
    if (change.action === "delete") return null;
    if (change.record !== null && change.text !== null) return { text: change.text, record: change.record, hidden: {} };
    return (await store.table(table).find(change.recordId)) ?? null;
  }
}
