// A store's writer in this process: takes the units that wait, runs them on one draft and commits it as one entry.
import { setTimeout as wait } from "node:timers/promises";
import { ServiceError, StorageUnavailable } from "../../core/errors.js";
import type { RecordValue } from "../../core/record.js";
import { ConditionMissed, HeadMoved, StampChanged, UniqueViolation, type UnitResult } from "../storage.js";
import type { Collections } from "./collections.js";
import { longestEntry, type EntryDocument } from "./documents.js";
import { Draft, type Known } from "./draft.js";
import { translate } from "./errors.js";
import type { Journal } from "./journal.js";
import { longestUnit, type PreparedUnit } from "./prepared.js";
import { runUnit } from "./unit.js";

/** Milliseconds that a unit may wait for its turn and its commit; changes of definitions may take longer. */
const patience = 4_500;
const longPatience = 120_000;
const unitsAtOnce = 200;
const bytesAtOnce = longestUnit / 3;

export interface Writer {
  write(unit: PreparedUnit): Promise<UnitResult>;
  /** Runs the work between two entries. */
  alone<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Resolves when everything taken is done. */
  idle(): Promise<void>;
}

interface Job {
  readonly unit: PreparedUnit | undefined;
  /** For work that is no unit. */
  readonly work: (() => Promise<unknown>) | undefined;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  expired: boolean;
}

export function createWriter(collections: () => Collections, journal: Journal, written: (entry: EntryDocument) => void): Writer {
  let queue: Job[] = [];
  let running: Promise<void> | undefined;

  function take(job: Job): void {
    queue.push(job);
    running ??= start();
  }

  function start(): Promise<void> {
    return run().finally(() => {
      running = queue.length > 0 ? start() : undefined;
    });
  }

  async function run(): Promise<void> {
    // One turn of the event loop, so that what is written together shares an entry.
    await new Promise((resolve) => setImmediate(resolve));
    while (queue.length > 0) {
      const jobs = nextJobs();
      if (jobs.length === 0) continue;
      try {
        if (jobs[0]!.work !== undefined) jobs[0]!.resolve(await jobs[0]!.work());
        else await writeGroup(jobs);
      } catch (error) {
        journal.forget();
        const told = translate(error);
        for (const job of jobs) job.reject(told);
      }
    }
  }

  function nextJobs(): Job[] {
    queue = queue.filter((job) => !job.expired);
    if (queue[0]?.work !== undefined) return queue.splice(0, 1);
    let count = 0;
    let size = 0;
    while (count < queue.length && count < unitsAtOnce) {
      const { unit } = queue[count]!;
      if (unit === undefined || (count > 0 && size + unit.size > bytesAtOnce)) break;
      size += unit.size;
      count += 1;
      // A transform may touch a whole table: nothing shares its draft.
      if (unit.operations.some((operation) => operation.type === "define" && operation.transform !== undefined)) break;
    }
    return queue.splice(0, count);
  }

  /** Takes out of `jobs`, and puts back into the queue, those that the entry has no room for. */
  async function writeGroup(jobs: Job[]): Promise<void> {
    const started = performance.now();
    for (;;) {
      if (journal.isContended()) await wait(Math.random() * 8);
      const { known, draft } = await openDraft(jobs);
      const outcomes: (() => void)[] = [];
      let failed = false;
      for (const [position, job] of jobs.entries()) {
        draft.begin();
        try {
          const result = await runUnit(draft, job.unit!, known);
          if (draft.size > longestEntry) {
            draft.takeBack();
            queue.unshift(...jobs.splice(position));
            break;
          }
          outcomes.push(() => job.resolve(result));
        } catch (error) {
          draft.takeBack();
          if (!isOwn(error)) throw error;
          failed = true;
          outcomes.push(() => job.reject(error));
        }
      }
      const isEmpty = draft.steps.length === 0 && draft.stamp === known.stamp;
      // A commit proves that nobody was faster. Where there is none, or a unit failed on what may be old, one looks.
      if ((failed || isEmpty) && (await journal.catchUp())) continue;
      const entry = isEmpty ? undefined : await journal.commit(draft);
      if (!isEmpty && entry === undefined) {
        if (performance.now() - started > longPatience) throw new StorageUnavailable(new Error("other processes were faster, again and again"));
        await journal.catchUp();
        continue;
      }
      if (entry !== undefined) written(entry);
      for (const settle of outcomes) settle();
      return;
    }
  }

  /**
   * A draft on what is known, with the rows that the units will ask for. They are fetched while one looks whether other
   * processes have written: if none has, nothing can have changed them since.
   */
  async function openDraft(jobs: readonly Job[]): Promise<{ known: Known; draft: Draft }> {
    const last = journal.last();
    const draft = last === undefined ? undefined : new Draft(collections(), last);
    const warming = draft === undefined ? undefined : warm(draft, jobs);
    // Where the look fails too, its fault is the one to be told.
    warming?.catch(() => undefined);
    const known = await journal.known();
    if (draft !== undefined && known === last) {
      await warming;
      return { known, draft };
    }
    const fresh = new Draft(collections(), known);
    await warm(fresh, jobs);
    return { known, draft: fresh };
  }

  return {
    write(unit) {
      return new Promise((resolve, reject) => {
        const definesOne = unit.operations.some(({ type }) => type === "define");
        const timer = setTimeout(() => {
          job.expired = true;
          reject(new StorageUnavailable(new Error("the write took too long")));
        }, definesOne ? longPatience : patience);
        timer.unref();
        const job: Job = {
          unit, work: undefined, expired: false,
          resolve: (result) => {
            clearTimeout(timer);
            resolve(result as UnitResult);
          },
          reject: (error) => {
            clearTimeout(timer);
            reject(error as Error);
          },
        };
        take(job);
      });
    },
    alone: (work) => new Promise((resolve, reject) => take({ unit: undefined, work, resolve: resolve as (result: unknown) => void, reject, expired: false })),
    idle: async () => {
      while (running !== undefined) await running;
      await journal.settled();
    },
  };
}

/** Fetches at once what the units will ask for one by one. */
async function warm(draft: Draft, jobs: readonly Job[]): Promise<void> {
  const wanted = new Map<string, Set<string>>();
  const inserted = new Map<string, RecordValue[]>();
  for (const { unit } of jobs) {
    for (const operation of unit!.operations) {
      if (operation.type === "insert") {
        entryOf(wanted, operation.table, () => new Set<string>()).add(operation.record.id);
        entryOf(inserted, operation.table, () => []).push(operation.record);
      } else if ("id" in operation) {
        entryOf(wanted, operation.table, () => new Set<string>()).add(operation.id);
      }
    }
  }
  for (const [table, records] of inserted) {
    for (const index of draft.tables.get(table) ?? []) if (index.unique) draft.warmOwners(table, index, records);
  }
  await draft.warm(wanted);
}

function entryOf<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}

/** Whether the error is about the unit itself, and not about the database. */
function isOwn(error: unknown): boolean {
  if (error instanceof StorageUnavailable) return false;
  return error instanceof UniqueViolation || error instanceof ConditionMissed || error instanceof StampChanged || error instanceof HeadMoved || error instanceof ServiceError
    || (error instanceof Error && error.name === "Error" && error.message.startsWith("The table "));
}
