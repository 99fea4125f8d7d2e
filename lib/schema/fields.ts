// What follows from a field or a definition for storage and queries: kinds, index definitions, users' core fields.
import type { ValueKind } from "../storage/filter.js";
import type { IndexDefinition } from "../storage/storage.js";
import type { CollectionDefinition, Field, FieldType, Index } from "./collection.js";

const kinds: Readonly<Record<FieldType, ValueKind>> = {
  TEXT: "text", NUMBER: "number", BOOLEAN: "boolean", DATE: "text", EMAIL: "text", URL: "text",
  SELECT: "text", RELATION: "text", JSON: "json", FILE: "json",
};

/** What the field holds as stored. */
export function kindOf(field: Field): ValueKind {
  return kinds[field.type];
}

/** Whether a query may sort or filter by the field, and an index hold it. */
export function isComparable(field: Field): boolean {
  return field.type !== "JSON" && field.type !== "FILE";
}

/** Fields of `users` that every tenant has; they come first and cannot be changed. */
export const coreUserFields: readonly Field[] = [
  { name: "username", type: "TEXT", required: true, unique: true, default: null, minLength: 1, maxLength: 255, pattern: null },
  { name: "email", type: "EMAIL", required: false, unique: false, default: null },
  { name: "role", type: "TEXT", required: false, unique: false, default: "user", minLength: null, maxLength: 255, pattern: null },
  { name: "password", type: "TEXT", required: true, unique: false, default: null, minLength: 16, maxLength: 1024, pattern: null },
];

/** Names that no custom field of `users` may have: system-managed, internal, or members of account requests. */
export const reservedUserFieldNames: readonly string[] = [
  "emailVerified", "passwordHash", "passwordSalt", "oldPassword", "active", "tenant", "generation", "token", "tokens", "accessToken", "refreshToken",
];

/** Members of `users` that no client reads: not to be stored in the public document, not to be read by a rule. */
export const secretUserFields: readonly string[] = ["password", "oldPassword", "passwordHash", "passwordSalt"];

/** Every index that the definition asks for, each once: unique fields first, then the listed ones. */
export function indexDefinitions(definition: Pick<CollectionDefinition, "fields" | "indexes">): IndexDefinition[] {
  const fields = new Map(definition.fields.map((field) => [field.name, field]));
  const wanted: Index[] = definition.fields.filter((field) => field.unique).map((field) => ({ fields: [field.name], unique: true }));
  wanted.push(...definition.indexes);
  // Whoever removes a record looks for those that point at it.
  wanted.push(...definition.fields.filter((field) => field.type === "RELATION").map((field) => ({ fields: [field.name], unique: false })));
  const byFields = new Map<string, Index>();
  for (const index of wanted) {
    const key = index.fields.join(",");
    if (!byFields.has(key) || index.unique) byFields.set(key, index);
  }
  return [...byFields.values()].map((index) => ({
    fields: index.fields.map((name) => {
      const field = fields.get(name);
      const kind = field === undefined ? "text" : kindOf(field);
      return { field: name, kind: kind === "json" ? "text" : kind };
    }),
    unique: index.unique,
  }));
}
