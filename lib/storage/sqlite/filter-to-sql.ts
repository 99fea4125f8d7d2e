// Compiles a Filter to parameterised SQL over `r`, the table of records. NULL counts as false throughout, and `not`
// makes it true with IS NOT TRUE, so that every node has two values and agrees with matches() on every record.
import { BadRequest } from "../../core/errors.js";
import { isField, type FieldOperand, type Filter, type Operand, type ValueKind } from "../filter.js";
import { matches } from "../matches.js";
import type { SqlValue } from "./driver.js";
import { fieldToSql, quotePath } from "./names.js";

type ScalarKind = Exclude<ValueKind, "json">;

export interface Sql {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

const yes = "1";
const no = "0";
const scalarKinds: readonly ScalarKind[] = ["text", "number", "boolean"];
/** SQLite itself allows expressions 1000 deep; a level here takes up to two. */
const deepest = 400;
/** From here on, lists of values travel as one JSON parameter, so that their length makes no new statement. */
const shortList = 16;

/** The filter as a condition; `1` and `0` where it is constant. Throws BadRequest where it is nested too deeply. */
export function filterToSql(filter: Filter): Sql {
  const values: SqlValue[] = [];
  return { text: compile(filter, values, 0), values };
}

function compile(filter: Filter, values: SqlValue[], depth: number): string {
  if (depth > deepest) throw new BadRequest(`The filter is nested more than ${deepest} levels deep: write it flatter`);
  switch (filter.op) {
    case "all":
      return junction(filter.filters, values, depth, " AND ", no, yes);
    case "any":
      return junction(filter.filters, values, depth, " OR ", yes, no);
    case "not": {
      const part = compile(filter.filter, values, depth + 1);
      return part === yes ? no : part === no ? yes : `((${part}) IS NOT TRUE)`;
    }
    case "is":
      return filter.value === null
        ? `${anyValue(filter.field)} IS NULL`
        : compare("=", scalarKinds, filter.field, { value: filter.value }, values);
    case "same":
      return compare("=", scalarKinds, filter.left, filter.right, values);
    case "less":
      if (!isField(filter.left) && !isField(filter.right)) return matches(filter, {}) ? yes : no;
      return compare(filter.orEqual ? "<=" : "<", ["text", "number"], filter.left, filter.right, values);
    case "contains":
      if (!isField(filter.text) && !isField(filter.part)) return matches(filter, {}) ? yes : no;
      return contains(filter.text, filter.part, values);
    case "in":
      return isIn(filter.field, filter.values, values);
    case "includes":
      return includes(filter.list, filter.item, values);
  }
}

function junction(
  filters: readonly Filter[], values: SqlValue[], depth: number, operator: string, zero: string, one: string,
): string {
  const start = values.length;
  const parts: string[] = [];
  for (const filter of filters) {
    const before = values.length;
    const part = compile(filter, values, depth + 1);
    if (part === zero) {
      values.length = start;
      return zero;
    }
    if (part === one) continue;
    // A rule and a client's own filter often ask the same: once is enough.
    if (isRepeated(part, parts, values, start, before)) values.length = before;
    else parts.push(part);
  }
  return parts.length === 0 ? one : balance(parts, operator);
}

/** Whether the part, whose values begin at `before`, says the same as the only one in front of it. */
function isRepeated(part: string, parts: readonly string[], values: readonly SqlValue[], start: number, before: number): boolean {
  if (parts.length !== 1 || parts[0] !== part || values.length - before !== before - start) return false;
  for (let index = before; index < values.length; index += 1) if (values[index] !== values[index - before + start]) return false;
  return true;
}

/** A long chain as a balanced tree: SQLite counts the depth of the left-deep one that it would parse. */
function balance(parts: readonly string[], operator: string): string {
  if (parts.length === 1) return parts[0]!;
  if (parts.length <= 8) return `(${parts.join(operator)})`;
  const middle = parts.length >> 1;
  return `(${balance(parts.slice(0, middle), operator)}${operator}${balance(parts.slice(middle), operator)})`;
}

/** Whether the operand's kind is known before the row is seen. */
function isDynamic({ kind, path }: FieldOperand): boolean {
  return kind === "json" || (path !== undefined && path.length > 0);
}

function anyValue(field: FieldOperand): string {
  return isDynamic(field) ? `json_extract(r.doc,${quotePath(field.field, field.path)})` : fieldToSql(field.field, field.kind as ScalarKind, "r.");
}

/** The operand where it is of this kind, else NULL; undefined where it never is. */
function typed(operand: Operand, kind: ScalarKind, values: SqlValue[]): string | undefined {
  if (!isField(operand)) {
    const { value } = operand;
    if (kind === "text" && typeof value === "string") values.push(value);
    else if (kind === "number" && typeof value === "number" && !Number.isNaN(value)) values.push(value);
    else if (kind === "boolean" && typeof value === "boolean") return value ? "1" : "0";
    else return undefined;
    return "?";
  }
  if (!isDynamic(operand)) return operand.kind === kind ? fieldToSql(operand.field, kind, "r.") : undefined;
  const path = quotePath(operand.field, operand.path);
  switch (kind) {
    case "text":
      return `(CASE WHEN json_type(r.doc,${path})='text' THEN json_extract(r.doc,${path}) END)`;
    case "number":
      return `(CASE WHEN json_type(r.doc,${path}) IN ('integer','real') THEN json_extract(r.doc,${path})+0.0 END)`;
    case "boolean":
      return `(CASE json_type(r.doc,${path}) WHEN 'true' THEN 1 WHEN 'false' THEN 0 END)`;
  }
}

function compare(operator: string, kinds: readonly ScalarKind[], left: Operand, right: Operand, values: SqlValue[]): string {
  const parts: string[] = [];
  for (const kind of kinds) {
    const start = values.length;
    const first = typed(left, kind, values);
    const second = first === undefined ? undefined : typed(right, kind, values);
    if (second === undefined) values.length = start;
    else parts.push(`${first!}${operator}${second}`);
  }
  return parts.length === 0 ? no : balance(parts, " OR ");
}

function contains(text: Operand, part: Operand, values: SqlValue[]): string {
  const start = values.length;
  const whole = typed(text, "text", values);
  const piece = whole === undefined ? undefined : typed(part, "text", values);
  if (piece === undefined) {
    values.length = start;
    return no;
  }
  return `text_contains(${whole!},${piece})`;
}

function isIn(field: FieldOperand, list: readonly (string | number | boolean | null)[], values: SqlValue[]): string {
  const parts: string[] = [];
  for (const kind of scalarKinds) {
    const wanted = list.filter((value) => typeof value === (kind === "text" ? "string" : kind) && !Number.isNaN(value));
    if (wanted.length === 0) continue;
    const left = typed(field, kind, values);
    if (left === undefined) continue;
    if (wanted.length <= shortList) {
      const items = wanted.map((value) => {
        if (typeof value === "boolean") return value ? "1" : "0";
        values.push(value);
        return "?";
      });
      parts.push(items.length === 1 ? `${left}=${items[0]!}` : `${left} IN (${items.join(",")})`);
    } else {
      values.push(JSON.stringify(kind === "boolean" ? wanted.map(Number) : wanted.filter((value) => typeof value === "string" || Number.isFinite(value))));
      parts.push(`${left} IN (SELECT ${kind === "text" ? "value" : "value+0.0"} FROM json_each(?))`);
    }
  }
  return parts.length === 0 ? no : balance(parts, " OR ");
}

const elements: Readonly<Record<ScalarKind, string>> = {
  text: "(CASE WHEN e.type='text' THEN e.atom END)",
  number: "(CASE WHEN e.type IN ('integer','real') THEN e.atom+0.0 END)",
  boolean: "(CASE e.type WHEN 'true' THEN 1 WHEN 'false' THEN 0 END)",
};

function includes(list: FieldOperand, item: Operand, values: SqlValue[]): string {
  if (!isDynamic(list)) return no;
  const parts: string[] = [];
  for (const kind of scalarKinds) {
    const wanted = typed(item, kind, values);
    if (wanted !== undefined) parts.push(`${elements[kind]}=${wanted}`);
  }
  if (parts.length === 0) return no;
  const path = quotePath(list.field, list.path);
  return `(json_type(r.doc,${path})='array' AND EXISTS(SELECT 1 FROM json_each(r.doc,${path}) AS e WHERE ${balance(parts, " OR ")}))`;
}
