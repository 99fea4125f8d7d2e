// Checks a record out of an archive before it goes into a store: its system fields, and for each field of its
// collection a value of the right kind. Limits that were tightened since it was written do not count.
import { BadRequest } from "../core/errors.js";
import { isId } from "../core/ids.js";
import { fileReferences, type Json, type RecordValue, type Scalar } from "../core/record.js";
import type { Collection } from "../collections/collection.js";
import type { Field } from "../schema/collection.js";
import { parseTimestamp } from "../schema/dates.js";
import { kindOf } from "../schema/fields.js";
import { jsonProblem } from "../schema/json-guard.js";
import type { Hidden } from "../storage/storage.js";
import { keptUserColumns, type RecordLine } from "./format.js";

/** The record with its members in the schema's order. Throws BadRequest with what is wrong, and where. */
export function checkRecordLine(collection: Collection, line: unknown, where: string): RecordLine {
  const refuse = (what: string): BadRequest => new BadRequest(`${where} ${what}`);
  const { record, hidden } = (typeof line === "object" && line !== null ? line : {}) as { record?: unknown; hidden?: unknown };
  if (typeof record !== "object" || record === null || Array.isArray(record)) throw refuse("holds a line that is no record");
  const problem = jsonProblem(record);
  if (problem !== null) throw refuse(`holds a record that ${problem}`);
  const given = record as Record<string, Json>;
  const { id, createdAt, updatedAt } = given;
  if (!isId(id)) throw refuse("holds a record without a usable id");
  if (!isTimestamp(createdAt) || !isTimestamp(updatedAt)) throw refuse(`holds the record ${id}, whose times are no timestamps`);
  const checked: Record<string, Json> = { id, createdAt, updatedAt };
  for (const field of collection.fields.values()) {
    const value = given[field.name] ?? null;
    if (value !== null && !fits(field, value)) throw refuse(`holds the record ${id}, whose ${field.name} is no ${field.type}`);
    checked[field.name] = value;
  }
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(checked, name));
  if (unknown !== undefined) throw refuse(`holds the record ${id} with ${JSON.stringify(unknown.slice(0, 60))}, which is no field of ${collection.name}`);
  return { record: checked as RecordValue, ...(collection.isUsers ? { hidden: checkHidden(hidden, refuse, id) } : {}) };
}

function isTimestamp(value: Json | undefined): value is string {
  return typeof value === "string" && parseTimestamp(value) === value;
}

function fits(field: Field, value: Json): boolean {
  if (field.type === "FILE") return areFiles(value, field.multiple);
  switch (kindOf(field)) {
    case "text": return typeof value === "string";
    case "number": return typeof value === "number";
    case "boolean": return typeof value === "boolean";
    case "json": return true;
  }
}

/** Whether the value is what a FILE field holds. */
function areFiles(value: Json, multiple: boolean): boolean {
  if (multiple !== Array.isArray(value)) return false;
  const references = fileReferences(value);
  if (Array.isArray(value) && references.length !== value.length) return false;
  return references.every(({ id, name, size, type, width, height, variants }) =>
    isId(id) && isName(name) && isSize(size) && isMediaType(type) && (width === undefined || isSize(width)) && (height === undefined || isSize(height)) &&
    (variants === undefined || (Array.isArray(variants) && variants.every((one) => isSize(one) && one >= 1 && one <= 4096))));
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value !== "" && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(value);
}

function isMediaType(value: unknown): boolean {
  return typeof value === "string" && /^[\w.+-]{1,127}\/[\w.+-]{1,127}$/.test(value);
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function checkHidden(hidden: unknown, refuse: (what: string) => BadRequest, id: string): Hidden {
  const given = (typeof hidden === "object" && hidden !== null ? hidden : {}) as Record<string, unknown>;
  const { passwordHash = null, passwordSalt = null, active = null, generation = null, ...others } = given;
  const sound = isTextOrNull(passwordHash) && isTextOrNull(passwordSalt) && (active === null || typeof active === "boolean") && (generation === null || isSize(generation)) && Object.keys(others).length === 0;
  if (!sound) throw refuse(`holds the account ${id}, whose ${keptUserColumns.join(", ")} cannot be read`);
  return { passwordHash: passwordHash as Scalar, passwordSalt: passwordSalt as Scalar, active: active !== false, generation: (generation as number | null) ?? 1 };
}

function isTextOrNull(value: unknown): boolean {
  return value === null || (typeof value === "string" && value.length <= 1024);
}
