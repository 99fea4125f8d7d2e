// Compiles definitions into Collections: fields by name, rules parsed and typed against them and against `users`.
import type { FieldError } from "../core/errors.js";
import { compileCollectionRules } from "../rules/collection-rules.js";
import type { CollectionDefinition, Field, FileField, RelationField } from "../schema/collection.js";
import { usersTable, type Collection } from "./collection.js";

/** Stored members of `users` that are no schema fields a client may write. */
const emailVerified: Field = { type: "BOOLEAN", name: "emailVerified", required: false, unique: false, default: false };

/** Compiles all collections of a tenant together, since rules read the fields of `users`. */
export function compileCollections(definitions: readonly CollectionDefinition[]): ReadonlyMap<string, Collection> {
  const userFields = definitions.find((definition) => definition.system)?.fields ?? [];
  return new Map(definitions.map((definition) => [definition.name, compileCollection(definition, userFields).collection]));
}

/** The same for definitions that nobody has checked: `errors` tells each rule that does not hold. */
export function compileTogether(definitions: readonly CollectionDefinition[]): { readonly collections: ReadonlyMap<string, Collection>; readonly errors: readonly string[] } {
  const userFields = definitions.find((definition) => definition.system)?.fields ?? [];
  const compiled = definitions.map((definition) => compileCollection(definition, userFields));
  return {
    collections: new Map(compiled.map(({ collection }) => [collection.name, collection])),
    errors: compiled.flatMap(({ collection, errors }) => errors.map(({ field, message }) => `${collection.name}.${field}: ${message}`)),
  };
}

/**
 * Compiles one collection; `userFields` are the fields of the tenant's `users`, which `@auth` reads. `errors` has an
 * entry for each rule that does not hold; such a rule is No access.
 */
export function compileCollection(definition: CollectionDefinition, userFields: readonly Field[]): { readonly collection: Collection; readonly errors: readonly FieldError[] } {
  const stored = storedFields(definition);
  const files = stored.filter((field): field is FileField => field.type === "FILE");
  const { rules, errors } = compileCollectionRules(definition, userFields);
  const collection: Collection = {
    definition,
    name: definition.name,
    table: tableOf(definition),
    fields: new Map(stored.map((field) => [field.name, field])),
    files,
    relations: stored.filter((field): field is RelationField => field.type === "RELATION"),
    rules,
    passthrough: files.length === 0,
    isUsers: definition.system,
  };
  return { collection, errors };
}

/** The table of a collection; renaming a collection leaves it as it is. */
export function tableOf(definition: Pick<CollectionDefinition, "id" | "system">): string {
  return definition.system ? usersTable : `c_${definition.id.replaceAll("-", "")}`;
}

/** The fields that stand in the stored document: not the virtual `password`, but the system-managed `emailVerified`. */
export function storedFields(definition: Pick<CollectionDefinition, "fields" | "system">): readonly Field[] {
  return definition.system ? [...definition.fields.filter((field) => field.name !== "password"), emailVerified] : definition.fields;
}
