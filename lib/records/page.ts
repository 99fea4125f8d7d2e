// A page of a list as the store gives it: joined text where records go out as they are stored, rows otherwise.
import type { RecordValue } from "../core/record.js";
import type { Collection } from "../collections/collection.js";
import { textSeparator, type Query, type Row, type Table } from "../storage/storage.js";

const separator = Buffer.from(textSeparator);

export interface Page {
  /** Whether records follow after it. */
  readonly hasMore: boolean;
  /** Its last record as stored; undefined where it is empty. */
  last(): RecordValue | undefined;
}

export interface RowPage extends Page {
  readonly rows: readonly Row[];
}

export interface TextPage extends Page {
  /** The records as JSON texts with commas between, in UTF-8. */
  readonly bytes: Buffer;
}

/** One more than the page is asked for, to know whether anything follows. */
export async function readRows(table: Table, query: Query): Promise<RowPage> {
  const found = await table.list({ ...query, limit: query.limit + 1 });
  const hasMore = found.length > query.limit;
  const rows = hasMore ? found.slice(0, query.limit) : found;
  return { rows, hasMore, last: () => rows.at(-1)?.record };
}

/** The same as text; undefined where records are not sent as they are stored, or the engine cannot join them. */
export function readTexts(table: Table, collection: Collection, query: Query): Promise<TextPage> | undefined {
  if (!collection.passthrough) return undefined;
  return table.listText?.({ ...query, limit: query.limit + 1 }).then(({ bytes: joined, count }) => {
    const hasMore = count > query.limit;
    const found = Buffer.from(joined.buffer, joined.byteOffset, joined.byteLength);
    const bytes = hasMore ? found.subarray(0, found.lastIndexOf(separator)) : found;
    return { bytes, hasMore, last: () => (count === 0 ? undefined : lastOf(bytes)) };
  });
}

function lastOf(bytes: Buffer): RecordValue {
  const end = bytes.lastIndexOf(separator);
  return JSON.parse(bytes.toString("utf8", end === -1 ? 0 : end + separator.length)) as RecordValue;
}
