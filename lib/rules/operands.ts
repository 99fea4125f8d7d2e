// Operands as sides of a comparison: fields of the record stay fields, everything else becomes a read of the context.
import type { Json, JsonObject } from "../core/record.js";
import { toTimestamp, type Read, type Side } from "./compare.js";
import type { ContextReference, RuleOperand, ScalarOperand } from "./expression.js";
import type { Scope, ValueType } from "./scope.js";

/** The operand as it is. */
export function rawSideOf(operand: ScalarOperand, scope: Scope): Side {
  return operand.type === "field" ? { field: scope.operandOf(operand) } : { read: readOf(operand) };
}

/** The operand as a side that is compared with something of the type `other`: beside a date, a text is read as a timestamp. */
export function sideOf(operand: ScalarOperand, other: ValueType, scope: Scope): Side {
  if (operand.type === "field") return rawSideOf(operand, scope);
  const read = readOf(operand);
  const type = scope.typeOf(operand);
  const isRaw = type === "date" ? operand.type === "body" : other === "date" && type !== "null";
  if (!isRaw) return { read };
  if (operand.type === "literal") {
    const value = toTimestamp(operand.value);
    return { read: () => value };
  }
  return { read: (context) => toTimestamp(read(context)) };
}

/** Whether the operand's value depends on more than the record. */
export function readsContext(operand: RuleOperand): boolean {
  if (operand.type === "list") return operand.items.some(readsContext);
  return operand.type !== "field" && operand.type !== "literal";
}

/** Whether the operand's value depends on what comes in with the request. */
export function readsIncoming(operand: RuleOperand): boolean {
  if (operand.type === "list") return operand.items.some(readsIncoming);
  return operand.type === "body" || operand.type === "changed";
}

/** The member of a value at the path, null where there is none. Arrays have no members. */
export function memberAt(value: Json | undefined, path: readonly string[]): Json {
  let current = value;
  for (const name of path) {
    if (typeof current !== "object" || current === null || Array.isArray(current) || !Object.hasOwn(current, name)) return null;
    current = (current as JsonObject)[name];
  }
  return current ?? null;
}

/** The value of an operand that is no field of the record. */
export function readOf(operand: Exclude<ScalarOperand, { type: "field" }>): Read {
  switch (operand.type) {
    case "literal": {
      const { value } = operand;
      return () => value;
    }
    case "now": return (context) => context.now;
    case "method": return (context) => context.method;
    case "changed": {
      const { name } = operand;
      return (context) => context.changed?.has(name) ?? false;
    }
    case "auth": {
      const read = memberOf(operand);
      return (context) => (context.auth === null ? null : read(context.auth));
    }
    case "body": {
      const read = memberOf(operand);
      return (context) => (context.body === undefined ? null : read(context.body));
    }
  }
}

function memberOf({ name, path }: ContextReference): (value: JsonObject) => Json {
  if (path.length === 0) return (value) => (Object.hasOwn(value, name) ? value[name] ?? null : null);
  const members = [name, ...path];
  return (value) => memberAt(value, members);
}
