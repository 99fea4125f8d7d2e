// Foreseen: a store as it will be once the earlier writes of a batch are done, for building the later ones on it.
// Nothing is written here; the unit itself checks again whatever was decided on what is foreseen.
import type { RecordValue } from "../core/record.js";
import { matcher } from "../storage/matches.js";
import type { Operation, Query, Row, Store, Table } from "../storage/storage.js";

export interface Foreseen {
  /** Reads see what is foreseen; writes go through. */
  readonly store: Store;
  /** Takes these operations as done. */
  foresee(operations: readonly Operation[]): Promise<void>;
  /** Back to what is stored. */
  forget(): void;
}

export function foreseeing(store: Store): Foreseen {
  /** By table and id; null: removed. */
  const tables = new Map<string, Map<string, Row | null>>();

  function touched(table: string): Map<string, Row | null> {
    let rows = tables.get(table);
    if (rows === undefined) tables.set(table, (rows = new Map()));
    return rows;
  }

  function table(name: string): Table {
    const stored = store.table(name);
    return {
      async find(id) {
        const row = tables.get(name)?.get(id);
        return row === undefined ? await stored.find(id) : (row ?? undefined);
      },
      list: (query) => listed(stored, tables.get(name), query),
      count: (filter) => stored.count(filter),
    };
  }

  return {
    store: {
      table,
      write: (unit) => store.write(unit),
      changes: store.changes,
      stamp: () => store.stamp(),
      size: () => store.size(),
    },
    async foresee(operations) {
      for (const operation of operations) {
        // Whether an optional one takes place is known by the unit alone; none of them is about records.
        if (operation.type === "insert") touched(operation.table).set(operation.record.id, rowOf(operation.record, 1, operation.hidden ?? {}));
        else if (operation.type === "remove" && operation.optional !== true) touched(operation.table).set(operation.id, null);
        else if (operation.type === "update" && operation.optional !== true) {
          const row = await table(operation.table).find(operation.id);
          if (row === undefined) continue;
          const hidden: Record<string, Row["hidden"][string]> = { ...row.hidden, ...operation.setHidden };
          for (const [name, by] of Object.entries(operation.increment ?? {})) hidden[name] = Number(row.hidden[name] ?? 0) + by;
          touched(operation.table).set(row.id, rowOf({ ...row.record, ...operation.set }, row.revision + 1, hidden));
        }
      }
    },
    forget: () => tables.clear(),
  };
}

/** Lists in default order; sorted lists and later pages are no part of a write. */
async function listed(stored: Table, touched: ReadonlyMap<string, Row | null> | undefined, query: Query): Promise<Row[]> {
  if (touched === undefined || touched.size === 0) return await stored.list(query);
  const fits = matcher(query.filter);
  const rows = (await stored.list({ filter: query.filter, limit: query.limit + touched.size })).filter((row) => !touched.has(row.id));
  for (const row of touched.values()) if (row !== null && fits(row.record)) rows.push(row);
  return rows.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, query.limit);
}

function rowOf(record: RecordValue, revision: number, hidden: Row["hidden"]): Row {
  return { id: record.id, revision, record, hidden, get text() { return JSON.stringify(record); } };
}
