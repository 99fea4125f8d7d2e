// Loads better-sqlite3, only when an embedded store is opened, and names the part of its interface that is used here.
import { createRequire } from "node:module";

export type SqlValue = string | number | null;

export interface Statement {
  get(...values: SqlValue[]): unknown;
  all(...values: SqlValue[]): unknown[];
  run(...values: SqlValue[]): { changes: number };
  raw(): Statement;
  readonly reader: boolean;
}

export interface Database {
  prepare(sql: string): Statement;
  exec(sql: string): void;
  pragma(sql: string, options?: { simple: boolean }): unknown;
  function(name: string, options: { deterministic: boolean }, body: (...values: unknown[]) => SqlValue): void;
  close(): void;
  readonly inTransaction: boolean;
  readonly open: boolean;
}

interface Driver {
  new (path: string, options: { readonly?: boolean; fileMustExist?: boolean; timeout?: number }): Database;
}

/** The driver's constructor. Throws an error that says what to install where it cannot be loaded. */
export function loadDriver(): Driver {
  try {
    return createRequire(import.meta.url)("better-sqlite3") as Driver;
  } catch (cause) {
    throw new Error(
      "The embedded store needs the package better-sqlite3, and it cannot be loaded: run `npm install better-sqlite3`, or give the option `storage` a mongodb:// URL",
      { cause },
    );
  }
}

/** The SQLite result code of a thrown value, "" where it is none. */
export function sqliteCode(error: unknown): string {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === "string" && code.startsWith("SQLITE_") ? code : "";
}
