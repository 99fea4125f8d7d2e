// Rows that are read on every request, parsed once for as long as their text stays the very same.
import type { RecordValue } from "../core/record.js";
import type { Row } from "./storage.js";

/**
 * Gives a row's record, parsed before where a row with this id had exactly this text then. Ids are never used twice,
 * so one reader serves all tenants.
 * @param size records kept; the oldest goes first
 */
export function createRecordReader(size: number): (row: Row) => RecordValue {
  const parsed = new Map<string, { readonly text: string; readonly record: RecordValue }>();
  return (row) => {
    const known = parsed.get(row.id);
    if (known !== undefined && known.text === row.text) return known.record;
    if (known === undefined && parsed.size >= size) parsed.delete(parsed.keys().next().value!);
    const { record, text } = row;
    parsed.set(row.id, { text, record });
    return record;
  };
}
