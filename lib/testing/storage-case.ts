// What a case of the storage suite is, and the few builders that cases share.
import assert from "node:assert/strict";
import { ServiceError } from "../core/errors.js";
import type { Json, RecordValue, Scalar } from "../core/record.js";
import { always } from "../storage/filter.js";
import type { Change, Hidden, IndexDefinition, Insert, LogEntry, Operation, Query, Row, Storage, Store, UnitResult } from "../storage/storage.js";

/** What a provider's author gives: a storage on empty data, opened, and how to be rid of it. */
export interface StorageUnderTest {
  readonly storage: Storage;
  /** Another storage over the same data, opened, as another process would have it. Left out: those cases are skipped. */
  another?(): Promise<Storage>;
  /** Closes what is still open and removes the data. */
  dispose(): Promise<void>;
}

export interface CaseParts {
  readonly storage: Storage;
  /** A tenant's store that no other case uses. */
  readonly store: Store;
  readonly tenantId: string;
  /** Opens another storage over the same data; the suite closes it. */
  another(): Promise<Storage>;
}

export interface StorageCase {
  readonly name: string;
  /** What the case needs; it is skipped where the engine has it not. */
  readonly needs?: readonly ("atomicUnits" | "shared")[];
  /** Runs on data of its own, since it closes the storage. */
  readonly alone?: boolean;
  run(parts: CaseParts): Promise<void>;
}

const time = "2026-01-31T10:00:00.000Z";

/** The n-th id; in the order of n. */
export function id(n: number): string {
  return `01990000-0000-7000-8000-${n.toString(16).padStart(12, "0")}`;
}

export function record(n: number, fields: Readonly<Record<string, Json>> = {}): RecordValue {
  return { id: id(n), createdAt: time, updatedAt: time, ...fields };
}

export function insert(n: number, fields: Readonly<Record<string, Json>> = {}, more: { hidden?: Hidden; log?: LogEntry } = {}): Insert {
  return { type: "insert", table: "things", record: record(n, fields), ...more };
}

export function define(...indexes: IndexDefinition[]): Operation {
  return { type: "define", table: "things", indexes };
}

export function write(store: Store, ...operations: Operation[]): Promise<UnitResult> {
  return store.write({ operations });
}

/** A store whose table `things` holds these rows, numbered from 1. */
export async function filled(store: Store, rows: readonly Readonly<Record<string, Json>>[], ...indexes: IndexDefinition[]): Promise<Store> {
  await write(store, define(...indexes));
  for (const [index, fields] of rows.entries()) await write(store, insert(index + 1, fields));
  return store;
}

export const logged: LogEntry = { collection: "things", content: "record" };

export function numbers(rows: readonly (Row | { id: string })[]): number[] {
  return rows.map((row) => Number.parseInt(row.id.slice(-12), 16));
}

export async function listNumbers(store: Store, query: Partial<Query> = {}): Promise<number[]> {
  return numbers(await store.table("things").list({ filter: always, limit: 1000, ...query }));
}

/** All pages of `limit` rows, each asked for by the last row of the one before. */
export async function pages(store: Store, query: Omit<Query, "after">): Promise<number[]> {
  const found: number[] = [];
  let after: { value: Scalar; id: string } | undefined;
  for (;;) {
    const rows = await store.table("things").list({ ...query, after });
    found.push(...numbers(rows));
    const last = rows.at(-1);
    if (last === undefined || found.length > 10_000) return found;
    after = { value: query.sort === undefined ? null : ((last.record[query.sort.field] ?? null) as Scalar), id: last.id };
  }
}

/** Asserts that the promise rejects with this error of the contract, and these members. */
export async function rejects(promise: Promise<unknown>, name: string, members: object = {}): Promise<void> {
  await assert.rejects(promise, (error: unknown) => {
    assert.ok(error instanceof Error, "an Error is thrown");
    assert.equal(error.name, name, error.message);
    for (const [key, value] of Object.entries(members)) assert.deepEqual((error as unknown as Record<string, unknown>)[key], value, key);
    return true;
  });
}

export async function isUnavailable(promise: Promise<unknown>): Promise<void> {
  await assert.rejects(promise, (error: unknown) => error instanceof ServiceError && error.status === 503);
}

/** Collects changes, and resolves when so many have come. */
export function ear(): { listener: (changes: readonly Change[]) => void; heard: Change[]; until(count: number): Promise<Change[]> } {
  const heard: Change[] = [];
  const waiting: { count: number; resolve: (changes: Change[]) => void }[] = [];
  return {
    heard,
    listener(changes) {
      heard.push(...changes);
      for (const entry of waiting.splice(0)) {
        if (heard.length >= entry.count) entry.resolve(heard);
        else waiting.push(entry);
      }
    },
    until: (count) => new Promise((resolve) => {
      if (heard.length >= count) resolve(heard);
      else waiting.push({ count, resolve });
    }),
  };
}
