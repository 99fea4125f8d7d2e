// Fields with the defaults of a definition, and a definition of `users`.
import { parseCollection, initialUsers } from "../../../lib/schema/definition.js";
import type { CollectionDefinition, Field, FieldType } from "../../../lib/schema/collection.js";
import { ValidationFailed, type FieldError } from "../../../lib/core/errors.js";

const extra: Partial<Record<FieldType, object>> = { SELECT: { values: ["open", "done"] }, RELATION: { collection: "users" } };

/** A field `f`, or of the name in `options`. */
export function fieldOf(type: FieldType, options: object = {}): Field {
  return parseCollection({ name: "things", fields: [{ name: "f", type, ...extra[type], ...options }] }).fields[0]!;
}

export const users: CollectionDefinition = {
  ...initialUsers, id: "0197", system: true, listRule: null, viewRule: null, createRule: null, updateRule: null, deleteRule: null,
  createdAt: "2026-01-01T00:00:00.000Z", updatedAt: "2026-01-01T00:00:00.000Z",
};

/** The entries of the ValidationFailed that `run` throws. */
export function entriesOf(run: () => unknown): readonly FieldError[] {
  try {
    run();
  } catch (error) {
    if (error instanceof ValidationFailed) return error.entries;
    throw error;
  }
  throw new Error("nothing was refused");
}
