// Compiles a checked syntax tree to a Binder, with everything that needs no context folded at once.
import { all, always, any, isAlways, isNever, never, not, type Filter } from "../storage/filter.js";
import { bindContains, bindEqual, bindInJson, bindInList, bindLess, bindNull, bindTruth, toTimestamp, type Binder } from "./compare.js";
import type { ComparisonExpression, Expression, ListOperand, RuleOperand, ScalarOperand } from "./expression.js";
import { rawSideOf, readsContext, readsIncoming, sideOf } from "./operands.js";
import type { RuleContext } from "./rule.js";
import type { Scope } from "./scope.js";

/**
 * `exact`: what the expression says. `upper`: a Filter that holds wherever the expression could hold with some body and
 * some change; `lower`: one that holds only where it holds with every one.
 */
export type Bound = "exact" | "upper" | "lower";

/** `fixed` where no context is needed. */
export interface Compiled {
  readonly fixed: Filter | null;
  readonly bind: Binder;
}

const noContext: RuleContext = { auth: null, now: "", method: "" };

export function compileExpression(expression: Expression, scope: Scope, bound: Bound): Compiled {
  switch (expression.type) {
    case "and": return compileChain(expression.parts, scope, bound, isNever, all);
    case "or": return compileChain(expression.parts, scope, bound, isAlways, any);
    case "not": {
      const inner = compileExpression(expression.inner, scope, opposite(bound));
      return inner.fixed === null ? open((context) => not(inner.bind(context))) : fixed(not(inner.fixed));
    }
    case "truth":
      return compileTerm([expression.operand], bound, () => bindTruth(sideOf(scalar(expression.operand), "boolean", scope)));
    case "comparison":
      return compileTerm([expression.left, expression.right], bound, () => bindComparison(expression, scope));
  }
}

function compileChain(parts: readonly Expression[], scope: Scope, bound: Bound, decides: (filter: Filter) => boolean, join: (...filters: Filter[]) => Filter): Compiled {
  const compiled = parts.map((part) => compileExpression(part, scope, bound));
  const constant = join(...compiled.flatMap((part) => (part.fixed === null ? [] : [part.fixed])));
  const binders = compiled.flatMap((part) => (part.fixed === null ? [part.bind] : []));
  if (binders.length === 0 || decides(constant)) return fixed(constant);
  return open((context) => {
    const filters = [constant];
    for (const bind of binders) {
      const filter = bind(context);
      if (decides(filter)) return filter;
      filters.push(filter);
    }
    return join(...filters);
  });
}

function compileTerm(operands: readonly RuleOperand[], bound: Bound, makeBinder: () => Binder): Compiled {
  if (bound !== "exact" && operands.some(readsIncoming)) return fixed(bound === "upper" ? always : never);
  const bind = makeBinder();
  return operands.some(readsContext) ? open(bind) : fixed(bind(noContext));
}

function bindComparison(comparison: ComparisonExpression, scope: Scope): Binder {
  const { operator, left, right } = comparison;
  switch (operator) {
    case "in": return bindIn(scalar(left), right, scope);
    case "!=": return negated(bindSame(scalar(left), scalar(right), scope));
    case "=": return bindSame(scalar(left), scalar(right), scope);
    default: {
      const [first, second] = sides(scalar(left), scalar(right), scope);
      switch (operator) {
        case "<": return bindLess(first, second, false);
        case "<=": return bindLess(first, second, true);
        case ">": return bindLess(second, first, false);
        case ">=": return bindLess(second, first, true);
        case "~": return bindContains(first, second);
        case "!~": return negated(bindContains(first, second));
      }
    }
  }
}

function bindSame(left: ScalarOperand, right: ScalarOperand, scope: Scope): Binder {
  if (isNull(right)) return bindNull(rawSideOf(left, scope));
  if (isNull(left)) return bindNull(rawSideOf(right, scope));
  const [first, second] = sides(left, right, scope);
  return bindEqual(first, second);
}

function bindIn(item: ScalarOperand, list: RuleOperand, scope: Scope): Binder {
  const itemType = scope.typeOf(item);
  if (list.type !== "list") {
    const normalise = itemType === "date" ? toTimestamp : <T>(value: T) => value;
    return bindInJson(sideOf(item, "json", scope), sideOf(list, "list", scope), normalise);
  }
  if (item.type === "field") return bindInList(scope.operandOf(item), list.items.map((other) => sideOf(other, itemType, scope)));
  return bindAnyEqual(item, list, scope);
}

function bindAnyEqual(item: ScalarOperand, list: ListOperand, scope: Scope): Binder {
  const binders = list.items.map((other) => {
    const [first, second] = sides(item, other, scope);
    return bindEqual(first, second);
  });
  return (context) => any(...binders.map((bind) => bind(context)));
}

function sides(left: ScalarOperand, right: ScalarOperand, scope: Scope) {
  return [sideOf(left, scope.typeOf(right), scope), sideOf(right, scope.typeOf(left), scope)] as const;
}

function negated(bind: Binder): Binder {
  return (context) => not(bind(context));
}

function isNull(operand: ScalarOperand): boolean {
  return operand.type === "literal" && operand.value === null;
}

function scalar(operand: RuleOperand): ScalarOperand {
  if (operand.type === "list") throw new TypeError("a list outside of in has passed the check");
  return operand;
}

function opposite(bound: Bound): Bound {
  return bound === "exact" ? bound : bound === "upper" ? "lower" : "upper";
}

function fixed(filter: Filter): Compiled {
  return { fixed: filter, bind: () => filter };
}

function open(bind: Binder): Compiled {
  return { fixed: null, bind };
}
