// One value against one field: its type and its limits, without any conversion between types.
import { isId } from "../core/ids.js";
import type { Json } from "../core/record.js";
import type { DateField, Field, NumberField, TextField } from "./collection.js";
import { parseTimestamp } from "./dates.js";
import { isEmail, isHttpUrl } from "./formats.js";
import { jsonProblem, maxJsonBytes, maxJsonDepth } from "./json-guard.js";
import { patternMatches } from "./patterns.js";
import { codePoints, hasBrokenText } from "./texts.js";

/** The value as it is stored, or what is wrong with it (a message that follows the field's name). */
export type Checked =
  | { readonly value: Json; readonly message?: undefined }
  | { readonly message: string };

/** What is said of a required field without a value. */
export const requiredMessage = "is required";

/**
 * Checks a value that is present: null passes where the field is not required. Of FILE values only null passes:
 * what a body may say of files is for files/ to read.
 */
export function checkValue(field: Field, value: unknown): Checked {
  if (value === null || value === undefined || (value === "" && field.required && field.type !== "JSON")) {
    return field.required ? { message: requiredMessage } : { value: null };
  }
  switch (field.type) {
    case "TEXT": return checkText(field, value);
    case "NUMBER": return checkNumber(field, value);
    case "BOOLEAN": return typeof value === "boolean" ? { value } : { message: "must be true or false" };
    case "DATE": return checkDate(field, value);
    case "EMAIL": return typeof value === "string" && isEmail(value) ? { value } : { message: "must be one e-mail address" };
    case "URL": return typeof value === "string" && isHttpUrl(value) ? { value } : { message: "must be an http or https URL" };
    case "SELECT": return typeof value === "string" && field.values.includes(value) ? { value } : { message: `must be one of ${field.values.join(", ")}` };
    case "RELATION": return isId(value) ? { value } : { message: `must be the id of a record of ${field.collection}` };
    case "JSON": return checkJsonValue(value);
    case "FILE": return { message: "must be null: files are given by upload" };
  }
}

function checkText(field: TextField, value: unknown): Checked {
  if (typeof value !== "string") return { message: "must be a text" };
  // A text never has more code points than UTF-16 units, so most need no counting.
  if (value.length > field.maxLength && codePoints(value) > field.maxLength) return { message: `must have at most ${field.maxLength} characters` };
  if (field.minLength !== null && codePoints(value) < field.minLength) return { message: `must have at least ${field.minLength} characters` };
  if (hasBrokenText(value)) return { message: "must not hold a NUL character or half of a surrogate pair" };
  if (field.pattern !== null && !patternMatches(field.pattern, value)) return { message: `must match the pattern ${field.pattern}` };
  return { value };
}

function checkNumber(field: NumberField, value: unknown): Checked {
  if (typeof value !== "number" || !Number.isFinite(value)) return { message: "must be a number" };
  if (field.integer && !Number.isInteger(value)) return { message: "must be a whole number" };
  if (field.min !== null && value < field.min) return { message: `must be at least ${field.min}` };
  if (field.max !== null && value > field.max) return { message: `must be at most ${field.max}` };
  return { value: value === 0 ? 0 : value };
}

function checkDate(field: DateField, value: unknown): Checked {
  const timestamp = typeof value === "string" ? parseTimestamp(value) : null;
  if (timestamp === null) return { message: "must be a date or timestamp (ISO 8601), such as 2026-01-31 or 2026-01-31T10:00:00Z" };
  if (field.min !== null && timestamp < field.min) return { message: `must not be before ${field.min}` };
  if (field.max !== null && timestamp > field.max) return { message: `must not be after ${field.max}` };
  return { value: timestamp };
}

function checkJsonValue(value: unknown): Checked {
  const problem = jsonProblem(value, maxJsonDepth);
  if (problem !== null) return { message: problem };
  const json = value as Json;
  if (Buffer.byteLength(JSON.stringify(json)) > maxJsonBytes) return { message: "must be at most 64 KiB of JSON" };
  return { value: json };
}
