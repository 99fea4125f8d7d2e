// Reads the query parameters of a list into a query of the store (interface, List query parameters; contract 5).
import { BadRequest } from "../core/errors.js";
import type { Scalar } from "../core/record.js";
import type { Collection } from "../collections/collection.js";
import { convertText } from "../schema/convert.js";
import type { Field } from "../schema/collection.js";
import { is, text, type FieldOperand, type Filter } from "../storage/filter.js";
import type { Sort } from "../storage/storage.js";

export interface ListParameters {
  readonly offset?: string | number | undefined;
  readonly limit?: string | number | undefined;
  readonly filter?: string | undefined;
  readonly sort?: string | undefined;
  readonly where?: string | undefined;
  readonly fields?: string | undefined;
  readonly cursor?: string | undefined;
  readonly expand?: string | undefined;
  readonly count?: string | boolean | undefined;
}

export const listParameterNames: ReadonlySet<string> = new Set(["offset", "limit", "filter", "sort", "where", "fields", "cursor", "expand", "count"]);

const defaultLimit = 25;
const maxLimit = 100;

/** Omitted or not positive: 25; above 100: 100. Throws BadRequest where it is no integer. */
export function readLimit(value: string | number | undefined): number {
  const limit = readInteger("limit", value);
  return limit === undefined || limit <= 0 ? defaultLimit : Math.min(limit, maxLimit);
}

/** Omitted or negative: 0. */
export function readOffset(value: string | number | undefined): number {
  return Math.max(0, readInteger("offset", value) ?? 0);
}

function readInteger(name: string, value: string | number | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^[+-]?\d{1,30}$/.test(String(value))) throw new BadRequest(`${name} must be an integer`);
  const integer = Number(value);
  return Math.max(Math.min(integer, Number.MAX_SAFE_INTEGER), Number.MIN_SAFE_INTEGER);
}

export function readCount(value: string | boolean | undefined): boolean {
  if (value === undefined || value === "false" || value === false) return false;
  if (value === "true" || value === true) return true;
  throw new BadRequest("count must be true or false");
}

/** `<field>:eq:<value>`; further colons belong to the value. */
export function readFilter(collection: Collection, filter: string | undefined): Filter | undefined {
  if (filter === undefined) return undefined;
  const match = /^([^:]*):([^:]*):(.*)$/s.exec(filter);
  if (match === null) throw new BadRequest("filter must have the form <field>:eq:<value>");
  const [, name, operator, value] = match as unknown as [string, string, string, string];
  if (operator !== "eq") throw new BadRequest(`filter knows the operator eq only, not ${shown(operator)}`);
  if (name === "id") return is(text(name), value);
  const field = isSystemField(name) ? systemDate(name) : fieldOf(collection, "filter", name);
  const converted = convertText(field, value);
  if ("error" in converted) throw new BadRequest(`filter: ${name} ${converted.error}`);
  return is(operandOf(field), converted.value as Scalar);
}

/** `<field>:asc` or `<field>:desc`. */
export function readSort(collection: Collection, sort: string | undefined): Sort | undefined {
  if (sort === undefined) return undefined;
  const match = /^([^:]*):(asc|desc)$/.exec(sort);
  if (match === null) throw new BadRequest("sort must have the form <field>:asc or <field>:desc");
  const [, name, direction] = match as unknown as [string, string, string];
  const descending = direction === "desc";
  if (isSystemField(name)) return { field: name, kind: "text", descending };
  const operand = operandOf(fieldOf(collection, "sort", name));
  return { field: name, kind: operand.kind as Sort["kind"], descending };
}

/** Names of `fields=a,b`; undefined: all. */
export function readFields(collection: Collection, fields: string | undefined): readonly string[] | undefined {
  if (fields === undefined) return undefined;
  const names = fields.split(",").map((name) => name.trim()).filter((name) => name !== "");
  for (const name of names) {
    if (!isSystemField(name) && !collection.fields.has(name)) throw new BadRequest(`fields: ${shown(name)} is no field of ${collection.name}`);
  }
  return names;
}

/** How a field is stored, for filters and sorts. */
export function operandOf(field: Field): FieldOperand {
  switch (field.type) {
    case "NUMBER": return { field: field.name, kind: "number" };
    case "BOOLEAN": return { field: field.name, kind: "boolean" };
    case "JSON":
    case "FILE": return { field: field.name, kind: "json" };
    default: return { field: field.name, kind: "text" };
  }
}

function fieldOf(collection: Collection, parameter: string, name: string): Field {
  const field = collection.fields.get(name);
  if (field === undefined) throw new BadRequest(`${parameter}: ${shown(name)} is no field of ${collection.name}`);
  if (field.type === "JSON" || field.type === "FILE") throw new BadRequest(`${parameter}: ${name} is a ${field.type} field, which cannot be used here`);
  return field;
}

function systemDate(name: string): Field {
  return { type: "DATE", name, required: true, unique: false, default: null, min: null, max: null };
}

function isSystemField(name: string): boolean {
  return name === "id" || name === "createdAt" || name === "updatedAt";
}

/** A client's text in an error: quoted, and not longer than it helps. */
function shown(value: string): string {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}
