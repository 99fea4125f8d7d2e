// The five rules of a collection, compiled together.
import type { FieldError } from "../core/errors.js";
import { ruleNames, type CollectionDefinition, type Field, type RuleName } from "../schema/collection.js";
import { compileRule } from "./compile.js";
import { RuleError } from "./rule-error.js";
import type { Rule } from "./rule.js";
import type { RuleUsage } from "./scope.js";

/** What a rule of this name is for. */
export const ruleUsages: Readonly<Record<RuleName, RuleUsage>> = {
  listRule: "list", viewRule: "view", createRule: "create", updateRule: "update", deleteRule: "delete",
};

/** A collection as far as its rules need it. */
export type RuledCollection = Pick<CollectionDefinition, "name" | "fields" | RuleName>;

/**
 * Compiles the rules of a collection. `userFields` are the fields of `users` as they will be. `errors` has one entry
 * per rule that cannot be read or meant, with position and reason; such a rule is given as null (No access).
 */
export function compileCollectionRules(collection: RuledCollection, userFields: readonly Field[]): { readonly rules: Readonly<Record<RuleName, Rule | null>>; readonly errors: readonly FieldError[] } {
  const rules: Record<RuleName, Rule | null> = { listRule: null, viewRule: null, createRule: null, updateRule: null, deleteRule: null };
  const errors: FieldError[] = [];
  const isUsers = collection.name === "users";
  for (const name of ruleNames) {
    const source = collection[name];
    if (source === null) continue;
    try {
      rules[name] = compileRule(source, { fields: collection.fields, isUsers, userFields, usage: ruleUsages[name] });
    } catch (error) {
      if (!(error instanceof RuleError)) throw error;
      errors.push({ field: name, message: error.message });
    }
  }
  return { rules, errors };
}
