// The queue of images to scale: a table in the tenant's store, so that a restart goes on where it stopped. A job is
// written with the record that holds the file, and taken by one process at a time.
import { timestamp, type Clock } from "../core/clock.js";
import { newId } from "../core/ids.js";
import type { RecordValue } from "../core/record.js";
import type { Collection } from "../collections/collection.js";
import { always, text } from "../storage/filter.js";
import { ConditionMissed, type Operation, type Row, type Store } from "../storage/storage.js";
import type { PendingFile } from "./files.js";

export const jobsTable = "image_jobs";

/** Milliseconds for which a job belongs to the process that took it. More than one image may ever need. */
const lease = 120_000;

export interface VariantJob extends RecordValue {
  readonly collectionId: string;
  readonly table: string;
  readonly recordId: string;
  readonly field: string;
  readonly fileId: string;
  /** Pixels. */
  readonly widths: readonly number[];
  /** How often it was taken. */
  readonly attempts: number;
  /** Not to be taken before this time, ISO 8601. */
  readonly dueAt: string;
}

/** The operations that queue these files' variants. */
export function insertJobs(clock: Clock, collection: Collection, recordId: string, files: readonly PendingFile[]): Operation[] {
  const now = timestamp(clock);
  return files.flatMap(({ field, reference }): Operation[] => {
    if (reference.variants === undefined) return [];
    const record: VariantJob = {
      id: newId(clock.now()), createdAt: now, updatedAt: now, dueAt: now, attempts: 0,
      collectionId: collection.definition.id, table: collection.table, recordId, field, fileId: reference.id, widths: reference.variants,
    };
    return [{ type: "insert", table: jobsTable, record }];
  });
}

/** Takes the job that has been due the longest. undefined where none is due, `missed` where another process was quicker. */
export async function takeJob(store: Store, clock: Clock): Promise<VariantJob | "missed" | undefined> {
  const due = { op: "less", left: text("dueAt"), right: { value: timestamp(clock) }, orEqual: true } as const;
  const [row] = await store.table(jobsTable).list({ filter: due, sort: { field: "dueAt", kind: "text", descending: false }, limit: 1 });
  if (row === undefined) return undefined;
  const job = jobOf(row);
  const set = { dueAt: new Date(clock.now() + lease).toISOString(), attempts: job.attempts + 1, updatedAt: timestamp(clock) };
  return (await wrote(store, { type: "update", table: jobsTable, id: row.id, revision: row.revision, set })) ? { ...job, ...set } : "missed";
}

/** When the next job may be taken, milliseconds since the epoch; undefined where there is none. */
export async function nextDue(store: Store): Promise<number | undefined> {
  const [row] = await store.table(jobsTable).list({ filter: always, sort: { field: "dueAt", kind: "text", descending: false }, limit: 1 });
  return row === undefined ? undefined : Date.parse(jobOf(row).dueAt);
}

/** The job is done, or given up. */
export async function removeJob(store: Store, job: VariantJob): Promise<void> {
  await store.write({ operations: [{ type: "remove", table: jobsTable, id: job.id, optional: true }] });
}

/** Lets the job be taken again after so many milliseconds. */
export async function postponeJob(store: Store, clock: Clock, job: VariantJob, delay: number): Promise<void> {
  const set = { dueAt: new Date(clock.now() + delay).toISOString(), updatedAt: timestamp(clock) };
  await store.write({ operations: [{ type: "update", table: jobsTable, id: job.id, set, optional: true }] });
}

function jobOf(row: Row): VariantJob {
  return row.record as VariantJob;
}

async function wrote(store: Store, operation: Operation): Promise<boolean> {
  try {
    await store.write({ operations: [operation] });
    return true;
  } catch (error) {
    if (error instanceof ConditionMissed) return false;
    throw error;
  }
}
