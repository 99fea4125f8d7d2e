// The syntax tree of a rule. Every node knows where it stands in the source, for errors and explanations.
import type { Scalar } from "../core/record.js";

/** Offsets into the source, 0-based; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export const comparisonOperators = ["=", "!=", "<", "<=", ">", ">=", "~", "!~", "in"] as const;
export type ComparisonOperator = (typeof comparisonOperators)[number];

export interface FieldReference extends Span {
  readonly type: "field";
  readonly name: string;
  /** Members inside a JSON field; empty for the field itself. */
  readonly path: readonly string[];
}

/** `@auth.x`, `@body.x` or `@changed.x`. */
export interface ContextReference extends Span {
  readonly type: "auth" | "body" | "changed";
  readonly name: string;
  readonly path: readonly string[];
}

/** `@now` or `@method`. */
export interface ContextValue extends Span {
  readonly type: "now" | "method";
}

export interface LiteralOperand extends Span {
  readonly type: "literal";
  readonly value: Scalar;
}

export type ScalarOperand = FieldReference | ContextReference | ContextValue | LiteralOperand;

export interface ListOperand extends Span {
  readonly type: "list";
  readonly items: readonly ScalarOperand[];
}

export type RuleOperand = ScalarOperand | ListOperand;

export interface ComparisonExpression extends Span {
  readonly type: "comparison";
  readonly operator: ComparisonOperator;
  readonly left: RuleOperand;
  readonly right: RuleOperand;
}

/** A bare boolean operand. */
export interface TruthExpression extends Span {
  readonly type: "truth";
  readonly operand: RuleOperand;
}

export interface NotExpression extends Span {
  readonly type: "not";
  readonly inner: Expression;
}

/** A chain of `&&` or of `||`: two parts or more. */
export interface ChainExpression extends Span {
  readonly type: "and" | "or";
  readonly parts: readonly Expression[];
}

export type Expression = ComparisonExpression | TruthExpression | NotExpression | ChainExpression;

/** Calls the visitor with every operand of the expression, items of lists included. */
export function visitOperands(expression: Expression, visit: (operand: RuleOperand) => void): void {
  switch (expression.type) {
    case "and":
    case "or":
      for (const part of expression.parts) visitOperands(part, visit);
      return;
    case "not":
      visitOperands(expression.inner, visit);
      return;
    case "truth":
      visitOperand(expression.operand, visit);
      return;
    case "comparison":
      visitOperand(expression.left, visit);
      visitOperand(expression.right, visit);
  }
}

function visitOperand(operand: RuleOperand, visit: (operand: RuleOperand) => void): void {
  visit(operand);
  if (operand.type === "list") operand.items.forEach(visit);
}
