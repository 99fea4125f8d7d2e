// Which fields an update changes: what `@changed` of a rule says.
import type { Json, JsonObject, RecordValue } from "../core/record.js";
import type { Field } from "./collection.js";

export interface Change {
  /** As stored. */
  readonly record: RecordValue;
  /** What came in; of it only FILE fields are looked at. */
  readonly body: JsonObject;
  /** The body's values as they would be stored. */
  readonly values: Readonly<Record<string, Json>>;
  /** Names of fields that get files. */
  readonly withFiles?: readonly string[] | undefined;
}

/**
 * Names of the fields whose value would be another one, and of those that get files. Members of the body that are
 * ignored change nothing, nor does another spelling of the same value.
 */
export function changedFields(fields: readonly Field[], { record, body, values, withFiles = [] }: Change): Set<string> {
  const changed = new Set(withFiles);
  for (const [name, value] of Object.entries(values)) {
    if (!same(record[name] ?? null, value)) changed.add(name);
  }
  for (const { name, type } of fields) {
    const value = type === "FILE" && Object.hasOwn(body, name) ? body[name] : undefined;
    if (value !== undefined && !same(fileIds(record[name] ?? null), fileIds(value))) changed.add(name);
  }
  return changed;
}

/** A FILE field compares by ids, whether they stand as references or alone. */
function fileIds(value: Json): Json {
  const many = Array.isArray(value) ? (value as readonly Json[]) : value === null ? [] : [value];
  return many.map((one) => (typeof one === "object" && one !== null && !Array.isArray(one) ? ((one as JsonObject)["id"] ?? null) : one));
}

function same(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, index) => same(item as Json, b[index] as Json));
  }
  const left = a as JsonObject;
  const right = b as JsonObject;
  const names = Object.keys(left);
  return names.length === Object.keys(right).length && names.every((name) => Object.hasOwn(right, name) && same(left[name]!, right[name]!));
}
