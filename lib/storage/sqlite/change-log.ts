// A store's changes: read from its log, and told to listeners, those of this process straight after their commit,
// those of others by looking at the file a few times a second.
import { statSync } from "node:fs";
import { StoredChange } from "../change.js";
import type { Change, ChangeLog } from "../storage.js";
import { headSql } from "./batch.js";
import type { Connection } from "./connection.js";
import { toRowCount } from "./query-to-sql.js";
import type { Reader } from "./reader.js";
import type { Writer } from "./writer.js";

/** Milliseconds between two looks. */
const pollInterval = 250;
const changesAtOnce = 500;

type Listener = (changes: readonly Change[]) => void;

export interface ChangeLogs {
  of(path: string): ChangeLog;
  /** Tells of changes that this process has just written; the first has this sequence number. */
  written(path: string, logId: string, first: number, changes: readonly Change[]): void;
  close(): void;
}

/** What is being told of one store, while it has listeners. */
interface Hub {
  readonly path: string;
  /** With the sequence number after which each began to listen. */
  readonly listeners: Map<Listener, number>;
  logId: string;
  /** The newest change that was told or is about to be. */
  cursor: number;
  /** Changes of sequence numbers that end with the cursor, waiting to be told. */
  outbox: Change[];
  /** What the file looked like at the last look. */
  seen: string;
  reading: boolean;
}

export function createChangeLogs(reader: Reader, writer: Writer): ChangeLogs {
  const hubs = new Map<string, Hub>();
  let timer: NodeJS.Timeout | undefined;

  function tell(hub: Hub, changes: readonly Change[]): void {
    if (hub.outbox.length === 0) queueMicrotask(() => flush(hub));
    hub.outbox.push(...changes);
  }

  function flush(hub: Hub): void {
    const changes = hub.outbox;
    hub.outbox = [];
    const first = hub.cursor - changes.length + 1;
    for (const [listener, start] of [...hub.listeners]) {
      const heard = start < first ? changes : changes.slice(start - first + 1);
      if (heard.length === 0 || !hub.listeners.has(listener)) continue;
      try {
        listener(heard);
      } catch (error) {
        // One listener's fault must neither silence the others nor end the host's process.
        process.emitWarning(error instanceof Error ? error : new Error(String(error)));
      }
    }
  }

  /** Reads what the log has beyond the cursor. */
  function catchUp(hub: Hub): void {
    if (hub.reading || hub.listeners.size === 0) return;
    if (hub.outbox.length > 0) flush(hub);
    const found = reader.current(hub.path, (connection) => {
      if (hub.logId !== connection.logId) {
        hub.logId = connection.logId;
        hub.cursor = 0;
      }
      return readChanges(connection, hub.cursor, changesAtOnce);
    }) ?? [];
    if (found.length === 0) return;
    for (const run of contiguous(found)) {
      if (hub.outbox.length > 0) flush(hub);
      hub.cursor = run.at(-1)![0];
      tell(hub, run.map((row) => toChange(hub.logId, row)));
    }
    if (found.length < changesAtOnce) return;
    hub.reading = true;
    setImmediate(() => {
      hub.reading = false;
      look(hub);
    });
  }

  function look(hub: Hub): void {
    try {
      catchUp(hub);
    } catch {
      // The file cannot be read now; the next look tries again, and nothing is lost meanwhile.
      hub.seen = "";
    }
  }

  function poll(): void {
    for (const hub of hubs.values()) {
      const seen = appearance(hub.path);
      if (seen !== "" && seen === hub.seen) continue;
      hub.seen = seen;
      look(hub);
    }
  }

  function stopPolling(): void {
    clearInterval(timer);
    timer = undefined;
  }

  function headOf(path: string): { logId: string; head: number } {
    return reader.current(path, (connection) => ({ logId: connection.logId, head: readHead(connection).head })) ?? { logId: "", head: 0 };
  }

  return {
    of: (path) => ({
      async head() {
        const { logId, head } = headOf(path);
        return head === 0 ? "" : `${logId}-${head}`;
      },
      async since(id, limit) {
        const found = reader.current(path, (connection) => {
          const sequence = id === "" ? 0 : toSequence(id, connection.logId);
          const { head, trimmed } = readHead(connection);
          if (sequence === undefined || sequence > head || sequence < trimmed) return null;
          return readChanges(connection, sequence, limit).map((row) => toChange(connection.logId, row));
        });
        return found === undefined ? (id === "" ? [] : undefined) : (found ?? undefined);
      },
      async listen(listener) {
        let hub = hubs.get(path);
        const { logId, head } = headOf(path);
        if (hub !== undefined && hub.logId !== logId) look(hub);
        if (hub === undefined) {
          hub = { path, listeners: new Map(), logId, cursor: head, outbox: [], seen: "", reading: false };
          hubs.set(path, hub);
        }
        const joined = hub;
        // A listener of its own for each call, so that one function may listen twice.
        const own: Listener = (changes) => listener(changes);
        joined.listeners.set(own, joined.logId === logId ? head : 0);
        timer ??= setInterval(poll, pollInterval).unref();
        return () => {
          joined.listeners.delete(own);
          if (joined.listeners.size === 0 && hubs.get(path) === joined) hubs.delete(path);
          if (hubs.size === 0) stopPolling();
        };
      },
      async trim(keep) {
        await writer.run(path, { type: "trim", keep });
      },
    }),
    written(path, logId, first, changes) {
      const hub = hubs.get(path);
      if (hub === undefined) return;
      if (hub.logId === "") hub.logId = logId;
      if (hub.logId === logId && first + changes.length - 1 <= hub.cursor) return;
      if (hub.logId === logId && first === hub.cursor + 1 && !hub.reading) {
        hub.cursor = first + changes.length - 1;
        tell(hub, changes);
      } else {
        look(hub);
      }
    },
    close() {
      hubs.clear();
      stopPolling();
    },
  };
}

type ChangeRow = [seq: number, at: string, collection: string, action: Change["action"], recordId: string, doc: string | null];

function readChanges(connection: Connection, after: number, limit: number): ChangeRow[] {
  return connection.statement(`SELECT seq,at,collection,action,record_id,doc FROM "#changes" WHERE seq>? ORDER BY seq LIMIT ${toRowCount(limit)}`)
    .all(after) as ChangeRow[];
}

function readHead(connection: Connection): { head: number; trimmed: number } {
  const [head, trimmed] = connection.statement(headSql).get() as [number, number];
  return { head, trimmed };
}

function toChange(logId: string, [seq, at, collection, action, recordId, doc]: ChangeRow): Change {
  return new StoredChange(`${logId}-${seq}`, collection, action, recordId, doc, at);
}

/** The sequence number that an id of this log tells; undefined for any other text. */
function toSequence(id: string, logId: string): number | undefined {
  if (!id.startsWith(`${logId}-`)) return undefined;
  const digits = id.slice(logId.length + 1);
  return /^[1-9][0-9]{0,14}$/.test(digits) ? Number(digits) : undefined;
}

/** Runs of rows whose numbers follow one another: a trim may have left a gap. */
function contiguous(rows: readonly ChangeRow[]): ChangeRow[][] {
  const runs: ChangeRow[][] = [];
  for (const row of rows) {
    const run = runs.at(-1);
    if (run !== undefined && run.at(-1)![0] === row[0] - 1) run.push(row);
    else runs.push([row]);
  }
  return runs;
}

/** Changes with every write to the database; "" where that cannot be told for certain. */
function appearance(path: string): string {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  const file = log ?? statSync(path, { throwIfNoEntry: false });
  if (file === undefined) return "none";
  // File systems keep times by the clock's tick, so a fresh time does not tell the last write from the next.
  if (Date.now() - file.mtimeMs < 100) return "";
  return `${log === undefined ? "file" : "log"} ${file.ino} ${file.mtimeMs} ${file.size}`;
}
