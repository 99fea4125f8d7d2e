// Text to a field's typed value: parts of a form and the values of `filter=<field>:eq:<value>`.
import type { Json } from "../core/record.js";
import type { Field } from "./collection.js";
import { parseTimestamp } from "./dates.js";

/** The value, or what is wrong with the text (a message that follows the field's name). */
export type Converted = { readonly value: Json } | { readonly error: string };

const number = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** The text as a value of the field's type. The field's limits are not looked at. A FILE field has no text. */
export function convertText(field: Pick<Field, "type">, text: string): Converted {
  switch (field.type) {
    case "NUMBER": {
      const value = number.test(text) ? Number(text) : Number.NaN;
      return Number.isFinite(value) ? { value: value === 0 ? 0 : value } : { error: "must be a number" };
    }
    case "BOOLEAN":
      return text === "true" || text === "false" ? { value: text === "true" } : { error: "must be true or false" };
    case "DATE": {
      const value = parseTimestamp(text);
      return value === null ? { error: "must be a date or timestamp (ISO 8601)" } : { value };
    }
    case "JSON":
      try {
        return { value: JSON.parse(text) as Json };
      } catch {
        return { error: "must be JSON text" };
      }
    case "FILE":
      return { error: "must be a file" };
    default:
      return { value: text };
  }
}
