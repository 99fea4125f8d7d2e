// The writer's thread: the only place that writes. Takes all that waits, groups it by database, answers after commit.
import { rmSync } from "node:fs";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { StorageUnavailable } from "../../core/errors.js";
import { StampChanged } from "../storage.js";
import { DatabaseDropped, runBatch } from "./batch.js";
import { createDatabase, dropped, emptyStamp, isCurrent, readVersion, type Connection } from "./connection.js";
import { createConnections } from "./connections.js";
import { sqliteCode } from "./driver.js";
import { isBroken, toPlainError } from "./errors.js";
import type { Done, Reply, Request } from "./messages.js";

/** What the main thread gives the thread at its start. */
export interface WriterData {
  readonly systemPath: string;
  readonly maxOpen: number;
  readonly busyTimeout: number;
}

const { systemPath, maxOpen, busyTimeout } = workerData as WriterData;
const port = parentPort!;
const options = { mode: "write", busyTimeout } as const;
const nothingDone: Done = { logId: "", rows: [], firstChange: 0 };
const tenants = createConnections(maxOpen, options);
const system = createConnections(1, options);

port.on("message", (first: readonly Request[] | "close") => {
  const waiting: Request[] = [];
  let message: readonly Request[] | "close" | undefined = first;
  while (message !== undefined && message !== "close") {
    waiting.push(...message);
    message = (receiveMessageOnPort(port) as { message: readonly Request[] | "close" } | undefined)?.message;
  }
  for (const [path, requests] of byPath(waiting)) runRequests(path, requests);
  if (message === "close") {
    tenants.closeAll();
    system.closeAll();
    port.close();
  }
});

function byPath(requests: readonly Request[]): Map<string, Request[]> {
  const groups = new Map<string, Request[]>();
  for (const request of requests) {
    const group = groups.get(request.path);
    if (group === undefined) groups.set(request.path, [request]);
    else group.push(request);
  }
  return groups;
}

/** Consecutive writes share a commit; a drop stands alone between them. */
function runRequests(path: string, requests: readonly Request[]): void {
  let start = 0;
  for (let index = 0; index <= requests.length; index += 1) {
    const request = requests[index];
    if (request !== undefined && request.task.type !== "dropDatabase") continue;
    if (index > start) attempt(path, requests.slice(start, index), (group) => write(path, group));
    if (request !== undefined) attempt(path, [request], () => [dropDatabase(path, request)]);
    start = index + 1;
  }
}

function attempt(path: string, requests: readonly Request[], run: (requests: readonly Request[]) => Reply[]): void {
  let replies: Reply[];
  try {
    replies = run(requests);
  } catch (error) {
    if (isBroken(error)) tryToClose(path);
    const plain = toPlainError(error);
    replies = requests.map(({ number }) => ({ number, error: plain }));
  }
  port.postMessage(replies);
}

function write(path: string, requests: readonly Request[]): Reply[] {
  for (;;) {
    const connection = current(path);
    if (connection === undefined) {
      const replies = requests.flatMap((request) => withoutDatabase(request) ?? []);
      if (replies.length === requests.length) return replies;
    }
    try {
      return runBatch(connection ?? create(path), requests);
    } catch (error) {
      if (!(error instanceof DatabaseDropped)) throw error;
      // Under the lock, so that whoever drops it is through by then, or has died before the file was removed.
      withLock(() => {
        tenants.close(path);
        const marked = tenants.get(path);
        if (marked === undefined || readVersion(marked) !== dropped) return;
        tenants.close(path);
        removeFiles(path);
      });
    }
  }
}

/** The answer that needs no database; undefined where the request makes one. What was decided on one that was dropped must not bring it back. */
function withoutDatabase({ number, task }: Request): Reply | undefined {
  if (task.type === "trim") return { number, done: nothingDone };
  const isLate = task.type === "write" && task.unit.stamp !== undefined && task.unit.stamp !== emptyStamp;
  return isLate ? { number, error: toPlainError(new StampChanged()) } : undefined;
}

/** The connection to the file that the path names now. */
function current(path: string): Connection | undefined {
  const connections = path === systemPath ? system : tenants;
  const connection = connections.get(path);
  if (connection === undefined || isCurrent(connection)) return connection;
  connections.close(path);
  return connections.get(path);
}

function create(path: string): Connection {
  if (path === systemPath) throw new StorageUnavailable(new Error("the system database is gone"));
  withLock(() => createDatabase(path));
  return tenants.get(path)!;
}

/** Runs while no process over this folder creates or drops a database. */
function withLock(run: () => void): void {
  const connection = current(systemPath);
  if (connection === undefined) throw new StorageUnavailable(new Error("the system database is gone"));
  connection.database.exec("BEGIN IMMEDIATE");
  try {
    run();
  } finally {
    connection.database.exec("ROLLBACK");
  }
}

function dropDatabase(path: string, { number }: Request): Reply {
  withLock(() => {
    try {
      // Tells whoever else has the file open that it is no longer the tenant's.
      current(path)?.database.pragma(`user_version=${dropped}`);
      tenants.close(path);
    } catch (error) {
      if (sqliteCode(error).startsWith("SQLITE_BUSY")) throw error;
      // A broken file can be removed all the same.
      tryToClose(path);
    }
    removeFiles(path);
  });
  return { number, done: nothingDone };
}

function removeFiles(path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
}

function tryToClose(path: string): void {
  try {
    (path === systemPath ? system : tenants).close(path);
  } catch {
    // It was broken already; the next use opens it anew.
  }
}
