// Tells from SQLite's plan whether a read could take long: then a reader thread runs it, and the event loop goes on.
import type { Connection } from "./connection.js";
import type { SqlValue } from "./driver.js";

/** Up to this many rows ever inserted, a table is small enough to scan on the spot. */
const smallTable = 500;
/** Skipping more rows than this counts as a scan. */
const longOffset = 1000;

/**
 * Whether the statement scans the table or sorts rows: no index serves it, or an index gives the order alone while
 * `filtered` says that rows may be passed over.
 */
export function isLong(connection: Connection, sql: string, values: readonly SqlValue[], filtered: boolean): boolean {
  const steps = connection.statement(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as [number, number, number, string][];
  return steps.some(([, , , detail]) => {
    if (detail.startsWith("USE TEMP B-TREE FOR ORDER BY")) return true;
    if (!/^SCAN r(?: |$)/.test(detail)) return false;
    return filtered || !detail.includes(" USING ");
  });
}

export function isSmall(connection: Connection, table: string): boolean {
  const [last] = connection.statement(`SELECT max(rowid) FROM "${table}"`).get() as [number | null];
  return (last ?? 0) <= smallTable;
}

export function isLongOffset(offset: number | undefined): boolean {
  return offset !== undefined && offset > longOffset;
}
