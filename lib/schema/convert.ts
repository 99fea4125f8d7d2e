// Text to a field's typed value: multipart parts and the values of `filter=<field>:eq:<value>`.
import type { Json, Scalar } from "../core/record.js";
import type { Field } from "./collection.js";
import { parseTimestamp } from "./dates.js";

export type Converted<T> =
  | { readonly value: T; readonly message?: undefined }
  | { readonly message: string };

const number = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/**
 * A multipart part's text as the value that a JSON body would have. An empty text is null, but for TEXT: a form cannot
 * say null in another way. Limits are not checked here, `validateRecord` does.
 */
export function convertPart(field: Field, text: string): Converted<Json> {
  if (field.type === "TEXT") return { value: text };
  if (text === "") return { value: null };
  if (field.type === "FILE") return { message: "must be a file, or empty to remove it" };
  if (field.type !== "JSON") return convertScalar(field.type, text);
  try {
    return { value: JSON.parse(text) as Json };
  } catch {
    return { message: "must be JSON text" };
  }
}

/** A filter's value. `type` of the system fields: `TEXT` for `id`, `DATE` for `createdAt` and `updatedAt`. Never JSON or FILE. */
export function convertFilterValue(type: Exclude<Field["type"], "JSON" | "FILE">, text: string): Converted<Scalar> {
  return convertScalar(type, text);
}

function convertScalar(type: Exclude<Field["type"], "JSON" | "FILE">, text: string): Converted<Scalar> {
  switch (type) {
    case "NUMBER": {
      const value = number.test(text) ? Number(text) : Number.NaN;
      return Number.isFinite(value) ? { value: value === 0 ? 0 : value } : { message: "must be a number" };
    }
    case "BOOLEAN":
      return text === "true" || text === "false" ? { value: text === "true" } : { message: "must be true or false" };
    case "DATE": {
      const value = parseTimestamp(text);
      return value === null ? { message: "must be a date or timestamp (ISO 8601)" } : { value };
    }
    default:
      return { value: text };
  }
}
