// A store's changes: read from its log, and told to listeners, those of this process straight after their commit,
// those of others by looking at the log's state a few times a second.
import { StoredChange } from "../change.js";
import type { Change, ChangeLog } from "../storage.js";
import { readEntries, readNewest, readState, type Collections } from "./collections.js";
import type { Connection } from "./connection.js";
import type { EntryDocument } from "./documents.js";
import { keptEntries, keptTime } from "./journal.js";
import { toHead } from "./unit.js";

/** Milliseconds between two looks. */
const pollInterval = 250;
/** Looks between two that also ask whether an entry was left unfinished by a process that died. */
const lookForLost = 8;
const entriesAtOnce = 200;

type Listener = (changes: readonly Change[]) => void;

export interface StoreChanges {
  readonly log: ChangeLog;
  /** Tells of an entry that this process has just written. */
  written(entry: EntryDocument): void;
  close(): void;
}

interface ChangeLogDeps {
  readonly connection: Connection;
  readonly collections: () => Collections;
  /** Finishes what another process has left unfinished. */
  readonly finish: () => Promise<unknown>;
}

export function createStoreChanges({ connection, collections, finish }: ChangeLogDeps): StoreChanges {
  /** With the number of the entry after which each began to listen. */
  const listeners = new Map<Listener, number>();
  let logName = "";
  /** The newest entry that was told. */
  let cursor = 0;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  let looks = 0;
  let unfinished = 0;

  function tell(entry: EntryDocument): void {
    cursor = entry._id;
    const changes = toChanges(entry);
    if (changes.length === 0) return;
    for (const [listener, start] of [...listeners]) {
      if (entry._id <= start || !listeners.has(listener)) continue;
      try {
        listener(changes);
      } catch (error) {
        // One listener's fault must neither silence the others nor end the host's process.
        process.emitWarning(error instanceof Error ? error : new Error(String(error)));
      }
    }
  }

  async function readOn(): Promise<void> {
    const at = collections();
    const { state } = await readState(at);
    if (state === undefined) return;
    if (state.log !== logName) {
      logName = state.log;
      cursor = 0;
      for (const listener of listeners.keys()) listeners.set(listener, 0);
    }
    looks += 1;
    while (state.applied > cursor && listeners.size > 0) {
      const entries = (await readEntries(at, cursor, entriesAtOnce)).filter(({ _id }) => _id <= state.applied);
      if (entries.length === 0) break;
      // One of this process may have been told while the others were read.
      for (const entry of entries) if (entry._id > cursor && entry.log === logName) tell(entry);
    }
    if (looks % lookForLost !== 0) return;
    const newest = await readNewest(at);
    if (newest === undefined || newest._id <= state.applied) unfinished = 0;
    else if (newest._id === unfinished) await finish();
    else unfinished = newest._id;
  }

  function look(): Promise<void> {
    looking ??= readOn().catch(() => {
      // The server cannot be asked now; the next look tries again, and nothing is lost meanwhile.
    }).finally(() => {
      looking = undefined;
    });
    return looking;
  }

  function stopPolling(): void {
    clearInterval(timer);
    timer = undefined;
  }

  const log: ChangeLog = {
    head: () => connection.call(async () => {
      const newest = await readNewest(collections());
      return newest === undefined ? "" : toHead(newest.log, newest.to);
    }),
    since: (id, limit) => connection.call(async () => {
      const at = collections();
      const [newest, { trimmed }] = await Promise.all([readNewest(at), readState(at)]);
      if (newest === undefined) return id === "" ? [] : undefined;
      const number = id === "" ? 0 : toNumber(id, newest.log);
      if (number === undefined || number > newest.to || number < trimmed) return undefined;
      const entries = await at.log.find({ to: { $gt: number }, count: { $gt: 0 } }).sort({ _id: 1 }).limit(limit).toArray();
      return entries.flatMap((entry) => toChanges(entry).slice(Math.max(0, number - entry.from))).slice(0, limit);
    }),
    listen: (listener) => connection.call(async () => {
      const at = collections();
      const [newest, { state }] = await Promise.all([readNewest(at), readState(at)]);
      await looking;
      const start = newest?._id ?? 0;
      // A listener of its own for each call, so that one function may listen twice.
      const own: Listener = (changes) => listener(changes);
      if (listeners.size === 0) {
        logName = state?.log ?? "";
        cursor = start;
      }
      listeners.set(own, start);
      timer ??= setInterval(() => void look(), pollInterval).unref();
      return () => {
        listeners.delete(own);
        if (listeners.size === 0) stopPolling();
      };
    }),
    trim: (keep) => connection.call(async () => {
      const at = collections();
      const newest = await readNewest(at);
      if (newest === undefined) return;
      const upTo = Math.max(0, newest.to - keep);
      if (upTo === 0) return;
      await at.state.updateOne({ _id: "trim" }, { $max: { upTo } }, { upsert: true });
      await at.log.deleteMany({ to: { $lte: upTo }, _id: { $lt: newest._id - keptEntries }, time: { $lt: Date.now() - keptTime } });
    }),
  };

  return {
    log,
    written(entry) {
      if (listeners.size === 0) return;
      if (logName === "") logName = entry.log;
      if (entry.log === logName && entry._id <= cursor) return;
      if (entry.log === logName && entry._id === cursor + 1) queueMicrotask(() => (entry._id === cursor + 1 ? tell(entry) : void look()));
      else void look();
    },
    close() {
      listeners.clear();
      stopPolling();
    },
  };
}

function toChanges(entry: EntryDocument): Change[] {
  const changes: Change[] = [];
  for (const step of entry.steps) {
    if ((step.type !== "put" && step.type !== "remove") || step.change === null) continue;
    const { collection, action, at, text } = step.change;
    changes.push(new StoredChange(toHead(entry.log, entry.from + changes.length + 1), collection, action, step.id, text, at));
  }
  return changes;
}

/** The number that an id of this log tells; undefined for any other text. */
function toNumber(id: string, log: string): number | undefined {
  if (!id.startsWith(`${log}-`)) return undefined;
  const digits = id.slice(log.length + 1);
  return /^[1-9][0-9]{0,14}$/.test(digits) ? Number(digits) : undefined;
}
