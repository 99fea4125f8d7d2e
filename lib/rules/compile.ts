// compileRule: a rule's source, parsed, type-checked and compiled once for a collection.
import { compileExpression } from "./bind.js";
import { checkExpression } from "./check.js";
import { visitOperands, type Expression } from "./expression.js";
import { parseExpression } from "./parse.js";
import type { Rule } from "./rule.js";
import { createScope, type RuleSchema, type Scope } from "./scope.js";

/** The rule, ready to be bound. Throws RuleError (position and reason) where it cannot be read or meant. */
export function compileRule(source: string, schema: RuleSchema): Rule {
  const expression = parseExpression(source);
  const scope = createScope(schema);
  checkExpression(expression, scope);
  const exact = compileExpression(expression, scope, "exact");
  const reads = readsOf(expression);
  const readsIncoming = reads.types.has("body") || reads.types.has("changed");
  return {
    source,
    expression,
    authFields: [...reads.authFields],
    readsBody: reads.types.has("body"),
    readsChanged: reads.types.has("changed"),
    readsNow: reads.types.has("now"),
    readsMethod: reads.types.has("method"),
    bind: exact.bind,
    bindEarly: readsIncoming ? compileExpression(expression, scope, "upper").bind : exact.bind,
    ownerLookup: ownerLookupOf(expression, scope),
  };
}

function readsOf(expression: Expression): { readonly types: ReadonlySet<string>; readonly authFields: ReadonlySet<string> } {
  const types = new Set<string>();
  const authFields = new Set<string>();
  visitOperands(expression, (operand) => {
    types.add(operand.type);
    if (operand.type === "auth") authFields.add(operand.name);
  });
  return { types, authFields };
}

/** The first `field = @auth.member` of the top-level conjunction, where both are of one type that needs no conversion. */
function ownerLookupOf(expression: Expression, scope: Scope): Rule["ownerLookup"] {
  for (const part of expression.type === "and" ? expression.parts : [expression]) {
    if (part.type === "and") {
      const inner = ownerLookupOf(part, scope);
      if (inner !== null) return inner;
    }
    if (part.type !== "comparison" || part.operator !== "=") continue;
    const [field, auth] = part.left.type === "field" ? [part.left, part.right] : [part.right, part.left];
    if (field.type !== "field" || auth.type !== "auth" || field.path.length > 0 || auth.path.length > 0) continue;
    const type = scope.typeOf(field);
    if (type !== "json" && type === scope.typeOf(auth)) return { field: field.name, authField: auth.name };
  }
  return null;
}
