// A second, independent reading of the contract: rules as data, evaluated directly. Knows nothing of Filter.
import type { Json } from "../../../lib/core/record.js";

export type Type = "text" | "number" | "boolean" | "date" | "json";
export type Node =
  | { readonly kind: "operand"; readonly source: "record" | "auth" | "body" | "changed"; readonly path: readonly string[]; readonly type: Type }
  | { readonly kind: "now" | "method"; readonly type: Type }
  | { readonly kind: "literal"; readonly value: string | number | boolean | null; readonly type: Type | "null" };
export type Tree =
  | { readonly kind: "and" | "or"; readonly parts: readonly Tree[] }
  | { readonly kind: "not"; readonly part: Tree }
  | { readonly kind: "truth"; readonly operand: Node }
  | { readonly kind: "compare"; readonly operator: string; readonly left: Node; readonly right: Node | readonly Node[] };

export interface World {
  readonly record: { readonly [name: string]: Json };
  readonly auth: { readonly [name: string]: Json } | null;
  readonly body: { readonly [name: string]: Json };
  readonly changed: readonly string[];
  readonly now: string;
  readonly method: string;
}

/** Timestamps in the spellings that the generator uses; anything else is no timestamp. */
export const spellings: ReadonlyMap<string, string> = new Map([
  ["2024-01-01", "2024-01-01T00:00:00.000Z"],
  ["2024-01-01T00:00:00Z", "2024-01-01T00:00:00.000Z"],
  ["2024-01-01T01:30:00+01:30", "2024-01-01T00:00:00.000Z"],
  ["2024-01-01T00:00:00.000Z", "2024-01-01T00:00:00.000Z"],
  ["2025-06-01T12:00:00.5Z", "2025-06-01T12:00:00.500Z"],
  ["2025-06-01T12:00:00.500Z", "2025-06-01T12:00:00.500Z"],
  ["2030-01-01T00:00:00.000Z", "2030-01-01T00:00:00.000Z"],
]);

export function evaluate(tree: Tree, world: World): boolean {
  switch (tree.kind) {
    case "and": return tree.parts.every((part) => evaluate(part, world));
    case "or": return tree.parts.some((part) => evaluate(part, world));
    case "not": return !evaluate(tree.part, world);
    case "truth": return valueOf(tree.operand, world) === true;
    case "compare": return compare(tree.operator, tree.left, tree.right, world);
  }
}

function compare(operator: string, left: Node, right: Node | readonly Node[], world: World): boolean {
  if (operator === "in") {
    if (isList(right)) return right.some((item) => equal(left, item, world));
    const list = valueOf(right, world);
    const item = isDate(left) ? dated(left, world) : valueOf(left, world);
    if (!Array.isArray(list) || item === null || typeof item === "object") return false;
    const asDates = isDate(left) && right.kind === "operand" && right.source !== "record";
    return list.some((entry: Json) => (asDates && typeof entry === "string" ? spellings.get(entry) ?? null : entry) === item);
  }
  if (isList(right)) throw new Error("a list beside in only");
  if (operator === "=" || operator === "!=") {
    const isNull = (node: Node) => node.kind === "literal" && node.value === null;
    const same = isNull(left) ? valueOf(right, world) === null : isNull(right) ? valueOf(left, world) === null : equal(left, right, world);
    return operator === "=" ? same : !same;
  }
  if (operator === "~" || operator === "!~") {
    const [whole, part] = [valueOf(left, world), valueOf(right, world)];
    const found = typeof whole === "string" && typeof part === "string" && whole.toLowerCase().indexOf(part.toLowerCase()) !== -1;
    return operator === "~" ? found : !found;
  }
  const [a, b] = pair(left, right, world);
  const order = typeof a === "number" && typeof b === "number" ? a - b : typeof a === "string" && typeof b === "string" ? Buffer.compare(Buffer.from(a), Buffer.from(b)) : null;
  if (order === null) return false;
  return operator === "<" ? order < 0 : operator === "<=" ? order <= 0 : operator === ">" ? order > 0 : order >= 0;
}

function equal(left: Node, right: Node, world: World): boolean {
  const [a, b] = pair(left, right, world);
  return a !== null && typeof a !== "object" && a === b;
}

/** Both values; where one side is a date, texts that do not come from the record are read as timestamps. */
function pair(left: Node, right: Node, world: World): readonly [Json, Json] {
  return [isDate(right) ? dated(left, world) : readBody(left, world), isDate(left) ? dated(right, world) : readBody(right, world)];
}

function readBody(node: Node, world: World): Json {
  return isDate(node) ? dated(node, world) : valueOf(node, world);
}

function dated(node: Node, world: World): Json {
  const value = valueOf(node, world);
  if (typeof value !== "string" || node.kind === "now" || (node.kind === "operand" && node.source === "record")) return value;
  return spellings.get(value) ?? null;
}

function valueOf(node: Node, world: World): Json {
  switch (node.kind) {
    case "literal": return node.value;
    case "now": return world.now;
    case "method": return world.method;
    case "operand": {
      if (node.source === "changed") return world.changed.includes(node.path[0]!);
      let value: Json | undefined = world[node.source];
      for (const name of node.path) value = typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, Json>)[name] : undefined;
      return value ?? null;
    }
  }
}

function isDate(node: Node): boolean {
  return node.type === "date";
}

function isList(node: Node | readonly Node[]): node is readonly Node[] {
  return Array.isArray(node);
}
