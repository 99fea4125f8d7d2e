// The rule grammar in the page: the service's own parser and type check, so that a fault shows while one types, at the
// place and with the words that saving would give.
import type { CollectionDefinition, Field, RuleName } from "../../../schema/collection.js";
import { checkExpression } from "../../../rules/check.js";
import { parseExpression } from "../../../rules/parse.js";
import { RuleError } from "../../../rules/rule-error.js";
import { createScope, type RuleUsage } from "../../../rules/scope.js";

export interface RuleSubject {
  readonly collection: Pick<CollectionDefinition, "fields" | "name">;
  /** The fields of `users`, for `@auth`. */
  readonly userFields: readonly Field[];
  readonly usage: RuleUsage;
}

export interface RuleFault {
  /** 0-based offset into the source. */
  readonly position: number;
  readonly reason: string;
}

export const usageOf: Readonly<Record<RuleName, RuleUsage>> = { listRule: "list", viewRule: "view", createRule: "create", updateRule: "update", deleteRule: "delete" };

/** What is wrong with the rule; null where it can be saved. */
export function faultOf(source: string, subject: RuleSubject): RuleFault | null {
  try {
    const expression = parseExpression(source);
    checkExpression(expression, createScope({ fields: subject.collection.fields, isUsers: subject.collection.name === "users", userFields: subject.userFields, usage: subject.usage }));
    return null;
  } catch (error) {
    if (error instanceof RuleError) return { position: error.position, reason: error.reason };
    throw error;
  }
}

/** The place and the reason in a message of the service: `at position 12: …`. */
export function faultIn(message: string): RuleFault | null {
  const match = /at position (\d+): ([\s\S]*)$/.exec(message);
  return match === null ? null : { position: Number(match[1]), reason: match[2] ?? "" };
}
