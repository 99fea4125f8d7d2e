// Checks rows before the first of them is written: each by itself, against the rows before it, and against what is
// stored. What only the write can tell (hooks, races, unique indexes of several fields) is left to the write.
import type { FieldError } from "../core/errors.js";
import { isId } from "../core/ids.js";
import { fileReferences, type Json, type Scalar } from "../core/record.js";
import type { Collection } from "../collections/collection.js";
import type { Field, RelationField } from "../schema/collection.js";
import { kindOf } from "../schema/fields.js";
import { validateRecord } from "../schema/validate.js";
import { isOneOf, text } from "../storage/filter.js";
import type { TenantContext } from "../tenants/context.js";
import type { InputRow } from "./read-rows.js";

export interface CheckedRow extends InputRow {
  /** The id that the row brings along. */
  readonly id: string | undefined;
}

export interface RowChecker {
  /** The rows with everything wrong with them. */
  check(rows: readonly InputRow[]): Promise<CheckedRow[]>;
}

export interface CheckDeps {
  /** What is wrong with a password, as entries. */
  readonly passwordErrors: (value: unknown) => readonly FieldError[];
}

/** A checker remembers the rows that it has seen: one for each import. */
export function createRowChecker({ passwordErrors }: CheckDeps, context: TenantContext, collection: Collection): RowChecker {
  const fields = [...collection.fields.values()];
  const uniqueFields = fields.filter((field) => field.unique && kindOf(field) !== "json");
  const seen = new Map(uniqueFields.map((field) => [field.name, new Map<Scalar, number>()]));
  const ids = new Map<string, number>();

  function checkAlone({ row, body, faults }: InputRow): { readonly id: string | undefined; readonly values: Readonly<Record<string, Json>>; readonly faults: FieldError[] } {
    const found = [...faults];
    const broken = new Set(faults.map(({ field }) => field));
    const { values, errors } = validateRecord({ fields: collection.definition.fields, isUsers: collection.isUsers, body, mode: "create" });
    found.push(...errors.filter(({ field }) => !broken.has(field)));
    if (collection.isUsers) found.push(...(body["password"] === undefined ? [{ field: "password", message: "is required" }] : passwordErrors(body["password"])));
    for (const field of collection.files) {
      const given = body[field.name];
      const isEmpty = given === undefined || given === null || (Array.isArray(given) && given.length === 0);
      if (!isEmpty) found.push({ field: field.name, message: fileReferences(given).length > 0 || typeof given === "string" ? "names files, which an import cannot bring: leave it out, or use backup and restore" : "must be null" });
      else if (field.required) found.push({ field: field.name, message: "is required, and an import cannot bring files" });
    }
    const id = body["id"] === undefined || body["id"] === null ? undefined : body["id"];
    if (id !== undefined && !isId(id)) found.push({ field: "id", message: "must be a UUID in lower case; leave it out to have one made" });
    else if (id !== undefined) {
      const former = ids.get(id);
      if (former === undefined) ids.set(id, row);
      else found.push({ field: "id", message: `is the same as in row ${former}` });
    }
    for (const field of uniqueFields) {
      const value = values[field.name] as Scalar | undefined;
      if (value === null || value === undefined) continue;
      const former = seen.get(field.name)!.get(value);
      if (former === undefined) seen.get(field.name)!.set(value, row);
      else found.push({ field: field.name, message: `is the same as in row ${former}, and must be unique` });
    }
    return { id: isId(id) ? id : undefined, values, faults: found };
  }

  /** The values of these that are in the store already. */
  async function stored(table: string, field: Pick<Field, "name" | "type">, values: readonly Scalar[]): Promise<ReadonlySet<Json>> {
    if (values.length === 0) return new Set();
    const kind = kindOf(field as Field);
    const operand = { field: field.name, kind };
    const rows = await context.store.table(table).list({ filter: isOneOf(operand, values), limit: values.length * 2 + 1 });
    return new Set(rows.map((row) => row.record[field.name] ?? null));
  }

  async function storedIds(table: string, wanted: readonly string[]): Promise<ReadonlySet<string>> {
    if (wanted.length === 0) return new Set();
    const rows = await context.store.table(table).list({ filter: isOneOf(text("id"), wanted), limit: wanted.length });
    return new Set(rows.map((row) => row.id));
  }

  return {
    async check(rows) {
      const checked = rows.map((row) => ({ row, ...checkAlone(row) }));
      const own = await storedIds(collection.table, checked.flatMap(({ id }) => (id === undefined ? [] : [id])));
      for (const one of checked) if (one.id !== undefined && own.has(one.id)) one.faults.push({ field: "id", message: "is the id of a stored record" });
      for (const field of uniqueFields) {
        const taken = await stored(collection.table, field, checked.flatMap(({ values }) => scalar(values[field.name])));
        for (const one of checked) {
          const value = one.values[field.name] ?? null;
          if (value !== null && taken.has(value)) one.faults.push({ field: field.name, message: "is taken by a stored record" });
        }
      }
      for (const field of collection.relations) await checkRelation(field, checked);
      return checked.map(({ row, id, faults }) => ({ ...row, id, faults }));
    },
  };

  async function checkRelation(field: RelationField, checked: readonly { readonly row: InputRow; readonly values: Readonly<Record<string, Json>>; readonly faults: FieldError[] }[]): Promise<void> {
    const target = context.collections.get(field.collection);
    const wanted = checked.flatMap(({ values }) => scalar(values[field.name])) as string[];
    const there = target === undefined ? new Set<string>() : await storedIds(target.table, [...new Set(wanted)]);
    for (const { row, values, faults } of checked) {
      const id = values[field.name];
      if (typeof id !== "string" || there.has(id)) continue;
      const earlier = target === collection ? ids.get(id) : undefined;
      if (earlier === undefined || earlier > row.row) faults.push({ field: field.name, message: `names no record of ${field.collection}${earlier === undefined ? "" : ` yet: row ${earlier} must come first`}` });
    }
  }
}

function scalar(value: Json | undefined): Scalar[] {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? [value] : [];
}
