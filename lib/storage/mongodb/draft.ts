// Draft: a store as it would be after the units of one entry, over what the database holds. A unit that fails takes
// its part back.
import type { Json, RecordValue, Scalar } from "../../core/record.js";
import type { Filter } from "../filter.js";
import { matcher } from "../matches.js";
import { StoredRow } from "../row.js";
import { UniqueViolation, type IndexDefinition } from "../storage.js";
import type { Collections } from "./collections.js";
import { longestEntry, rowProjection, rowSize, scalarToQuery, stepSize, toRow, type FetchedRow, type RowDocument, type Step } from "./documents.js";
import { tooLarge } from "./errors.js";
import { condition, filterToQuery, type RowQuery } from "./filter-to-query.js";
import { fieldPath, indexName, memberName } from "./names.js";

export interface DraftRow {
  readonly revision: number;
  readonly text: string;
  readonly hidden: string | null;
  readonly record: RecordValue;
}

/** What a process knows of a store's log. */
export interface Known {
  readonly log: string;
  /** Number of the newest entry; 0: none. */
  readonly last: number;
  /** Changes so far. */
  readonly changes: number;
  readonly stamp: number;
  readonly tables: ReadonlyMap<string, readonly IndexDefinition[]>;
}

type OwnerRow = Pick<RowDocument, "_id"> & Partial<Pick<RowDocument, "f">>;

const idsAtOnce = 1000;
/** Conditions of several fields in one query. */
const alternativesAtOnce = 100;

export class Draft {
  readonly steps: Step[] = [];
  /** Bytes of the steps, about. */
  size = 0;
  changes: number;
  stamp: number;
  readonly #collections: Collections;
  readonly #tables: Map<string, readonly IndexDefinition[]>;
  /** Rows as the database has them; null: it has none. */
  readonly #fetched = new Map<string, Map<string, DraftRow | null>>();
  /** Rows as the draft has them; null: removed. */
  readonly #rows = new Map<string, Map<string, DraftRow | null>>();
  /** Tables of which nothing in the database counts any more. */
  readonly #fresh = new Set<string>();
  readonly #owners = new Map<string, Promise<readonly string[]>>();
  readonly #keys = new WeakMap<DraftRow, Map<IndexDefinition, string | undefined>>();
  #undo: (() => void)[] = [];
  #begun = 0;

  constructor(collections: Collections, known: Known) {
    this.#collections = collections;
    this.#tables = new Map(known.tables);
    this.changes = known.changes;
    this.stamp = known.stamp;
  }

  get tables(): ReadonlyMap<string, readonly IndexDefinition[]> {
    return this.#tables;
  }

  /** What comes after this may be taken back. */
  begin(): void {
    const { changes, stamp, size } = this;
    const steps = this.steps.length;
    this.#begun = size;
    this.#undo = [() => {
      this.changes = changes;
      this.stamp = stamp;
      this.size = size;
      this.steps.length = steps;
    }];
  }

  takeBack(): void {
    for (const undo of this.#undo.reverse()) undo();
    this.#undo = [];
  }

  /** Throws BadRequest where what was begun is too large for an entry. */
  add(...steps: readonly Step[]): void {
    for (const step of steps) {
      this.steps.push(step);
      this.size += stepSize(step);
      if (this.size - this.#begun > longestEntry) throw tooLarge();
    }
  }

  /** Fetches rows that will be asked for. */
  async warm(wanted: ReadonlyMap<string, ReadonlySet<string>>): Promise<void> {
    await Promise.all([...wanted].map(async ([table, ids]) => {
      if (!this.#tables.has(table)) return;
      const list = [...ids].filter((id) => !id.includes("\u0000"));
      for (let start = 0; start < list.length; start += idsAtOnce) {
        const part = list.slice(start, start + idsAtOnce);
        const query: RowQuery = part.length === 1 ? { _id: part[0]! } : { _id: { $in: part } };
        const found = await this.#collections.rows(table).find<FetchedRow>(query, { projection: rowProjection }).toArray();
        const known = this.#fetchedOf(table);
        for (const id of part) known.set(id, null);
        for (const row of found) known.set(row._id, toDraftRow(row));
      }
    }));
  }

  async find(table: string, id: string): Promise<DraftRow | undefined> {
    const own = this.#rows.get(table)?.get(id);
    if (own !== undefined) return own ?? undefined;
    if (!this.#tables.has(table) || this.#fresh.has(table)) return undefined;
    if (this.#fetched.get(table)?.get(id) === undefined) await this.warm(new Map([[table, new Set([id])]]));
    return this.#fetched.get(table)?.get(id) ?? undefined;
  }

  /** Throws BadRequest where the row is too large for a document: in the log it would stop every later write. */
  put(table: string, id: string, row: DraftRow | null): void {
    if (row !== null && rowSize(row) > longestEntry) throw tooLarge();
    let rows = this.#rows.get(table);
    if (rows === undefined) this.#rows.set(table, (rows = new Map()));
    const before = rows.get(id);
    rows.set(id, row);
    this.#undo.push(() => {
      const current = this.#rows.get(table);
      if (before === undefined) current?.delete(id);
      else current?.set(id, before);
    });
  }

  /** Whether the draft has written the row. */
  isOwn(table: string, id: string): boolean {
    return this.#rows.get(table)?.has(id) === true;
  }

  /** Throws UniqueViolation where another row has the same values in a unique index that the test names. */
  async demandUnique(table: string, id: string, record: RecordValue, operation: number, touches: (index: IndexDefinition) => boolean): Promise<void> {
    for (const index of this.#tables.get(table) ?? []) {
      if (!index.unique || !touches(index)) continue;
      const key = uniqueKey(index, record);
      if (key === undefined) continue;
      const own = this.#rows.get(table);
      for (const [other, row] of own ?? []) {
        if (other !== id && row !== null && this.#keyOf(index, row) === key) throw new UniqueViolation(operation, fieldsOf(index));
      }
      const owners = await this.owners(table, index, record, key);
      if (owners.some((other) => other !== id && own?.get(other) === undefined)) throw new UniqueViolation(operation, fieldsOf(index));
    }
  }

  /** `uniqueKey` of a row of the draft, worked out once: each insert of a unit looks at all before it. */
  #keyOf(index: IndexDefinition, row: DraftRow): string | undefined {
    let keys = this.#keys.get(row);
    if (keys === undefined) this.#keys.set(row, (keys = new Map()));
    if (!keys.has(index)) keys.set(index, uniqueKey(index, row.record));
    return keys.get(index);
  }

  /** Asks at once for the owners of many records' values in a unique index. */
  warmOwners(table: string, index: IndexDefinition, records: readonly RecordValue[]): void {
    if (this.#fresh.has(table)) return;
    const wanted = new Map<string, RecordValue>();
    for (const record of records) {
      const key = uniqueKey(index, record);
      if (key !== undefined) wanted.set(key, record);
    }
    const all = [...wanted];
    const some = index.fields.length === 1 ? idsAtOnce : alternativesAtOnce;
    for (let start = 0; start < all.length; start += some) this.#askOwners(table, index, all.slice(start, start + some));
  }

  #askOwners(table: string, index: IndexDefinition, wanted: readonly (readonly [string, RecordValue])[]): void {
    const [first, ...more] = index.fields;
    const records = wanted.map(([, record]) => record);
    const query = more.length === 0 ? condition(first!, "$in", records.map((record) => record[first!.field] as Scalar))
      : ({ $or: records.map((record) => withValues(index, record)) } as RowQuery);
    const projection = Object.fromEntries(index.fields.map(({ field }) => [fieldPath(field), 1]));
    const found = this.#collections.rows(table).find<OwnerRow>(query, { projection }).toArray().then((rows) => {
      const owners = new Map<string, string[]>();
      for (const row of rows) {
        const key = JSON.stringify(index.fields.map(({ field }) => (field === "id" ? row._id : row.f?.[memberName(field)])));
        const known = owners.get(key);
        if (known === undefined) owners.set(key, [row._id]);
        else known.push(row._id);
      }
      return owners;
    });
    for (const [key, record] of wanted) {
      // Documents hold a value as queries say it.
      const stored = JSON.stringify(index.fields.map(({ field }) => scalarToQuery(record[field] as Scalar)));
      void this.#keepOwners(table, index, key, found.then((owners) => owners.get(stored) ?? []));
    }
  }

  /** Ids of the database's rows with the record's values in the index. */
  owners(table: string, index: IndexDefinition, record: RecordValue, key: string): Promise<readonly string[]> {
    if (this.#fresh.has(table)) return Promise.resolve([]);
    const known = this.#owners.get(ownersName(table, index, key));
    if (known !== undefined) return known;
    return this.#keepOwners(table, index, key, this.#collections.rows(table).find(withValues(index, record), { projection: { _id: 1 } }).limit(3).toArray().then((rows) => rows.map(({ _id }) => _id)));
  }

  #keepOwners(table: string, index: IndexDefinition, key: string, owners: Promise<readonly string[]>): Promise<readonly string[]> {
    // Whoever asks hears of a fault; one that was asked for beforehand must not end the process.
    owners.catch(() => undefined);
    this.#owners.set(ownersName(table, index, key), owners);
    return owners;
  }

  /** Whether a row matches. */
  async any(table: string, filter: Filter): Promise<boolean> {
    const matches = matcher(filter);
    const own = this.#rows.get(table);
    for (const row of own?.values() ?? []) if (row !== null && matches(row.record)) return true;
    const { query } = filterToQuery(filter);
    if (query === "nothing" || !this.#tables.has(table) || this.#fresh.has(table)) return false;
    const cursor = this.#collections.rows(table).find<FetchedRow>(query, { projection: rowProjection }).batchSize(100);
    try {
      for await (const row of cursor) if (own?.get(row._id) === undefined && matches(toRow(row).record)) return true;
      return false;
    } finally {
      await cursor.close();
    }
  }

  /** Every row of the table, in no order. */
  async *all(table: string): AsyncGenerator<readonly [string, DraftRow]> {
    const own = new Map(this.#rows.get(table));
    for (const [id, row] of own) if (row !== null) yield [id, row];
    if (!this.#tables.has(table) || this.#fresh.has(table)) return;
    for await (const row of this.#collections.rows(table).find<FetchedRow>({}, { projection: rowProjection })) {
      if (!own.has(row._id)) yield [row._id, toDraftRow(row)];
    }
  }

  setTable(table: string, indexes: readonly IndexDefinition[] | undefined): void {
    const before = this.#tables.get(table);
    const rows = this.#rows.get(table);
    const fresh = this.#fresh.has(table);
    if (indexes === undefined) {
      this.#tables.delete(table);
      this.#rows.delete(table);
    } else {
      this.#tables.set(table, indexes);
    }
    if (indexes === undefined || before === undefined) this.#fresh.add(table);
    this.#undo.push(() => {
      if (before === undefined) this.#tables.delete(table);
      else this.#tables.set(table, before);
      if (rows !== undefined) this.#rows.set(table, rows);
      if (!fresh) this.#fresh.delete(table);
    });
  }

  #fetchedOf(table: string): Map<string, DraftRow | null> {
    let rows = this.#fetched.get(table);
    if (rows === undefined) this.#fetched.set(table, (rows = new Map()));
    return rows;
  }
}

/** Rows that have the record's values in the index. */
function withValues(index: IndexDefinition, record: RecordValue): RowQuery {
  return Object.assign({}, ...index.fields.map((field) => condition(field, "$eq", record[field.field] as Scalar))) as RowQuery;
}

function ownersName(table: string, index: IndexDefinition, key: string): string {
  return `${table} ${indexName(index)} ${key}`;
}

export function fieldsOf(index: IndexDefinition): string[] {
  return index.fields.map(({ field }) => field);
}

/** The values that must be unique as one text; undefined where one of them is null. */
export function uniqueKey(index: IndexDefinition, record: Readonly<Record<string, Json>>): string | undefined {
  const values = index.fields.map(({ field }) => (Object.hasOwn(record, field) ? record[field]! : null));
  return values.some((value) => value === null || typeof value === "object") ? undefined : JSON.stringify(values);
}

function toDraftRow(fetched: FetchedRow): DraftRow {
  const row = new StoredRow(fetched._id, fetched.r, fetched.d, fetched.h);
  return { revision: row.revision, text: row.text, hidden: fetched.h, get record() { return row.record; } };
}
