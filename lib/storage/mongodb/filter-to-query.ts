// Turns a Filter into a MongoDB query. What MongoDB cannot say with exactly the filter's meaning becomes a wider
// query, and the reader runs `matcher(filter)` over what it finds.
import type { Filter as MongoFilter } from "mongodb";
import type { Scalar } from "../../core/record.js";
import { isField, type FieldOperand, type Filter, type Operand } from "../filter.js";
import { matches } from "../matches.js";
import { scalarToQuery, type RowDocument } from "./documents.js";
import { fieldPath } from "./names.js";

export type RowQuery = MongoFilter<RowDocument>;

export interface Translation {
  /** Finds every row that satisfies the filter; "nothing" where none can. */
  readonly query: RowQuery | "nothing";
  /** It finds no others. */
  readonly exact: boolean;
}

const everything: Translation = { query: {}, exact: true };
const nothing: Translation = { query: "nothing", exact: true };
const unknown: Translation = { query: {}, exact: false };

export function filterToQuery(filter: Filter): Translation {
  switch (filter.op) {
    case "all":
      return conjunction(filter.filters.map(filterToQuery));
    case "any":
      return disjunction(filter.filters.map(filterToQuery));
    case "not":
      return negation(filterToQuery(filter.filter));
    case "is":
      return equals(filter.field, filter.value);
    case "in":
      return isIn(filter.field, filter.values);
    case "less":
      return less(filter.left, filter.right, filter.orEqual);
    case "contains":
      return constant(filter, filter.text, filter.part) ?? unknown;
    case "same":
    case "includes":
      return unknown;
  }
}

function conjunction(parts: readonly Translation[]): Translation {
  const exact = parts.every((part) => part.exact);
  if (parts.some((part) => part.query === "nothing")) return nothing;
  const queries = parts.map((part) => part.query as RowQuery).filter((query) => !isEmpty(query));
  if (queries.length === 0) return exact ? everything : unknown;
  return { query: queries.length === 1 ? queries[0]! : { $and: queries }, exact };
}

function disjunction(parts: readonly Translation[]): Translation {
  const open = parts.filter((part) => part.query !== "nothing");
  if (open.length === 0) return nothing;
  if (open.some((part) => part.exact && isEmpty(part.query as RowQuery))) return everything;
  const exact = open.every((part) => part.exact);
  const queries = open.map((part) => part.query as RowQuery);
  if (queries.some(isEmpty)) return unknown;
  return { query: queries.length === 1 ? queries[0]! : { $or: queries }, exact };
}

function negation({ query, exact }: Translation): Translation {
  if (!exact) return unknown;
  if (query === "nothing") return everything;
  return isEmpty(query) ? nothing : { query: { $nor: [query] }, exact: true };
}

function equals(field: FieldOperand, value: Scalar): Translation {
  if (isInside(field)) return unknown;
  if (value === null && field.field === "id") return nothing;
  return { query: condition(field, "$eq", value), exact: true };
}

function isIn(field: FieldOperand, list: readonly Scalar[]): Translation {
  if (isInside(field)) return unknown;
  const values = list.filter((value) => value !== null && !Number.isNaN(value));
  if (values.length === 0) return nothing;
  return { query: values.length === 1 ? condition(field, "$eq", values[0]!) : condition(field, "$in", values), exact: true };
}

function less(left: Operand, right: Operand, orEqual: boolean): Translation {
  const folded = constant({ op: "less", left, right, orEqual }, left, right);
  if (folded !== undefined) return folded;
  if (isField(left) && isField(right)) return unknown;
  const field = (isField(left) ? left : right) as FieldOperand;
  const { value } = (isField(left) ? right : left) as { value: Scalar };
  if (typeof value !== "string" && typeof value !== "number") return nothing;
  if (isInside(field)) return unknown;
  const operator = `${isField(left) ? "$lt" : "$gt"}${orEqual ? "e" : ""}`;
  return { query: condition(field, operator, value), exact: true };
}

/** The answer where both operands are values. */
function constant(filter: Filter, left: Operand, right: Operand): Translation | undefined {
  if (isField(left) || isField(right)) return undefined;
  return matches(filter, {}) ? everything : nothing;
}

/** Always an operator with a typed value: nothing of a client's is ever read as an operator. */
export function condition({ field }: Pick<FieldOperand, "field">, operator: string, value: Scalar | readonly Scalar[]): RowQuery {
  return { [fieldPath(field)]: { [operator]: Array.isArray(value) ? value.map(scalarToQuery) : scalarToQuery(value as Scalar) } } as RowQuery;
}

function isInside({ path }: FieldOperand): boolean {
  return path !== undefined && path.length > 0;
}

function isEmpty(query: RowQuery): boolean {
  return Object.keys(query).length === 0;
}
