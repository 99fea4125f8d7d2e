// Filter: the one small neutral tree that rules and queries compile to. Stores run it as a query, `matcher(filter)`
// (matches.ts) runs it in memory; both give the same answer on the same record, which the conformance suite holds.
//
// Every node is two-valued: on a null, absent or wrongly typed operand a node is false, and `not` is its exact
// opposite. There is no coercion: "1" and 1 are different values, and so are 1 and true.
import type { Scalar } from "../core/record.js";

/** What a field holds as stored. `json` is any JSON value: its type is known only at run time. */
export type ValueKind = "text" | "number" | "boolean" | "json";

/** A field of the record (system fields included), or with `path` (kind `json`) a member inside a JSON field. */
export interface FieldOperand {
  readonly field: string;
  readonly kind: ValueKind;
  readonly path?: readonly string[];
}

export interface ValueOperand {
  readonly value: Scalar;
}

export type Operand = FieldOperand | ValueOperand;

export type Filter =
  /** Each of them; with none: true. */
  | { readonly op: "all"; readonly filters: readonly Filter[] }
  /** At least one of them; with none: false. */
  | { readonly op: "any"; readonly filters: readonly Filter[] }
  | { readonly op: "not"; readonly filter: Filter }
  /** The field holds exactly this scalar, same type; `null` also where it is absent. */
  | { readonly op: "is"; readonly field: FieldOperand; readonly value: Scalar }
  /** Two fields hold the same scalar, same type, and neither is null. */
  | { readonly op: "same"; readonly left: FieldOperand; readonly right: FieldOperand }
  /** left < right (`orEqual`: <=). Two numbers, or two texts by code point; anything else is false. */
  | { readonly op: "less"; readonly left: Operand; readonly right: Operand; readonly orEqual: boolean }
  /** `text` has `part` in it, both texts, compared after `toLowerCase()`. An empty part is in every text. */
  | { readonly op: "contains"; readonly text: Operand; readonly part: Operand }
  /** The field holds one of these non-null scalars, same type. */
  | { readonly op: "in"; readonly field: FieldOperand; readonly values: readonly Scalar[] }
  /** `list` (kind `json`) holds an array that has the non-null scalar `item` as an element, same type. */
  | { readonly op: "includes"; readonly list: FieldOperand; readonly item: Operand };

export const always: Filter = { op: "all", filters: [] };
export const never: Filter = { op: "any", filters: [] };

export function isAlways(filter: Filter): boolean {
  return filter.op === "all" && filter.filters.length === 0;
}

export function isNever(filter: Filter): boolean {
  return filter.op === "any" && filter.filters.length === 0;
}

/** Conjunction with constants folded and nested conjunctions flattened. */
export function all(...filters: readonly Filter[]): Filter {
  const kept: Filter[] = [];
  for (const filter of filters) {
    if (isNever(filter)) return never;
    if (filter.op === "all") kept.push(...filter.filters);
    else kept.push(filter);
  }
  return kept.length === 1 ? kept[0]! : { op: "all", filters: kept };
}

/** Disjunction with constants folded and nested disjunctions flattened. */
export function any(...filters: readonly Filter[]): Filter {
  const kept: Filter[] = [];
  for (const filter of filters) {
    if (isAlways(filter)) return always;
    if (filter.op === "any") kept.push(...filter.filters);
    else kept.push(filter);
  }
  return kept.length === 1 ? kept[0]! : { op: "any", filters: kept };
}

/** Negation; constants and double negations folded. */
export function not(filter: Filter): Filter {
  if (isAlways(filter)) return never;
  if (isNever(filter)) return always;
  return filter.op === "not" ? filter.filter : { op: "not", filter };
}

export function is(field: FieldOperand, value: Scalar): Filter {
  return { op: "is", field, value };
}

export function isOneOf(field: FieldOperand, values: readonly Scalar[]): Filter {
  const kept = values.filter((value) => value !== null);
  return kept.length === 0 ? never : { op: "in", field, values: kept };
}

/** Operands for code that names fields by hand (internal tables, system fields). */
export const text = (field: string): FieldOperand => ({ field, kind: "text" });
export const number = (field: string): FieldOperand => ({ field, kind: "number" });
export const boolean = (field: string): FieldOperand => ({ field, kind: "boolean" });

export function isField(operand: Operand): operand is FieldOperand {
  return "field" in operand;
}

/** Compares texts by code point, as SQLite (UTF-8 bytes) and MongoDB do; JavaScript's own order is by UTF-16 unit. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) {
      const leftIsSurrogate = left >= 0xd800 && left <= 0xdfff;
      const rightIsSurrogate = right >= 0xd800 && right <= 0xdfff;
      return leftIsSurrogate === rightIsSurrogate ? left - right : leftIsSurrogate ? 1 : -1;
    }
  }
  return a.length - b.length;
}
