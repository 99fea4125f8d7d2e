// What a password must be like: text of 16 to 1024 characters (Unicode code points), nothing else.
import type { FieldError } from "../core/errors.js";

export const shortestPassword = 16;
export const longestPassword = 1024;

/** What is wrong with a new password; undefined where nothing is. */
export function passwordFault(value: unknown): string | undefined {
  if (typeof value !== "string") return "must be text";
  // A code point takes at most two UTF-16 units: no need to count in what is longer than that.
  if (value.length > longestPassword * 2) return `must have at most ${longestPassword} characters`;
  // Halves of a pair all become the same bytes when they are encoded.
  if (/\p{Cs}/u.test(value)) return "must be well-formed text";
  const length = [...value].length;
  if (length < shortestPassword) return `must have at least ${shortestPassword} characters`;
  if (length > longestPassword) return `must have at most ${longestPassword} characters`;
  return undefined;
}

/** The same as entries of a validation failure. */
export function passwordErrors(value: unknown, field = "password"): FieldError[] {
  const message = passwordFault(value);
  return message === undefined ? [] : [{ field, message }];
}
