// Random schemas, records, callers and rules that type-check, with the rule both as source and as a tree.
import fc from "fast-check";
import type { Json } from "../../../lib/core/record.js";
import type { Field, FieldType } from "../../../lib/schema/collection.js";
import { spellings, type Node, type Tree, type Type, type World } from "./reference.js";
import { fieldsOf } from "./support.js";

export interface Scenario {
  readonly fields: readonly Field[];
  readonly userFields: readonly Field[];
  readonly tree: Tree;
  readonly source: string;
  readonly world: World;
}

const texts = ["", "a", "A", "b", "ab", "1", "ß", "\u{ff5e}", "\u{10000}", "it's \"q\" \\ \n", "2024-01-01", "2024-01-01T00:00:00.000Z"];
const numbers = [0, 1, 2, -1, 1.5, 1e21];
const timestamps = [...new Set(spellings.values())];
const scalars: readonly Json[] = [null, true, false, ...texts, ...numbers];
const members = ["a", "b"];
const fieldTypes: readonly FieldType[] = ["TEXT", "NUMBER", "BOOLEAN", "DATE", "SELECT", "RELATION", "JSON"];
const typeOf: Partial<Record<FieldType, Type>> = { TEXT: "text", NUMBER: "number", BOOLEAN: "boolean", DATE: "date", SELECT: "text", RELATION: "text", JSON: "json" };

const scalar = fc.constantFrom(...scalars);
const jsonValue: fc.Arbitrary<Json> = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 4 }),
  fc.dictionary(fc.constantFrom(...members), fc.oneof(scalar, fc.array(scalar, { maxLength: 3 })), { maxKeys: 2 }),
);

const stored: Readonly<Record<Type, fc.Arbitrary<Json>>> = {
  text: fc.constantFrom(null, ...texts), number: fc.constantFrom(null, ...numbers), boolean: fc.constantFrom(null, true, false),
  date: fc.constantFrom(null, ...timestamps), json: jsonValue,
};
/** What a client may send before it is validated: anything. */
const incoming: fc.Arbitrary<Json> = fc.oneof(jsonValue, fc.constantFrom(...spellings.keys()));

const schema = (prefix: string) => fc.array(fc.constantFrom(...fieldTypes), { minLength: 1, maxLength: 8 })
  .map((types) => fieldsOf(Object.fromEntries(types.map((type, index) => [`${prefix}${index}`, type]))));

const values = (fields: readonly Field[], of: (field: Field) => fc.Arbitrary<Json>) =>
  fc.record(Object.fromEntries(fields.map((field) => [field.name, of(field)])), { requiredKeys: [] }) as fc.Arbitrary<Record<string, Json>>;

function operands(fields: readonly Field[], userFields: readonly Field[]): readonly Node[] {
  const nodes: Node[] = [
    { kind: "operand", source: "record", path: ["id"], type: "text" }, { kind: "operand", source: "record", path: ["createdAt"], type: "date" },
    { kind: "operand", source: "auth", path: ["id"], type: "text" }, { kind: "operand", source: "auth", path: ["emailVerified"], type: "boolean" },
    { kind: "now", type: "date" }, { kind: "method", type: "text" },
    ...texts.map((value): Node => ({ kind: "literal", value, type: "text" })),
    ...numbers.map((value): Node => ({ kind: "literal", value, type: "number" })),
    { kind: "literal", value: true, type: "boolean" }, { kind: "literal", value: false, type: "boolean" },
  ];
  const add = (source: "record" | "auth" | "body", field: Field) => {
    const type = typeOf[field.type]!;
    nodes.push({ kind: "operand", source, path: [field.name], type });
    if (type === "json") for (const member of members) nodes.push({ kind: "operand", source, path: [field.name, member], type });
  };
  for (const field of fields) {
    add("record", field);
    add("body", field);
    nodes.push({ kind: "operand", source: "changed", path: [field.name], type: "boolean" });
  }
  for (const field of userFields) add("auth", field);
  return nodes;
}

/** Whether the type check lets the two be compared. */
function comparable(left: Node, right: Node): boolean {
  if (left.kind === "literal" && right.kind === "literal") return left.type === right.type;
  if (left.type === right.type || left.type === "json" || right.type === "json") return true;
  const [date, text] = left.type === "date" ? [left, right] : [right, left];
  if (date.type !== "date" || text.type !== "text") return false;
  return text.kind === "literal" ? spellings.has(String(text.value)) : text.kind === "operand" && text.source !== "record";
}

function term(nodes: readonly Node[]): fc.Arbitrary<Tree> {
  const any = fc.constantFrom(...nodes);
  const only = (...types: readonly string[]) => nodes.filter((node) => types.includes(node.type));
  const partner = (left: Node) => fc.constantFrom(...nodes.filter((right) => comparable(left, right)));
  const json = only("json");
  const nothing: Node = { kind: "literal", value: null, type: "null" };
  return fc.oneof(
    any.chain((left) => fc.tuple(fc.constantFrom("=", "!="), partner(left)).map(([operator, right]): Tree => ({ kind: "compare", operator, left, right }))),
    fc.tuple(any, fc.constantFrom("=", "!="), fc.boolean()).map(([left, operator, flip]): Tree => ({ kind: "compare", operator, left: flip ? nothing : left, right: flip ? left : nothing })),
    fc.constantFrom(...only("text", "number", "date", "json")).chain((left) =>
      fc.tuple(fc.constantFrom("<", "<=", ">", ">="), fc.constantFrom(...nodes.filter((right) => right.type !== "boolean" && comparable(left, right))))
        .map(([operator, right]): Tree => ({ kind: "compare", operator, left, right }))),
    fc.tuple(fc.constantFrom(...only("text", "json")), fc.constantFrom("~", "!~"), fc.constantFrom(...only("text", "json")))
      .map(([left, operator, right]): Tree => ({ kind: "compare", operator, left, right })),
    any.chain((left) => fc.array(fc.oneof({ weight: 5, arbitrary: partner(left) }, { weight: 1, arbitrary: fc.constant(nothing) }), { maxLength: 4 }).map((right): Tree => ({ kind: "compare", operator: "in", left, right }))),
    ...(json.length === 0 ? [] : [fc.tuple(any, fc.constantFrom(...json)).map(([left, right]): Tree => ({ kind: "compare", operator: "in", left, right }))]),
    fc.constantFrom(...only("boolean", "json")).map((operand): Tree => ({ kind: "truth", operand })),
  );
}

function tree(nodes: readonly Node[]): fc.Arbitrary<Tree> {
  return fc.letrec<{ tree: Tree }>((tie) => ({
    tree: fc.oneof({ depthSize: "small", withCrossShrink: true },
      term(nodes),
      fc.tuple(fc.constantFrom("and" as const, "or" as const), fc.array(tie("tree"), { minLength: 2, maxLength: 3 })).map(([kind, parts]): Tree => ({ kind, parts })),
      tie("tree").map((part): Tree => ({ kind: "not", part }))),
  })).tree;
}

/** The tree in the grammar, with no more parentheses than it needs but around every negation of a comparison. */
export function print(tree: Tree): string {
  switch (tree.kind) {
    case "and": return tree.parts.map((part) => (part.kind === "or" || part.kind === "and" ? `(${print(part)})` : print(part))).join(" && ");
    case "or": return tree.parts.map((part) => (part.kind === "or" ? `(${print(part)})` : print(part))).join(" || ");
    case "not": return tree.part.kind === "truth" || tree.part.kind === "not" ? `!${print(tree.part)}` : `!(${print(tree.part)})`;
    case "truth": return printNode(tree.operand);
    case "compare": {
      const right = Array.isArray(tree.right) ? `[${(tree.right as readonly Node[]).map(printNode).join(", ")}]` : printNode(tree.right as Node);
      return `${printNode(tree.left)} ${tree.operator} ${right}`;
    }
  }
}

function printNode(node: Node): string {
  switch (node.kind) {
    case "now": return "@now";
    case "method": return "@method";
    case "literal": return typeof node.value === "string" ? `"${node.value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"` : String(node.value);
    case "operand": return (node.source === "record" ? "" : `@${node.source}.`) + node.path.join(".");
  }
}

export const scenario: fc.Arbitrary<Scenario> = fc.tuple(schema("f"), schema("g")).chain(([fields, userFields]) => {
  const system = { id: fc.constantFrom("a", "b", "ab"), createdAt: fc.constantFrom(...timestamps), updatedAt: fc.constantFrom(...timestamps) };
  const storedOf = (field: Field) => stored[typeOf[field.type]!];
  return fc.record({
    fields: fc.constant(fields), userFields: fc.constant(userFields), tree: tree(operands(fields, userFields)),
    world: fc.record({
      record: fc.tuple(fc.record(system), values(fields, storedOf)).map(([own, rest]) => ({ ...rest, ...own })),
      auth: fc.option(fc.tuple(fc.record({ ...system, emailVerified: fc.boolean() }), values(userFields, storedOf)).map(([own, rest]) => ({ ...rest, ...own })), { freq: 4 }),
      body: values(fields, () => incoming),
      changed: fc.subarray(fields.map(({ name }) => name)),
      now: fc.constantFrom(...timestamps),
      method: fc.constantFrom("PATCH", "a"),
    }),
  }).map((made) => ({ ...made, source: print(made.tree) }));
});
