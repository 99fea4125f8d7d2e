// Comparisons: two sides, each a field of the record or a value known when the rule is bound, to a Filter.
import type { Json, Scalar } from "../core/record.js";
import { parseTimestamp } from "../schema/dates.js";
import { always, any, compareText, is, isOneOf, never, type FieldOperand, type Filter, type ValueKind } from "../storage/filter.js";
import type { RuleContext } from "./rule.js";

/** A value that is known once the context is. */
export type Read = (context: RuleContext) => Json;
/** Gives the Filter for a context. */
export type Binder = (context: RuleContext) => Filter;

export type Side =
  | { readonly field: FieldOperand }
  | { readonly read: Read };

/** `left = right`; neither is the literal null. */
export function bindEqual(left: Side, right: Side): Binder {
  if ("field" in left) {
    if ("field" in right) return constant({ op: "same", left: left.field, right: right.field });
    const { field } = left;
    const { read } = right;
    return (context) => equals(field, read(context));
  }
  if ("field" in right) return bindEqual(right, left);
  return (context) => {
    const value = left.read(context);
    return isValue(value) && value === right.read(context) ? always : never;
  };
}

/** `side = null`. */
export function bindNull(side: Side): Binder {
  if ("field" in side) return constant(is(side.field, null));
  return (context) => (side.read(context) === null ? always : never);
}

/** A bare boolean operand. */
export function bindTruth(side: Side): Binder {
  if ("field" in side) return constant(is(side.field, true));
  return (context) => (side.read(context) === true ? always : never);
}

/** `left < right`, or `left <= right`. */
export function bindLess(left: Side, right: Side, orEqual: boolean): Binder {
  if ("field" in left) {
    const { field } = left;
    if ("field" in right) return constant({ op: "less", left: field, right: right.field, orEqual });
    return (context) => {
      const value = right.read(context);
      return isOrdered(value) && fits(field.kind, value) ? { op: "less", left: field, right: { value }, orEqual } : never;
    };
  }
  if ("field" in right) {
    const { field } = right;
    return (context) => {
      const value = left.read(context);
      return isOrdered(value) && fits(field.kind, value) ? { op: "less", left: { value }, right: field, orEqual } : never;
    };
  }
  return (context) => (isLess(left.read(context), right.read(context), orEqual) ? always : never);
}

/** `text ~ part`. */
export function bindContains(text: Side, part: Side): Binder {
  if ("field" in text) {
    const { field } = text;
    if ("field" in part) return constant({ op: "contains", text: field, part: part.field });
    return (context) => {
      const value = part.read(context);
      return typeof value === "string" ? { op: "contains", text: field, part: { value } } : never;
    };
  }
  if ("field" in part) {
    const { field } = part;
    return (context) => {
      const value = text.read(context);
      return typeof value === "string" ? { op: "contains", text: { value }, part: field } : never;
    };
  }
  return (context) => {
    const whole = text.read(context);
    const piece = part.read(context);
    return typeof whole === "string" && typeof piece === "string" && whole.toLowerCase().includes(piece.toLowerCase()) ? always : never;
  };
}

/** `field in [items]`: values of the context and of the source in one set, other fields one by one. */
export function bindInList(field: FieldOperand, items: readonly Side[]): Binder {
  const reads = items.flatMap((item) => ("read" in item ? [item.read] : []));
  const others = items.flatMap((item) => ("field" in item ? [item.field] : []));
  const same = any(...others.map((other): Filter => ({ op: "same", left: field, right: other })));
  return (context) => any(isAmong(field, reads.map((read) => read(context))), same);
}

/** `item in list`, where the list is a JSON field or a JSON value of the context. */
export function bindInJson(item: Side, list: Side, normalise: (value: Json) => Json): Binder {
  if ("field" in list) {
    const { field } = list;
    if ("field" in item) return constant({ op: "includes", list: field, item: item.field });
    return (context) => {
      const value = item.read(context);
      return isValue(value) ? { op: "includes", list: field, item: { value } } : never;
    };
  }
  return (context) => {
    const values = list.read(context);
    if (!Array.isArray(values)) return never;
    const items = (values as readonly Json[]).map(normalise);
    if ("field" in item) return isAmong(item.field, items);
    const value = item.read(context);
    return isValue(value) && items.includes(value) ? always : never;
  };
}

/** A text that stands for a date, as dates are kept; what cannot be read as one equals nothing. */
export function toTimestamp(value: Json): Json {
  return typeof value === "string" ? parseTimestamp(value) : value;
}

function constant(filter: Filter): Binder {
  return () => filter;
}

function equals(field: FieldOperand, value: Json): Filter {
  return isValue(value) && fits(field.kind, value) ? is(field, value) : never;
}

function isAmong(field: FieldOperand, values: readonly Json[]): Filter {
  const kept = values.filter((value): value is Scalar => isValue(value) && fits(field.kind, value));
  return kept.length === 1 ? is(field, kept[0]!) : isOneOf(field, kept);
}

function isValue(value: Json | undefined): value is NonNullable<Scalar> {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function isOrdered(value: Json): value is string | number {
  return typeof value === "string" || typeof value === "number";
}

/** Whether a field of this kind can hold the value at all. */
function fits(kind: ValueKind, value: NonNullable<Scalar>): boolean {
  if (kind === "json") return true;
  return typeof value === (kind === "text" ? "string" : kind);
}

function isLess(left: Json, right: Json, orEqual: boolean): boolean {
  if (typeof left === "number" && typeof right === "number") return orEqual ? left <= right : left < right;
  if (typeof left !== "string" || typeof right !== "string") return false;
  const order = compareText(left, right);
  return orEqual ? order <= 0 : order < 0;
}
