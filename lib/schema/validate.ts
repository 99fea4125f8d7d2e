// validateRecord: a body against a collection's fields, for create and update.
import type { FieldError } from "../core/errors.js";
import { systemFields, type Json, type JsonObject } from "../core/record.js";
import type { Field } from "./collection.js";
import { checkValue, requiredMessage } from "./values.js";

export interface RecordInput {
  readonly fields: readonly Field[];
  /** The collection is `users`: `role` and `emailVerified` are ignored, `password` and `oldPassword` are the caller's to handle. */
  readonly isUsers: boolean;
  readonly body: JsonObject;
  /** `create`: every field gets a value. `update`: only the body's members are looked at. */
  readonly mode: "create" | "update";
}

export interface ValidatedRecord {
  /**
   * The values to store, by field. create: every field (null where absent; `role` of `users` as its default), update:
   * the members given. FILE fields: null on create, left out on update; what the body says of them is the caller's.
   * Never `password`.
   */
  readonly values: Readonly<Record<string, Json>>;
  /** One entry per fault; the values count only where there is none. */
  readonly errors: readonly FieldError[];
}

const ignoredMembers: ReadonlySet<string> = new Set(systemFields);
const ignoredUserMembers: ReadonlySet<string> = new Set([...systemFields, "role", "emailVerified", "password", "oldPassword"]);

/** Checks the body. Nothing is converted but dates (to UTC milliseconds) and -0 (to 0). FILE fields' required is not checked. */
export function validateRecord({ fields, isUsers, body, mode }: RecordInput): ValidatedRecord {
  const values: Record<string, Json> = {};
  const errors: FieldError[] = [];
  const ignored = isUsers ? ignoredUserMembers : ignoredMembers;
  const names = new Set<string>();
  for (const field of fields) {
    names.add(field.name);
    if (isUsers && field.name === "password") continue;
    const given = Object.hasOwn(body, field.name) && !ignored.has(field.name) ? body[field.name] : undefined;
    if (field.type === "FILE") {
      if (mode === "create") values[field.name] = null;
    } else if (given !== undefined) {
      const checked = checkValue(field, given);
      if (checked.message === undefined) values[field.name] = checked.value;
      else errors.push({ field: field.name, message: checked.message });
    } else if (mode === "create") {
      if (field.required && field.default === null) errors.push({ field: field.name, message: requiredMessage });
      values[field.name] = field.default;
    }
  }
  for (const name of Object.keys(body)) {
    if (!names.has(name) && !ignored.has(name) && body[name] !== undefined) errors.push({ field: name, message: "is no field of the collection" });
  }
  return { values, errors };
}
