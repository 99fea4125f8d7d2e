// parseCollection: what a superadmin sends as a collection, whole or in part, to a normalised definition.
import { ValidationFailed } from "../core/errors.js";
import { systemFields } from "../core/record.js";
import { ruleNames, type CollectionDefinition, type Field, type Index, type RuleName } from "./collection.js";
import { checkShape, collectionShape, indexShape, maxIndexes } from "./field-shapes.js";
import { coreUserFields, isComparable } from "./fields.js";
import { jsonProblem } from "./json-guard.js";
import { collectFaults, parseFields, shownPath, type Report } from "./parse-fields.js";

/** The part of a definition that people write; the service adds id, system and times. */
export type CollectionContent = Pick<CollectionDefinition, "name" | "fields" | "indexes" | "realtime" | RuleName>;

/**
 * Reads a new collection, or with `existing` a change of one: members that are absent stay as they are, `fields` and
 * `indexes` replace the whole list. Members that the service sets (id, system, times) are ignored, so that a definition
 * that was read can be written back. `users` is known by `existing.system`. Rules are taken as text here; whether they
 * can be meant, and whether related collections exist, is for the caller to check.
 *
 * Throws ValidationFailed with every fault by its path (`fields[2].maxLength`).
 */
export function parseCollection(input: unknown, options: { readonly existing?: CollectionDefinition | undefined } = {}): CollectionContent {
  const { existing } = options;
  const isUsers = existing?.system ?? false;
  const { report, entries } = collectFaults();
  const problem = jsonProblem(input);
  if (problem !== null || typeof input !== "object" || input === null || Array.isArray(input)) {
    throw new ValidationFailed([{ field: "collection", message: problem ?? "must be an object" }]);
  }
  const { value, faults } = checkShape(collectionShape, input);
  for (const fault of faults) report(shownPath(fault.path).slice(1), fault.message);
  if (faults.length > 0) {
    const { fields } = input as { readonly fields?: unknown };
    if (Array.isArray(fields)) parseFields(fields, isUsers, report);
    throw new ValidationFailed(entries);
  }
  const given = value as Partial<Omit<CollectionContent, "fields" | "indexes">> & { fields?: readonly unknown[]; indexes?: readonly unknown[] };

  const name = given.name ?? existing?.name ?? "";
  if (name === "") report("name", "is required");
  if (isUsers && name !== existing?.name) report("name", "users cannot be renamed");
  const fields = given.fields === undefined ? existing?.fields ?? [] : parseFields(given.fields, isUsers, report);
  const fieldsAreWhole = entries.length === 0;
  const indexes = given.indexes === undefined ? existing?.indexes ?? [] : parseIndexes(given.indexes, report);
  if (fieldsAreWhole) checkIndexes(indexes, fields, report);
  if (isUsers && given.realtime === true) report("realtime", "realtime cannot be switched on for users");
  if (entries.length > 0) throw new ValidationFailed(entries);

  const rules = Object.fromEntries(ruleNames.map((rule) => [rule, given[rule] === undefined ? existing?.[rule] ?? null : given[rule]])) as Record<RuleName, string | null>;
  return { name, fields, indexes, ...rules, realtime: isUsers ? false : given.realtime ?? existing?.realtime ?? true };
}

/** `users` as each tenant starts with it, but for its rules (rules/presets.ts). */
export const initialUsers: Pick<CollectionContent, "name" | "fields" | "indexes" | "realtime"> = {
  name: "users", fields: coreUserFields, indexes: [{ fields: ["email"], unique: false }], realtime: false,
};

function parseIndexes(input: readonly unknown[], report: Report): Index[] {
  const indexes: Index[] = [];
  input.forEach((entry, position) => {
    const { value, faults } = checkShape(indexShape, entry);
    for (const fault of faults) report(`indexes[${position}]${shownPath(fault.path)}`, fault.message);
    if (faults.length === 0) indexes.push(value as Index);
  });
  return indexes;
}

function checkIndexes(indexes: readonly Index[], fields: readonly Field[], report: Report): void {
  const known = new Map(fields.map((field) => [field.name, field]));
  const seen = new Set<string>();
  indexes.forEach((index, position) => {
    index.fields.forEach((name, place) => {
      const path = `indexes[${position}].fields[${place}]`;
      const field = known.get(name);
      if (field === undefined && !(systemFields as readonly string[]).includes(name)) report(path, `${name} is no field of the collection`);
      else if (field !== undefined && !isComparable(field)) report(path, `${name} is a ${field.type} field, which cannot be indexed`);
      else if (field !== undefined && field.name === "password" && coreUserFields.includes(field)) report(path, "password cannot be indexed");
    });
    const key = index.fields.join(",");
    if (seen.has(key)) report(`indexes[${position}]`, "is there twice");
    seen.add(key);
  });
  if (indexes.length + fields.filter((field) => field.unique).length > maxIndexes) report("indexes", `a collection has at most ${maxIndexes} indexes, unique fields included`);
}
