// Scope: which names a rule may use, and what type each has.
import type { Field, FieldType } from "../schema/collection.js";
import { coreUserFields, secretUserFields } from "../schema/fields.js";
import type { FieldOperand, ValueKind } from "../storage/filter.js";
import type { ContextReference, FieldReference, RuleOperand } from "./expression.js";
import { RuleError } from "./rule-error.js";

/** What a rule is for; it decides which context it may read. */
export type RuleUsage = "list" | "view" | "create" | "update" | "delete" | "where";

/** All that a rule is checked against. */
export interface RuleSchema {
  /** The collection's fields. */
  readonly fields: readonly Field[];
  /** Whether the collection is the built-in `users`. */
  readonly isUsers: boolean;
  /** The fields of `users`, for `@auth`. */
  readonly userFields: readonly Field[];
  readonly usage: RuleUsage;
}

/** `date`: a timestamp text. `json`: any value, known only at run time. `null`: the literal. */
export type ValueType = "text" | "number" | "boolean" | "date" | "json" | "file" | "null" | "list";

export interface Scope {
  /** The operand's type. Throws RuleError where the name is unknown, or may not be read here. */
  typeOf(operand: RuleOperand): ValueType;
  /** The record's field as an operand of a Filter. */
  operandOf(reference: FieldReference): FieldOperand;
}

const fieldTypes: Readonly<Record<FieldType, ValueType>> = {
  TEXT: "text", NUMBER: "number", BOOLEAN: "boolean", DATE: "date", EMAIL: "text", URL: "text",
  SELECT: "text", RELATION: "text", JSON: "json", FILE: "file",
};
const kinds: Readonly<Record<ValueType, ValueKind>> = {
  text: "text", number: "number", boolean: "boolean", date: "text", json: "json", file: "json", null: "json", list: "json",
};
const managedUserFields: readonly string[] = ["role", "emailVerified"];

export function createScope(schema: RuleSchema): Scope {
  const record = typesOf(schema.fields, schema.isUsers);
  const auth = typesOf(schema.userFields, true);
  return {
    typeOf(operand) {
      switch (operand.type) {
        case "literal": return operand.value === null ? "null" : typeof operand.value === "string" ? "text" : typeof operand.value === "number" ? "number" : "boolean";
        case "list": return "list";
        case "now": return "date";
        case "method":
          if (schema.usage === "where") throw new RuleError(operand.start, "@method cannot be used in where");
          return "text";
        case "field":
          return member(operand, look(operand, record, schema.isUsers, "the collection"), operand.name);
        case "auth":
          return member(operand, look(operand, auth, true, "the collection users"), `@auth.${operand.name}`);
        case "body":
        case "changed":
          return incoming(operand, record, schema);
      }
    },
    operandOf({ name, path }) {
      const kind = path.length > 0 ? "json" : kinds[record.get(name) ?? "json"];
      return path.length > 0 ? { field: name, kind, path } : { field: name, kind };
    },
  };
}

function typesOf(fields: readonly Field[], isUsers: boolean): ReadonlyMap<string, ValueType> {
  const types = new Map<string, ValueType>([["id", "text"], ["createdAt", "date"], ["updatedAt", "date"]]);
  for (const field of isUsers ? [...coreUserFields, ...fields] : fields) types.set(field.name, fieldTypes[field.type]);
  if (isUsers) {
    types.set("emailVerified", "boolean");
    for (const name of secretUserFields) types.delete(name);
  }
  return types;
}

function look(operand: FieldReference | ContextReference, types: ReadonlyMap<string, ValueType>, isUsers: boolean, owner: string): ValueType {
  const type = types.get(operand.name);
  if (type !== undefined) return type;
  if (isUsers && secretUserFields.includes(operand.name)) throw new RuleError(operand.start, `${operand.name} cannot be read by a rule`);
  throw new RuleError(operand.start, `unknown field: ${owner} has no field ${operand.name}`);
}

function member(operand: FieldReference | ContextReference, type: ValueType, shown: string): ValueType {
  if (operand.path.length === 0) return type;
  if (type !== "json") throw new RuleError(operand.start, `${shown} is no JSON field, so it has no member ${operand.path.join(".")}`);
  return "json";
}

function incoming(operand: ContextReference, record: ReadonlyMap<string, ValueType>, { isUsers, usage }: RuleSchema): ValueType {
  const shown = `@${operand.type}.${operand.name}`;
  if (operand.type === "body" && usage !== "create" && usage !== "update") {
    throw new RuleError(operand.start, `@body can be used in create and update rules only, not in ${usage}`);
  }
  if (operand.type === "changed" && usage !== "update") {
    throw new RuleError(operand.start, `@changed can be used in update rules only, not in ${usage}`);
  }
  const type = look(operand, record, isUsers, "the collection");
  if (["id", "createdAt", "updatedAt"].includes(operand.name) || (isUsers && managedUserFields.includes(operand.name))) {
    throw new RuleError(operand.start, `${shown}: ${operand.name} is set by the service, a body has no effect on it`);
  }
  if (operand.type === "body") {
    if (type === "file") throw new RuleError(operand.start, `${shown}: the files of a body cannot be read by a rule; @changed.${operand.name} tells whether an update changes them`);
    return member(operand, type, shown);
  }
  if (operand.path.length > 0) throw new RuleError(operand.start, `@changed names a whole field: write @changed.${operand.name}`);
  return "boolean";
}
