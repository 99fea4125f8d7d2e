// Checks the input of a management call with a joi schema and tells every fault at once, path by path.
import type { ObjectSchema } from "joi";
import { ValidationFailed } from "../core/errors.js";

/** The checked value, defaults filled in. Throws ValidationFailed with one entry a fault; nothing is converted. */
export function demandInput<T>(schema: ObjectSchema, input: unknown): T {
  const { value, error } = schema.required().validate(input, { abortEarly: false, convert: false, errors: { wrap: { label: false }, label: false } });
  if (error === undefined) return value as T;
  throw new ValidationFailed(
    error.details.map((detail) => ({
      field: path(detail.path) || "body",
      message: detail.type === "object.unknown" ? "is not known here" : detail.message.trim(),
    })),
  );
}

function path(parts: readonly (string | number)[]): string {
  return parts.map((part, index) => (typeof part === "number" ? `[${part}]` : index === 0 ? part : `.${part}`)).join("");
}
