// A small schema and shortcuts for the tests of rules.
import type { Json, RecordValue } from "../../../lib/core/record.js";
import { compileRule } from "../../../lib/rules/compile.js";
import { RuleError } from "../../../lib/rules/rule-error.js";
import type { RuleContext } from "../../../lib/rules/rule.js";
import type { RuleSchema, RuleUsage } from "../../../lib/rules/scope.js";
import type { Field, FieldType } from "../../../lib/schema/collection.js";
import { parseCollection } from "../../../lib/schema/definition.js";
import { coreUserFields } from "../../../lib/schema/fields.js";
import { matches } from "../../../lib/storage/matches.js";

/** Fields from names and types, with the defaults of a definition. */
export function fieldsOf(types: Readonly<Record<string, FieldType>>): readonly Field[] {
  const extra: Partial<Record<FieldType, object>> = { SELECT: { values: ["open", "new", "done"] }, RELATION: { collection: "users" } };
  return parseCollection({ name: "things", fields: Object.entries(types).map(([name, type]) => ({ name, type, ...extra[type] })) }).fields;
}

export const fields = fieldsOf({
  title: "TEXT", owner: "RELATION", group: "TEXT", n: "NUMBER", m: "NUMBER", flag: "BOOLEAN", due: "DATE", done: "DATE",
  mail: "EMAIL", link: "URL", status: "SELECT", meta: "JSON", members: "JSON", cover: "FILE",
});
export const userFields: readonly Field[] = [...coreUserFields, ...fieldsOf({ group: "TEXT", level: "NUMBER", since: "DATE", teams: "JSON", vip: "BOOLEAN", avatar: "FILE" })];

export function schemaFor(usage: RuleUsage, isUsers = false): RuleSchema {
  return { fields: isUsers ? userFields : fields, isUsers, userFields, usage };
}

const now = "2026-05-01T12:00:00.000Z";

/** The caller `u1`. */
export const user: RecordValue = {
  id: "u1", createdAt: now, updatedAt: now, username: "ada", email: "ada@example.test", role: "user", emailVerified: true,
  group: "red", level: 3, since: "2024-01-01T00:00:00.000Z", teams: ["red", 7], vip: null, avatar: null,
};

export function contextOf(part: Partial<RuleContext> = {}): RuleContext {
  return { auth: user, now, method: "PATCH", ...part };
}

export function recordOf(values: Readonly<Record<string, Json>> = {}): RecordValue {
  return { id: "r1", createdAt: now, updatedAt: now, ...values };
}

/** The rule's answer on a record. */
export function answer(source: string, values: Readonly<Record<string, Json>> = {}, context: Partial<RuleContext> = {}, usage: RuleUsage = "update"): boolean {
  return matches(compileRule(source, schemaFor(usage)).bind(contextOf(context)), recordOf(values));
}

/** The error that compiling gives. */
export function faultOf(source: string, usage: RuleUsage = "update", isUsers = false): RuleError {
  try {
    compileRule(source, schemaFor(usage, isUsers));
  } catch (error) {
    if (error instanceof RuleError) return error;
    throw error;
  }
  throw new Error(`compiles: ${source}`);
}
