// Explains a rule's answer: the same rule, part by part, for people who try it out.
import type { Json, RecordValue } from "../core/record.js";
import { matches } from "../storage/matches.js";
import { compileExpression } from "./bind.js";
import { checkExpression } from "./check.js";
import type { Expression, RuleOperand } from "./expression.js";
import { memberAt, readOf } from "./operands.js";
import { parseExpression } from "./parse.js";
import type { RuleContext } from "./rule.js";
import { createScope, type RuleSchema, type Scope } from "./scope.js";

/** One part of a rule and what it says of a record. */
export interface Explanation {
  readonly type: Expression["type"];
  /** Offsets into the source; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  /** The part's own source. */
  readonly source: string;
  readonly result: boolean;
  /** The operands of a comparison or of a bare operand, with the values that they have here. */
  readonly operands: readonly { readonly source: string; readonly value: Json }[];
  /** The parts of `&&`, `||` and `!`. */
  readonly parts: readonly Explanation[];
}

/**
 * What each part of the rule says of this record in this context, by the evaluator that decides everywhere.
 * Throws RuleError as compileRule does.
 */
export function explainRule(source: string, schema: RuleSchema, context: RuleContext, record: RecordValue): Explanation {
  const expression = parseExpression(source);
  const scope = createScope(schema);
  checkExpression(expression, scope);
  return explain(expression, { source, scope, context, record });
}

interface Subject {
  readonly source: string;
  readonly scope: Scope;
  readonly context: RuleContext;
  readonly record: RecordValue;
}

function explain(expression: Expression, subject: Subject): Explanation {
  const { source, scope, context, record } = subject;
  const { type, start, end } = expression;
  return {
    type,
    start,
    end,
    source: source.slice(start, end),
    result: matches(compileExpression(expression, scope, "exact").bind(context), record),
    operands: operandsOf(expression).map((operand) => ({ source: source.slice(operand.start, operand.end), value: valueOf(operand, subject) })),
    parts: partsOf(expression).map((part) => explain(part, subject)),
  };
}

function partsOf(expression: Expression): readonly Expression[] {
  if (expression.type === "and" || expression.type === "or") return expression.parts;
  return expression.type === "not" ? [expression.inner] : [];
}

function operandsOf(expression: Expression): readonly RuleOperand[] {
  if (expression.type === "comparison") return [expression.left, expression.right];
  return expression.type === "truth" ? [expression.operand] : [];
}

function valueOf(operand: RuleOperand, subject: Subject): Json {
  if (operand.type === "list") return operand.items.map((item) => valueOf(item, subject));
  if (operand.type === "field") return memberAt(subject.record, [operand.name, ...operand.path]);
  return readOf(operand)(subject.context);
}
