// What the databases hold, and how rows become documents and come back.
//
// A row's public text and hidden columns are kept as JSON text, exactly as they are; beside them stand the scalars
// that queries ask for. So no key of a client's is ever a key of the database's.
import type { Json, RecordValue, Scalar } from "../../core/record.js";
import { StoredRow } from "../row.js";
import type { IndexDefinition, Transform } from "../storage.js";
import { memberName } from "./names.js";

/** A row in the collection of its table. */
export interface RowDocument {
  /** The record's id. */
  readonly _id: string;
  /** Revision. */
  readonly r: number;
  /** Number of the log's entry that wrote it. */
  readonly s: number;
  /** The public text. */
  readonly d: string;
  /** The hidden columns as text. */
  readonly h: string | null;
  /** By member name: scalars as queries see them; an empty document where a list or an object stands. */
  readonly f: Readonly<Record<string, FieldValue>>;
}

export type FieldValue = string | number | boolean | Readonly<Record<string, never>>;

/** What lists and finds fetch. */
export const rowProjection = { r: 1, d: 1, h: 1 } as const;
export type FetchedRow = Pick<RowDocument, "_id" | "r" | "d" | "h">;

/** One document for each store, id `state`. */
export interface StateDocument {
  readonly _id: "state";
  /** Names this life of the store; a dropped tenant starts with another. */
  readonly log: string;
  /** Every entry up to this one has reached its rows. */
  readonly applied: number;
  /** The entry that bumped the stamp last; 0: none. */
  readonly stamp: number;
}

/** Tells whoever writes all the time that another process waits for its turn. */
export interface WantedDocument {
  readonly _id: "wanted";
  /** ms since the epoch */
  readonly at: number;
}

/** One document for each table, id: the name. */
export interface TableDocument {
  readonly _id: string;
  readonly indexes: string;
  /** Number of the entry that wrote it. */
  readonly s: number;
}

export interface TrimDocument {
  readonly _id: "trim";
  /** So many changes are gone. */
  readonly upTo: number;
}

/** One entry of the log: one or several units that became durable together. Its id is a number without gaps. */
export interface EntryDocument {
  readonly _id: number;
  readonly log: string;
  /** When it was written, by the writer's own clock; ms since the epoch. */
  readonly time: number;
  /** The process that wrote it. */
  readonly by: string;
  /** Changes before it. */
  readonly from: number;
  /** Changes up to and with it. */
  readonly to: number;
  /** How many it has. */
  readonly count: number;
  /** The entry that bumped the stamp last. */
  readonly stamp: number;
  readonly steps: readonly Step[];
}

export type Step = PutStep | RemoveStep | DefineStep | DropStep;

/** A row as it is from then on. */
export interface PutStep extends LoggedStep {
  readonly type: "put";
  readonly table: string;
  readonly id: string;
  /** Whether the row was there before. */
  readonly known: boolean;
  readonly revision: number;
  readonly text: string;
  readonly hidden: string | null;
}

export interface RemoveStep extends LoggedStep {
  readonly type: "remove";
  readonly table: string;
  readonly id: string;
}

export interface DefineStep {
  readonly type: "define";
  readonly table: string;
  /** JSON of IndexDefinition[]. */
  readonly indexes: string;
  /** JSON of Transform; null where there is none. */
  readonly transform: string | null;
}

export interface DropStep {
  readonly type: "drop";
  readonly table: string;
}

/** The change that the step makes; null where it is not logged. */
export interface LoggedStep {
  readonly change: { readonly collection: string; readonly action: "create" | "update" | "delete"; readonly at: string; readonly text: string | null } | null;
}

/** Bytes of an entry of the log, or of a row's document: MongoDB takes 16 MiB, and names and numbers want their part. */
export const longestEntry = 15_500_000;
/** Bytes of names, numbers and the rest of a step. */
const stepFrame = 300;

/** Bytes that the step takes in its entry, about. */
export function stepSize(step: Step): number {
  if (step.type === "drop") return stepFrame;
  if (step.type === "define") return stepFrame + Buffer.byteLength(step.indexes) + Buffer.byteLength(step.transform ?? "");
  const change = Buffer.byteLength(step.change?.text ?? "");
  if (step.type === "remove") return stepFrame + change;
  return stepFrame + Buffer.byteLength(step.hidden ?? "") + change + (step.text === step.change?.text ? change : Buffer.byteLength(step.text));
}

/** Bytes of the row's document, about: its text, and its scalars once more for queries. */
export function rowSize({ text, hidden }: Pick<PutStep, "text" | "hidden">): number {
  return stepFrame + 2 * Buffer.byteLength(text) + Buffer.byteLength(hidden ?? "");
}

export function toIndexes(text: string): readonly IndexDefinition[] {
  return JSON.parse(text) as IndexDefinition[];
}

export function toTransform(text: string): Transform {
  return JSON.parse(text) as Transform;
}

export function toRow({ _id, r, d, h }: FetchedRow): StoredRow {
  return new StoredRow(_id, r, d, h);
}

export function toDocument(step: Pick<PutStep, "id" | "revision" | "text" | "hidden">, entry: number, record = JSON.parse(step.text) as RecordValue): RowDocument {
  return { _id: step.id, r: step.revision, s: entry, d: step.text, h: step.hidden, f: fieldValues(record) };
}

function fieldValues(record: RecordValue): Record<string, FieldValue> {
  const values: Record<string, FieldValue> = {};
  for (const name of Object.keys(record)) {
    if (name === "id") continue;
    const value = queryValue(record[name] ?? null);
    if (value !== null) values[memberName(name)] = value;
  }
  return values;
}

const empty = Object.freeze({});

function queryValue(value: Json): FieldValue | null {
  if (value === null) return null;
  return typeof value === "object" ? empty : (scalarToQuery(value) as FieldValue);
}

/**
 * The value as it stands in documents and queries. U+0000, which not every server takes, is written in a way that
 * keeps the order of texts.
 */
export function scalarToQuery(value: Scalar): Scalar {
  if (typeof value !== "string" || !/[\u0000\u0001]/.test(value)) return value;
  return value.replace(/[\u0000\u0001]/g, (character) => (character === "\u0000" ? "\u0001\u0001" : "\u0001\u0002"));
}
