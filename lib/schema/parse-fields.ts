// Reads the list of fields of a collection definition, with every fault named by its path.
import type { FieldError } from "../core/errors.js";
import { reservedFieldNames, type DateField, type Field } from "./collection.js";
import { parseTimestamp } from "./dates.js";
import { checkShape, fieldShapes } from "./field-shapes.js";
import { coreUserFields, reservedUserFieldNames } from "./fields.js";
import { patternProblem } from "./patterns.js";
import { hasBrokenText } from "./texts.js";
import { checkValue } from "./values.js";

/** Adds a fault; `path` below the definition, as in `fields[2].maxLength`. */
export type Report = (path: string, message: string) => void;

/** The normalised fields. Where a fault was reported, the result counts for nothing. */
export function parseFields(input: readonly unknown[], isUsers: boolean, report: Report): Field[] {
  const seen = new Set<string>();
  const fields: Field[] = [];
  input.forEach((entry, index) => {
    const path = `fields[${index}]`;
    const name = nameOf(entry);
    if (name !== undefined) {
      if (seen.has(name)) report(`${path}.name`, `${name} is there twice`);
      seen.add(name);
    }
    const core = isUsers ? coreUserFields.find((field) => field.name === name) : undefined;
    if (core !== undefined) checkCore(core, entry as object, path, report);
    else {
      const field = parseField(entry, path, isUsers, report);
      if (field !== undefined) fields.push(field);
    }
  });
  if (!isUsers) return fields;
  for (const core of coreUserFields) {
    if (!seen.has(core.name)) report("fields", `${core.name} is a core field of users and cannot be removed: list it too`);
  }
  return [...coreUserFields, ...fields];
}

function nameOf(entry: unknown): string | undefined {
  if (typeof entry !== "object" || entry === null) return undefined;
  const { name } = entry as { name?: unknown };
  return typeof name === "string" ? name : undefined;
}

/** A core field may be given back as it was read, in part too; nothing of it can be changed. */
function checkCore(core: Field, entry: object, path: string, report: Report): void {
  for (const [member, value] of Object.entries(entry)) {
    const fixed = (core as unknown as Record<string, unknown>)[member];
    if (fixed === undefined) report(`${path}.${member}`, "is not allowed");
    else if (fixed !== value) report(`${path}.${member}`, `cannot be changed: ${core.name} is a core field of users`);
  }
}

function parseField(entry: unknown, path: string, isUsers: boolean, report: Report): Field | undefined {
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) {
    report(path, "must be an object with name and type");
    return undefined;
  }
  const { type } = entry as { type?: unknown };
  const shape = typeof type === "string" ? fieldShapes.get(type) : undefined;
  if (shape === undefined) {
    report(`${path}.type`, `must be one of ${[...fieldShapes.keys()].join(", ")}`);
    return undefined;
  }
  const { value, faults } = checkShape(shape.schema, entry);
  for (const fault of faults) report(path + shownPath(fault.path), fault.message);
  if (faults.length > 0) return undefined;
  const faultsBefore: string[] = [];
  const field = refine(inOrder(value as object, shape.members), (member, message) => {
    faultsBefore.push(member);
    report(`${path}.${member}`, message);
  }, isUsers);
  return faultsBefore.length > 0 ? undefined : withDefault(field, path, report);
}

/** Members in the order of the documentation, whatever the order they were sent in. */
function inOrder(field: object, members: readonly string[]): Field {
  return Object.fromEntries(members.map((member) => [member, (field as Record<string, unknown>)[member]])) as unknown as Field;
}

/** The member's place as people write it: `.values[3]`. */
export function shownPath(path: readonly (string | number)[]): string {
  return path.map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`)).join("");
}

function refine(field: Field, report: Report, isUsers: boolean): Field {
  if (reservedFieldNames.includes(field.name)) report("name", `${field.name} is reserved`);
  if (isUsers && reservedUserFieldNames.includes(field.name)) report("name", `${field.name} is reserved on users`);
  if (field.unique && (field.type === "JSON" || field.type === "FILE")) report("unique", `a ${field.type} field cannot be unique`);
  switch (field.type) {
    case "TEXT": {
      if (field.minLength !== null && field.minLength > field.maxLength) report("minLength", "must not be greater than maxLength");
      const problem = field.pattern === null ? null : patternProblem(field.pattern, field.maxLength);
      if (problem !== null) report("pattern", problem);
      return field;
    }
    case "NUMBER":
      if (field.min !== null && field.max !== null && field.min > field.max) report("min", "must not be greater than max");
      return field;
    case "DATE":
      return refineDate(field, report);
    case "SELECT":
      field.values.forEach((value, index) => {
        if (hasBrokenText(value)) report(`values[${index}]`, "must not hold a NUL character or half of a surrogate pair");
      });
      return field;
    case "FILE":
      if (field.default !== null) report("default", "a FILE field has no default");
      return { ...field, widths: [...field.widths].sort((a, b) => a - b) };
    default:
      return field;
  }
}

function refineDate(field: DateField, report: Report): DateField {
  const limit = (member: "min" | "max") => {
    const given = field[member];
    const timestamp = given === null ? null : parseTimestamp(given);
    if (given !== null && timestamp === null) report(member, "must be a date or timestamp (ISO 8601)");
    return timestamp;
  };
  const [min, max] = [limit("min"), limit("max")];
  if (min !== null && max !== null && min > max) report("min", "must not be after max");
  return { ...field, min, max };
}

function withDefault(field: Field, path: string, report: Report): Field {
  if (field.default === null || field.type === "FILE") return field;
  const checked = checkValue(field, field.default);
  if (checked.message === undefined) return { ...field, default: checked.value } as Field;
  report(`${path}.default`, `does not satisfy the field: it ${checked.message}`);
  return field;
}

/** The entries that a Report collects. */
export function collectFaults(): { readonly report: Report; readonly entries: FieldError[] } {
  const entries: FieldError[] = [];
  return { report: (field, message) => entries.push({ field, message }), entries };
}
