// planChange: what a change of a collection's schema means for the records that are there.
import type { Json } from "../core/record.js";
import type { IndexDefinition, Transform } from "../storage/storage.js";
import type { Field, FileField } from "./collection.js";
import type { CollectionContent } from "./definition.js";
import { indexDefinitions } from "./fields.js";
import { checkValue, requiredMessage } from "./values.js";

/** A field whose stored values have to be looked at before the change. */
export interface FieldScan {
  readonly field: string;
  /** What the value lacks for the new definition; null where it may stay as it is. `value` null: absent. */
  check(value: Json): string | null;
}

export interface ChangePlan {
  /** For the Define operation; undefined where no row changes. */
  readonly transform: Transform | undefined;
  /** Every index that the table has to have then. */
  readonly indexes: readonly IndexDefinition[];
  /** Whether the table has to be defined anew at all. */
  readonly changesTable: boolean;
  /** New required fields without a default: refuse the change where the collection has any record. */
  readonly needsDefault: readonly string[];
  /** One scan per field whose stored values may not satisfy the new definition. */
  readonly scans: readonly FieldScan[];
  /** RELATION fields whose stored ids have to exist in the (new) target collection. */
  readonly relations: readonly { readonly field: string; readonly collection: string }[];
  /** New RELATION fields with a default: that record has to exist where the collection has any record. */
  readonly defaultRelations: readonly { readonly field: string; readonly collection: string; readonly id: string }[];
  /** FILE fields that go with their files. */
  readonly removedFiles: readonly FileField[];
}

/** Compares two definitions field by field, by name: a name that is gone is a removal, a new one an addition. */
export function planChange(before: CollectionContent, after: CollectionContent): ChangePlan {
  const isUsers = after.name === "users" && before.name === "users";
  const stored = (fields: readonly Field[]) => fields.filter((field) => !(isUsers && field.name === "password"));
  const old = new Map(stored(before.fields).map((field) => [field.name, field]));
  const added = stored(after.fields).filter((field) => !old.has(field.name));
  const kept = stored(after.fields).flatMap((field) => {
    const former = old.get(field.name);
    return former === undefined ? [] : [{ former, field }];
  });
  const names = new Set(after.fields.map((field) => field.name));
  const removed = [...old.values()].filter((field) => !names.has(field.name));
  const transform = transformOf(added, removed);
  const indexes = indexDefinitions(after);
  return {
    transform,
    indexes,
    changesTable: transform !== undefined || JSON.stringify(indexes) !== JSON.stringify(indexDefinitions(before)),
    needsDefault: added.filter((field) => field.required && field.default === null).map(({ name }) => name),
    scans: kept.filter(({ former, field }) => mayRefuse(former, field)).map(({ former, field }) => scanOf(former, field)),
    relations: kept.flatMap(({ former, field }) =>
      field.type === "RELATION" && !(former.type === "RELATION" && former.collection === field.collection) ? [{ field: field.name, collection: field.collection }] : []),
    defaultRelations: added.flatMap((field) =>
      field.type === "RELATION" && typeof field.default === "string" ? [{ field: field.name, collection: field.collection, id: field.default }] : []),
    removedFiles: removed.filter((field): field is FileField => field.type === "FILE"),
  };
}

function transformOf(added: readonly Field[], removed: readonly Field[]): Transform | undefined {
  if (added.length === 0 && removed.length === 0) return undefined;
  return {
    ...(added.length > 0 ? { add: Object.fromEntries(added.map((field) => [field.name, field.default])) } : {}),
    ...(removed.length > 0 ? { remove: removed.map(({ name }) => name) } : {}),
  };
}

/** Members that say nothing of values that are stored already. */
const withoutEffect = new Set(["default", "unique", "onDelete", "maxFiles", "maxSize", "mimeTypes", "widths", "collection"]);

function mayRefuse(former: Field, field: Field): boolean {
  if (former.type !== field.type) return true;
  const old = former as unknown as Record<string, unknown>;
  return Object.entries(field).some(([member, value]) => !withoutEffect.has(member) && JSON.stringify(value) !== JSON.stringify(old[member]) && !(member === "required" && value === false));
}

function scanOf(former: Field, field: Field): FieldScan {
  return { field: field.name, check: former.type === "FILE" || field.type === "FILE" ? fileCheck(former, field) : valueCheck(field) };
}

function valueCheck(field: Field): FieldScan["check"] {
  return (value) => {
    const checked = checkValue(field, value);
    if (checked.message !== undefined) return checked.message;
    // Rows are not rewritten, so a value has to be in its stored form already.
    return field.type === "JSON" || checked.value === value ? null : `must be stored as ${JSON.stringify(checked.value)}`;
  };
}

/** Files are kept in another shape in single and multiple fields, and in no other type of field at all. */
function fileCheck(former: Field, field: Field): FieldScan["check"] {
  const shape = (of: Field) => (of.type === "FILE" ? (of.multiple ? "files" : "file") : "value");
  return (value) => {
    const isEmpty = value === null || (Array.isArray(value) && value.length === 0 && former.type === "FILE");
    if (isEmpty) return field.required ? requiredMessage : null;
    return shape(former) === shape(field) ? null : "has a value that the new type cannot take over: remove it first";
  };
}
