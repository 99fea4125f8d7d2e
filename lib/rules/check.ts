// The type check of a rule: each comparison must be able to be true.
import { parseTimestamp } from "../schema/dates.js";
import type { ComparisonExpression, Expression, RuleOperand, ScalarOperand } from "./expression.js";
import { RuleError } from "./rule-error.js";
import type { Scope, ValueType } from "./scope.js";

const shownTypes: Readonly<Record<ValueType, string>> = {
  text: "a text", number: "a number", boolean: "a boolean", date: "a date", json: "a JSON value", file: "a file", null: "null", list: "a list",
};
const fileReason = "a FILE field can only be compared with null, by = or !=";

/** Throws RuleError where a name is unknown or types do not fit. */
export function checkExpression(expression: Expression, scope: Scope): void {
  switch (expression.type) {
    case "and":
    case "or":
      for (const part of expression.parts) checkExpression(part, scope);
      return;
    case "not":
      checkExpression(expression.inner, scope);
      return;
    case "truth": {
      const type = scope.typeOf(expression.operand);
      if (type !== "boolean" && type !== "json") {
        throw new RuleError(expression.operand.start, `${shownTypes[type]} is no condition: compare it with something, as in … != null`);
      }
      return;
    }
    case "comparison":
      checkComparison(expression, scope);
  }
}

function checkComparison({ operator, left, right, start }: ComparisonExpression, scope: Scope): void {
  const leftType = scope.typeOf(left);
  const rightType = scope.typeOf(right);
  if (operator === "in") {
    checkIn(left, leftType, right, rightType, scope);
    return;
  }
  for (const [operand, type] of [[left, leftType], [right, rightType]] as const) {
    if (type === "list") throw new RuleError(operand.start, "a list stands on the right side of in only");
  }
  if (operator === "=" || operator === "!=") {
    checkEqual(left, leftType, right, rightType);
    return;
  }
  if (leftType === "file" || rightType === "file") throw new RuleError(start, fileReason);
  if (operator === "~" || operator === "!~") {
    for (const [operand, type] of [[left, leftType], [right, rightType]] as const) {
      if (type !== "text" && type !== "json" && type !== "null") throw new RuleError(operand.start, `${operator} looks for a text in a text, but this is ${shownTypes[type]}`);
    }
    return;
  }
  for (const [operand, type] of [[left, leftType], [right, rightType]] as const) {
    if (type === "boolean") throw new RuleError(operand.start, `${operator} compares numbers, texts or dates, but this is a boolean`);
  }
  demandSameType(left, leftType, right, rightType);
}

function checkEqual(left: RuleOperand, leftType: ValueType, right: RuleOperand, rightType: ValueType): void {
  if (leftType === "null" || rightType === "null") return;
  if (leftType === "file" || rightType === "file") throw new RuleError(leftType === "file" ? left.start : right.start, fileReason);
  // Two literals are no mistake of a name: the comparison is just constant.
  if (left.type === "literal" && right.type === "literal") return;
  demandSameType(left, leftType, right, rightType);
}

function checkIn(left: RuleOperand, leftType: ValueType, right: RuleOperand, rightType: ValueType, scope: Scope): void {
  if (leftType === "list") throw new RuleError(left.start, "a list stands on the right side of in only");
  if (leftType === "file") throw new RuleError(left.start, fileReason);
  if (right.type === "list") {
    for (const item of right.items) checkItem(left, leftType, item, scope.typeOf(item));
    return;
  }
  if (rightType !== "json") throw new RuleError(right.start, `in needs a list or a JSON field that holds one, but this is ${shownTypes[rightType]}`);
}

function checkItem(left: RuleOperand, leftType: ValueType, item: ScalarOperand, itemType: ValueType): void {
  if (itemType === "file") throw new RuleError(item.start, fileReason);
  if (left.type === "literal" && item.type === "literal") return;
  demandSameType(left, leftType, item, itemType);
}

function demandSameType(left: RuleOperand, leftType: ValueType, right: RuleOperand, rightType: ValueType): void {
  if (leftType === rightType || isOpen(leftType) || isOpen(rightType)) return;
  if (leftType === "date" && rightType === "text") return demandTimestamp(right);
  if (leftType === "text" && rightType === "date") return demandTimestamp(left);
  throw new RuleError(right.start, `${shownTypes[leftType]} and ${shownTypes[rightType]} are never equal: there is no conversion between types`);
}

function isOpen(type: ValueType): boolean {
  return type === "json" || type === "null";
}

function demandTimestamp(operand: RuleOperand): void {
  if (operand.type === "literal") {
    if (typeof operand.value === "string" && parseTimestamp(operand.value) === null) {
      throw new RuleError(operand.start, "this is no date or timestamp: write one as 2026-01-31 or 2026-01-31T10:00:00Z");
    }
    return;
  }
  if (operand.type === "field") throw new RuleError(operand.start, `${operand.name} is a text, which is not kept as a timestamp: make it a DATE field to compare it with a date`);
  if (operand.type === "method") throw new RuleError(operand.start, "@method is no date");
}
