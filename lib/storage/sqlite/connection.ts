// One open database file: its settings, its functions, its cached statements, and what tells it from another file
// that later takes its name.
import { randomBytes } from "node:crypto";
import { linkSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { loadDriver, type Database, type Statement } from "./driver.js";

const statementsKept = 300;
const format = 1;

/** The user_version of a database that was dropped while others had it open. */
export const dropped = -1;

export interface ConnectionOptions {
  readonly mode: "read" | "write";
  /** Milliseconds to wait for a lock of another process. */
  readonly busyTimeout: number;
}

export class Connection {
  readonly path: string;
  readonly database: Database;
  /** Random, made with the file: the first half of every change id and of the stamp. */
  readonly logId: string;
  /** The file's number in its file system. */
  readonly inode: number;
  readonly #statements = new Map<string, Statement>();
  readonly #begin: Statement;
  readonly #commit: Statement;
  #inSnapshot = false;
  #version: number | undefined;

  constructor(path: string, { mode, busyTimeout }: ConnectionOptions) {
    const Driver = loadDriver();
    this.path = path;
    this.database = new Driver(path, { readonly: mode === "read", fileMustExist: true, timeout: busyTimeout });
    try {
      if (mode === "write") {
        // FULL is what makes an acknowledged write outlive a power cut; group commit pays for it.
        this.database.pragma("synchronous=FULL");
        this.database.pragma("wal_autocheckpoint=2000");
        this.database.pragma("journal_size_limit=33554432");
      }
      // Two megabytes a file: the system's own cache does the rest as fast, and 64 open tenants stay small.
      this.database.pragma("cache_size=-2000");
      this.database.function("text_contains", { deterministic: true }, containsFunction());
      const [log, stored] = this.statement(`SELECT (SELECT value FROM "#meta" WHERE key='log'),(SELECT value FROM "#meta" WHERE key='format')`).get() as [string, number];
      if (stored !== format) throw new Error(`${path} has the format ${stored}, and this version reads the format ${format}: use the version that wrote it`);
      this.logId = log;
      this.inode = statSync(path).ino;
      this.#begin = this.database.prepare("BEGIN");
      this.#commit = this.database.prepare("COMMIT");
    } catch (error) {
      this.database.close();
      throw error;
    }
  }

  /** The prepared statement of this text; its rows come as arrays. */
  statement(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.database.prepare(sql);
      if (statement.reader) statement.raw();
      if (this.#statements.size >= statementsKept) this.#statements.delete(this.#statements.keys().next().value!);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Holds what is stored now for the reads that follow. False where it does so already. */
  enterSnapshot(): boolean {
    if (this.#inSnapshot) return false;
    this.#begin.run();
    this.#inSnapshot = true;
    return true;
  }

  leaveSnapshot(): void {
    if (!this.#inSnapshot) return;
    this.#inSnapshot = false;
    this.#version = undefined;
    if (this.database.open && this.database.inTransaction) this.#commit.run();
  }

  /** The number of units with `bump` so far; read once for each snapshot. */
  get version(): number {
    if (this.#version !== undefined) return this.#version;
    const [version] = this.statement("PRAGMA user_version").get() as [number];
    if (this.#inSnapshot) this.#version = version;
    return version;
  }

  get isOpen(): boolean {
    return this.database.open;
  }

  close(): void {
    this.#statements.clear();
    this.database.close();
  }
}

/** `text_contains(whole, part)`: as the Filter's node `contains`; NULL where either is no text. */
function containsFunction(): (whole: unknown, part: unknown) => number | null {
  let lastPart = "";
  let lastLower = "";
  return (whole, part) => {
    if (typeof whole !== "string" || typeof part !== "string") return null;
    if (part !== lastPart) {
      lastPart = part;
      lastLower = part.toLowerCase();
    }
    return whole.toLowerCase().includes(lastLower) ? 1 : 0;
  };
}

/** Makes an empty database, whole or not at all; harmless where another process was first. */
export function createDatabase(path: string): void {
  const Driver = loadDriver();
  const draft = `${path}.${randomBytes(6).toString("hex")}.new`;
  try {
    const database = new Driver(draft, {});
    try {
      database.pragma("journal_mode=WAL");
      database.exec(`
        CREATE TABLE "#meta"(key TEXT PRIMARY KEY NOT NULL, value NOT NULL) WITHOUT ROWID;
        INSERT INTO "#meta" VALUES ('format', ${format}), ('log', '${randomBytes(9).toString("hex")}'), ('trimmed', 0);
        CREATE TABLE "#changes"(
          seq INTEGER PRIMARY KEY, at TEXT NOT NULL, collection TEXT NOT NULL, action TEXT NOT NULL,
          record_id TEXT NOT NULL, doc TEXT
        );
      `);
    } finally {
      database.close();
    }
    try {
      linkSync(draft, path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EPERM" || code === "ENOTSUP" || code === "EOPNOTSUPP" || code === "ENOSYS") {
        // A file system without hard links; only there could two that create at once take each other's place.
        if (statSync(path, { throwIfNoEntry: false }) === undefined) renameSync(draft, path);
      } else if (code !== "EEXIST") {
        throw error;
      }
    }
  } finally {
    for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(draft + suffix, { force: true });
  }
}

/** Removes what creations left behind that were cut off. */
export function removeDrafts(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!/\.sqlite\.[0-9a-f]{12}\.new(-|$)/.test(name)) continue;
    const path = join(folder, name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    // A younger one may be in the making, by another process.
    if (age > 60_000) rmSync(path, { force: true });
  }
}

/** Whether the path still names the file that the connection has open. */
export function isCurrent(connection: Connection): boolean {
  return statSync(connection.path, { throwIfNoEntry: false })?.ino === connection.inode;
}

/** The number of units with `bump` so far; `dropped` where the database was dropped. */
export function readVersion(connection: Connection): number {
  return connection.version;
}

/** The stamp of a store: the same for every store that no unit has bumped, also for one without a file. */
export function toStamp(logId: string, version: number): string {
  return version <= 0 ? emptyStamp : `${logId}-${version}`;
}

export const emptyStamp = "0";
