// The storage contract: what an engine must give the service. One Store holds the instance-wide tables, one more
// each tenant's; nothing below a Store can name another tenant. The conformance suite of records-service/testing
// holds an engine to every sentence here.
import { Conflict } from "../core/errors.js";
import type { Json, RecordValue, Scalar } from "../core/record.js";
import type { Filter, ValueKind } from "./filter.js";

export interface Storage {
  /** Opens or creates the system store. Called once, before anything else. */
  open(): Promise<void>;
  /** Finishes the writes under way and releases everything. A second call is harmless. */
  close(): Promise<void>;
  /** Resolves where the engine answers, rejects with StorageUnavailable otherwise, within two seconds. */
  ping(): Promise<void>;
  /** Instance-wide tables: tenants, API keys, the superadmin. */
  readonly system: Store;
  /** A tenant's own store. Cheap and lazy: nothing is opened or created before the first use. */
  tenant(tenantId: string): Store;
  /** Removes the tenant's database, whole. Harmless where there is none. */
  dropTenant(tenantId: string): Promise<void>;
  readonly capabilities: Capabilities;
}

export interface Capabilities {
  /** A unit of several operations is atomic. Without it, such units are refused where the promise matters (batch). */
  readonly atomicUnits: boolean;
  /** Several processes may use the store at the same time. */
  readonly shared: boolean;
}

export interface Store {
  table(name: string): Table;
  /**
   * Runs the unit: all of it or nothing, durable when the promise resolves, one after another with other units.
   * Rejects with UniqueViolation, ConditionMissed, StampChanged or HeadMoved, and then nothing was written.
   */
  write(unit: Unit): Promise<UnitResult>;
  /** The store's changes, in the order in which they became durable. */
  readonly changes: ChangeLog;
  /**
   * A token that changes whenever a unit with `bump` is written, by any process. Whoever keeps definitions in memory
   * compares it before each use. Must be cheap: it is read on every request. An empty store has one too.
   */
  stamp(): Promise<string>;
  /** Bytes on disk, about. */
  size(): Promise<number>;
}

/** One stored record: public text and hidden columns apart, so that the text may go to a client as it stands. */
export interface Row {
  readonly id: string;
  /** 1 after the insert, one more with each update or transformation. */
  readonly revision: number;
  /** The public document as JSON text: `id`, `createdAt`, `updatedAt`, then the fields. */
  readonly text: string;
  /** The public document, parsed from `text` on first use. Not to be changed. */
  readonly record: RecordValue;
  /** What no client ever sees (password hash, generation, …): flat scalars. */
  readonly hidden: Hidden;
}

export type Hidden = Readonly<Record<string, Scalar>>;

/** Reads see every unit whose write has resolved. */
export interface Table {
  /** undefined where there is no such row, or no such table. */
  find(id: string): Promise<Row | undefined>;
  list(query: Query): Promise<Row[]>;
  /** The documents of the same rows as one text, where the engine can join them cheaper than one by one. Optional. */
  listText?(query: Query): Promise<RowTexts>;
  count(filter: Filter): Promise<number>;
}

/** Documents as JSON texts with `textSeparator` between them. */
export interface RowTexts {
  /** UTF-8. */
  readonly bytes: Uint8Array;
  /** How many there are. */
  readonly count: number;
}

/** Stands between the documents of a RowTexts: no document has a line break in it, and in a JSON array it changes nothing. */
export const textSeparator = ",\n";

export interface Query {
  readonly filter: Filter;
  /** Without it: by `id` ascending. With it: by the field, null first ascending and last descending, then by `id` in the same direction. */
  readonly sort?: Sort | undefined;
  readonly offset?: number | undefined;
  readonly limit: number;
  /** Only rows after this position of the order: the sorted field's value (ignored without `sort`) and the id. */
  readonly after?: { readonly value: Scalar; readonly id: string } | undefined;
}

export interface Sort {
  readonly field: string;
  /** Never `json`. */
  readonly kind: Exclude<ValueKind, "json">;
  readonly descending: boolean;
}

export interface Unit {
  readonly operations: readonly Operation[];
  /** The stamp that the caller's definitions were read under; another one by now: StampChanged. */
  readonly stamp?: string | undefined;
  /** Change the stamp: the unit changes definitions. */
  readonly bump?: boolean | undefined;
  /** The unit only stands while the newest change is still this one (`changes.head()`); else HeadMoved. */
  readonly head?: string | undefined;
}

export type Operation = Insert | Update | Remove | Exists | Absent | Define | Drop;

/** A new row. UniqueViolation where the id or a unique index is taken. */
export interface Insert {
  readonly type: "insert";
  readonly table: string;
  readonly record: RecordValue;
  readonly hidden?: Hidden | undefined;
  readonly log?: LogEntry | undefined;
}

/** Sets members of one row, all others stay as they are in that moment. ConditionMissed where a condition fails. */
export interface Update extends Conditions {
  readonly type: "update";
  readonly table: string;
  readonly id: string;
  /** Members of the public document, set whole (a JSON field is replaced, never merged). */
  readonly set?: Readonly<Record<string, Json>> | undefined;
  readonly setHidden?: Hidden | undefined;
  /** Adds to hidden numbers (absent counts as 0), in the same moment. */
  readonly increment?: Readonly<Record<string, number>> | undefined;
  readonly log?: LogEntry | undefined;
}

export interface Remove extends Conditions {
  readonly type: "remove";
  readonly table: string;
  readonly id: string;
  readonly log?: LogEntry | undefined;
}

/** What must be true of the row at the moment of the write. A missing row always misses, unless `optional`. */
export interface Conditions {
  readonly where?: Filter | undefined;
  readonly revision?: number | undefined;
  /** Hidden members that must have exactly these values (null: absent or null). */
  readonly hiddenIs?: Hidden | undefined;
  /** Where the row is missing or a condition fails, leave this operation out instead of failing the unit. */
  readonly optional?: boolean | undefined;
}

/** The unit fails with ConditionMissed unless a row with this id is there. */
export interface Exists {
  readonly type: "exists";
  readonly table: string;
  readonly id: string;
}

/** The unit fails with ConditionMissed where a row matches (looked up after the operations before it). */
export interface Absent {
  readonly type: "absent";
  readonly table: string;
  readonly filter: Filter;
}

/** Creates the table or changes it in place: indexes as listed and no others, rows transformed, revisions raised where a row changed. */
export interface Define {
  readonly type: "define";
  readonly table: string;
  readonly indexes: readonly IndexDefinition[];
  readonly transform?: Transform | undefined;
}

export interface IndexDefinition {
  readonly fields: readonly { readonly field: string; readonly kind: Exclude<ValueKind, "json"> }[];
  /** Rows in which one of the fields is null do not collide. */
  readonly unique: boolean;
}

export interface Transform {
  /** Gives each row that lacks the member this value. */
  readonly add?: Readonly<Record<string, Json>> | undefined;
  readonly remove?: readonly string[] | undefined;
  /** Old name to new name. */
  readonly rename?: Readonly<Record<string, string>> | undefined;
}

/** Removes the table with its rows. Harmless where there is none. */
export interface Drop {
  readonly type: "drop";
  readonly table: string;
}

/** Puts a change into the log, in the same unit. */
export interface LogEntry {
  /** What the change is about: a collection's name, or the table's for instance-wide tables. */
  readonly collection: string;
  /** `record`: with the row as it is after the write (for a removal: as it last was). `id`: without it. */
  readonly content: "record" | "id";
}

export interface UnitResult {
  /** By operation: the row after an insert or update, the row as it last was for a removal; else, or left out: undefined. */
  readonly rows: readonly (Row | undefined)[];
  readonly changes: readonly Change[];
}

export interface Change {
  /** Opaque; unique over all stores. */
  readonly id: string;
  readonly collection: string;
  readonly action: "create" | "update" | "delete";
  readonly recordId: string;
  /** The public document; null where the entry was logged with content `id`. */
  readonly record: RecordValue | null;
  /** The same as JSON text. */
  readonly text: string | null;
  /** When it was written, ISO 8601. */
  readonly at: string;
}

export interface ChangeLog {
  /** The newest change's id; "" in a store that never had one. */
  head(): Promise<string>;
  /** Up to `limit` changes after this one, oldest first; undefined where the id is unknown here or trimmed away. "" stands for the beginning where nothing was trimmed yet. */
  since(id: string, limit: number): Promise<Change[] | undefined>;
  /**
   * Calls the listener with each batch of changes from now on: each change once, in order, those of other processes
   * too (within a second). Returns the function that ends it. The promise resolves once listening: a change written
   * after that is delivered.
   */
  listen(listener: (changes: readonly Change[]) => void): Promise<() => void>;
  /** Keeps the newest `keep` changes. */
  trim(keep: number): Promise<void>;
}

/** An id or a unique index is taken. */
export class UniqueViolation extends Error {
  constructor(
    /** Index of the operation in the unit. For a Define: existing rows collide. */
    readonly operation: number,
    /** The fields of the index; `["id"]` for the id. */
    readonly fields: readonly string[],
  ) {
    super(`unique index on ${fields.join(", ")} violated`);
    this.name = "UniqueViolation";
  }
}

/** A row was missing, or was not as the operation demands. */
export class ConditionMissed extends Error {
  constructor(readonly operation: number) {
    super(`condition of operation ${operation} missed`);
    this.name = "ConditionMissed";
  }
}

/** Definitions have changed since `stamp` was read: read them again and decide anew. Told only where that came in vain. */
export class StampChanged extends Conflict {
  constructor() {
    super("The tenant's definitions have changed meanwhile; try again");
    this.name = "StampChanged";
  }
}

/** A change was written since `head` was read. */
export class HeadMoved extends Error {
  constructor() {
    super("the change log has moved on");
    this.name = "HeadMoved";
  }
}
