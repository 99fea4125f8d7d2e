// AppendLog: one kind of entry for each tenant, kept in memory for a moment and written in chunks, one row each, so
// that a log entry costs a request next to nothing. What is older or more than the retention goes, chunk by chunk.
import type { Clock } from "../core/clock.js";
import { newId } from "../core/ids.js";
import { describeError, type Logger } from "../core/logger.js";
import type { Json } from "../core/record.js";
import { always } from "../storage/filter.js";
import type { Sort, Store } from "../storage/storage.js";
import { chunkId } from "./entry-id.js";
import { chunkFacts, countedUpTo, trimLog, type Retention } from "./retention.js";

/** Entries in one row; fewer than an entry's id can number. */
const chunkSize = 500;
/** Entries that may wait in memory, over all tenants; what comes beyond is counted and dropped. */
const mostWaiting = 20_000;
/** Logs written in one round of the timer, so that many quiet tenants never add up to a burst of commits. */
const logsPerRound = 16;
const roundMs = 1000;
const flushesPerTrim = 20;
const idleRoundsKept = 600;

/** The order of chunks: their ids are as old as their entries. */
export const newestFirst: Sort = { field: "id", kind: "text", descending: true };

export interface AppendLog<Entry> {
  /** Takes the entry and returns at once. `owner`: the tenant's id, null for the instance. */
  write(owner: string | null, entry: Entry): void;
  /** Resolves when all that was written for this owner before is in the store, or was given up. */
  flush(owner: string | null): Promise<void>;
  /** The same for every owner. */
  flushAll(): Promise<void>;
  /** Throws away what waits for this owner: its store is about to go. */
  forget(owner: string): void;
  /** Entries that wait. */
  readonly waiting: number;
  /** Stops the timer and writes what waits. */
  close(): Promise<void>;
}

export interface AppendLogDeps<Entry> {
  readonly table: string;
  /** What is stored of an entry. */
  readonly pack: (entry: Entry) => Json;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly retention: Retention;
  /** The store of an owner; undefined where there is no such tenant any more. */
  store(owner: string | null): Promise<Store | undefined>;
}

interface Waiting<Entry> {
  entries: Entry[];
  /** The write under way; the next one of this owner begins after it. */
  writing: Promise<void> | undefined;
  flushes: number;
  /** Entries that the log ever had, as far as this process knows. */
  total: number;
  idleRounds: number;
}

export function createAppendLog<Entry>(deps: AppendLogDeps<Entry>): AppendLog<Entry> {
  const { table, clock, logger, retention } = deps;
  const owners = new Map<string | null, Waiting<Entry>>();
  let waiting = 0;
  let dropped = 0;
  let failing = false;
  let timer: NodeJS.Timeout | undefined;

  function of(owner: string | null): Waiting<Entry> {
    let found = owners.get(owner);
    if (found === undefined) {
      found = { entries: [], writing: undefined, flushes: 0, total: 0, idleRounds: 0 };
      owners.set(owner, found);
    }
    return found;
  }

  async function totalOf(store: Store): Promise<number> {
    const [newest] = await store.table(table).list({ filter: always, sort: newestFirst, limit: 1 });
    return newest === undefined ? 0 : countedUpTo(newest);
  }

  async function writeChunk(owner: string | null, state: Waiting<Entry>, entries: readonly Entry[]): Promise<void> {
    const store = await deps.store(owner);
    if (store === undefined) return;
    // The first write of a process trims too: a log must not grow by restarts.
    const trims = state.flushes % flushesPerTrim === 0;
    state.flushes += 1;
    if (trims) state.total = Math.max(state.total, await totalOf(store));
    state.total += entries.length;
    const at = new Date(clock.now()).toISOString();
    const id = chunkId(newId(clock.now()));
    const record = { id, createdAt: at, updatedAt: at, entries: entries.map(deps.pack) };
    await store.write({ operations: [{ type: "insert", table, record, hidden: chunkFacts(at, state.total) }] });
    if (trims) await trimLog({ store, table, retention, now: clock.now(), total: state.total });
  }

  async function writeWaiting(owner: string | null, state: Waiting<Entry>): Promise<void> {
    while (state.entries.length > 0) {
      const entries = state.entries.splice(0, chunkSize);
      waiting -= entries.length;
      try {
        await writeChunk(owner, state, entries);
        failing = false;
      } catch (error) {
        if (!failing) logger.warn({ log: table, tenantId: owner, error: describeError(error) }, "log entries could not be written and are lost");
        failing = true;
        return;
      }
    }
  }

  function flush(owner: string | null): Promise<void> {
    const state = owners.get(owner);
    if (state === undefined) return Promise.resolve();
    if (state.entries.length === 0) return state.writing ?? Promise.resolve();
    if (state.writing !== undefined) return state.writing.then(() => flush(owner));
    const writing = writeWaiting(owner, state).finally(() => {
      state.writing = undefined;
    });
    state.writing = writing;
    return writing;
  }

  /** Writes the owners that have waited longest: a Map keeps the order in which they came. */
  function round(): void {
    reportDropped();
    let busy = 0;
    for (const [owner, state] of owners) {
      if (state.entries.length === 0 && state.writing === undefined) {
        state.idleRounds += 1;
        if (state.idleRounds > idleRoundsKept) owners.delete(owner);
        continue;
      }
      state.idleRounds = 0;
      if (busy === logsPerRound) break;
      busy += 1;
      void flush(owner).then(() => moveToEnd(owner, state));
    }
    if (owners.size === 0) stop();
  }

  function reportDropped(): void {
    if (dropped > 0) logger.warn({ log: table, entries: dropped }, "log entries were dropped: they came faster than they could be written");
    dropped = 0;
  }

  function moveToEnd(owner: string | null, state: Waiting<Entry>): void {
    if (owners.get(owner) !== state) return;
    owners.delete(owner);
    owners.set(owner, state);
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }

  const flushAll = async (): Promise<void> => {
    await Promise.all([...owners.keys()].map(flush));
  };

  return {
    write(owner, entry) {
      if (waiting >= mostWaiting) {
        dropped += 1;
        return;
      }
      const state = of(owner);
      state.entries.push(entry);
      waiting += 1;
      if (state.entries.length >= chunkSize && state.writing === undefined) void flush(owner);
      timer ??= setInterval(round, roundMs).unref();
    },
    flush,
    flushAll,
    forget(owner) {
      const state = owners.get(owner);
      if (state === undefined) return;
      waiting -= state.entries.length;
      state.entries = [];
      owners.delete(owner);
    },
    get waiting() {
      return waiting;
    },
    async close() {
      stop();
      await flushAll();
      reportDropped();
    },
  };
}
