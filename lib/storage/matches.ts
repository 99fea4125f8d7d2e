// Runs a Filter in memory, on one record. The same meaning as the stores' queries.
import type { Json, JsonObject, Scalar } from "../core/record.js";
import { compareText, isField, type FieldOperand, type Filter, type Operand } from "./filter.js";

type Predicate = (record: JsonObject) => boolean;
type Getter = (record: JsonObject) => Json | undefined;

/** Whether the record satisfies the filter. For one filter over many records, compile once with `matcher`. */
export function matches(filter: Filter, record: JsonObject): boolean {
  return matcher(filter)(record);
}

/** Compiles the filter to a predicate. */
export function matcher(filter: Filter): Predicate {
  switch (filter.op) {
    case "all": {
      const parts = filter.filters.map(matcher);
      if (parts.length === 2) {
        const [first, second] = parts as [Predicate, Predicate];
        return (record) => first(record) && second(record);
      }
      return (record) => parts.every((part) => part(record));
    }
    case "any": {
      const parts = filter.filters.map(matcher);
      return (record) => parts.some((part) => part(record));
    }
    case "not": {
      const part = matcher(filter.filter);
      return (record) => !part(record);
    }
    case "is": {
      const get = getter(filter.field);
      const { value } = filter;
      return value === null ? (record) => (get(record) ?? null) === null : (record) => get(record) === value;
    }
    case "same": {
      const left = getter(filter.left);
      const right = getter(filter.right);
      return (record) => {
        const value = left(record);
        return isValue(value) && value === right(record);
      };
    }
    case "less": {
      const left = operand(filter.left);
      const right = operand(filter.right);
      const { orEqual } = filter;
      return (record) => isLess(left(record), right(record), orEqual);
    }
    case "contains": {
      const text = operand(filter.text);
      const part = operand(filter.part);
      return (record) => {
        const whole = text(record);
        const piece = part(record);
        return typeof whole === "string" && typeof piece === "string" && whole.toLowerCase().includes(piece.toLowerCase());
      };
    }
    case "in": {
      const get = getter(filter.field);
      const values = new Set<Json | undefined>(filter.values.filter((value) => value !== null));
      return (record) => values.has(get(record));
    }
    case "includes": {
      const get = getter(filter.list);
      const item = operand(filter.item);
      return (record) => {
        const list = get(record);
        const value = item(record);
        return isValue(value) && Array.isArray(list) && list.includes(value);
      };
    }
  }
}

function isValue(value: Json | undefined): value is NonNullable<Scalar> {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function isLess(left: Json | undefined, right: Json | undefined, orEqual: boolean): boolean {
  if (typeof left === "number" && typeof right === "number") return orEqual ? left <= right : left < right;
  if (typeof left === "string" && typeof right === "string") {
    const order = compareText(left, right);
    return orEqual ? order <= 0 : order < 0;
  }
  return false;
}

function operand(of: Operand): Getter {
  if (isField(of)) return getter(of);
  const { value } = of;
  return () => value;
}

function getter({ field, path }: FieldOperand): Getter {
  if (path === undefined || path.length === 0) {
    return (record) => (Object.hasOwn(record, field) ? record[field] : undefined);
  }
  return (record) => {
    let value: Json | undefined = Object.hasOwn(record, field) ? record[field] : undefined;
    for (const member of path) {
      if (typeof value !== "object" || value === null || Array.isArray(value) || !Object.hasOwn(value, member)) return undefined;
      value = (value as JsonObject)[member];
    }
    return value;
  };
}
