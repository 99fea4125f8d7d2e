// Retention: what of a chunked log is too old or too much, looked at from its oldest chunk on.
import { always } from "../storage/filter.js";
import type { Hidden, Row, Store } from "../storage/storage.js";

export interface Retention {
  readonly days: number;
  /** Entries kept in each log. */
  readonly rows: number;
}

const dayMs = 86_400_000;
/** Chunks looked at, and removed in one unit: each may have hundreds of kilobytes. */
const portion = 4;

/** What retention asks of a chunk, beside its entries: so that nobody parses hundreds of them to see how old they are. */
export function chunkFacts(createdAt: string, total: number): Hidden {
  return { createdAt, total };
}

/** Entries that the log had when this chunk was written, its own among them. */
export function countedUpTo({ hidden }: Row): number {
  return Number(hidden["total"] ?? 0);
}

/** Whether the chunk was written before this moment (ISO 8601). */
export function isOlder({ hidden }: Row, moment: string): boolean {
  return String(hidden["createdAt"] ?? "") < moment;
}

/** Chunks written before this moment (ISO 8601) are gone, or about to go. */
export function oldestKept(retention: Retention, now: number): string {
  return new Date(now - retention.days * dayMs).toISOString();
}

/**
 * Removes chunks that are older than the retention's days, and the oldest beyond its rows.
 * @param total entries that the log ever had, by the newest chunk
 */
export async function trimLog(options: {
  readonly store: Store;
  readonly table: string;
  readonly retention: Retention;
  readonly now: number;
  readonly total: number;
}): Promise<void> {
  const { store, table, retention, now, total } = options;
  const cutoff = oldestKept(retention, now);
  const isGone = (row: Row): boolean => isOlder(row, cutoff) || countedUpTo(row) <= total - retention.rows;
  // One chunk tells whether there is anything to do at all.
  let limit = 1;
  for (;;) {
    const oldest = await store.table(table).list({ filter: always, limit });
    const gone = oldest.filter(isGone);
    if (gone.length > 0) {
      await store.write({ operations: gone.map(({ id }) => ({ type: "remove" as const, table, id, optional: true })) });
    }
    if (gone.length < limit) return;
    limit = portion;
  }
}
