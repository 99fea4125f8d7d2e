// Properties: the evaluator against an independent reading of the contract; the parser against anything at all.
import { expect } from "chai";
import fc from "fast-check";
import type { JsonObject, RecordValue } from "../../../lib/core/record.js";
import { compileRule } from "../../../lib/rules/compile.js";
import { explainRule } from "../../../lib/rules/explain.js";
import type { Expression, RuleOperand } from "../../../lib/rules/expression.js";
import { parseExpression } from "../../../lib/rules/parse.js";
import { RuleError } from "../../../lib/rules/rule-error.js";
import type { RuleContext } from "../../../lib/rules/rule.js";
import type { RuleSchema } from "../../../lib/rules/scope.js";
import { matches } from "../../../lib/storage/matches.js";
import { scenario, type Scenario } from "./arbitraries.js";
import { evaluate, type Node, type Tree } from "./reference.js";

const runs = { numRuns: 3000 };

function parts({ fields, userFields, world }: Scenario): { schema: RuleSchema; context: RuleContext; record: RecordValue } {
  return {
    schema: { fields, isUsers: false, userFields, usage: "update" },
    context: { ...world, auth: world.auth as RecordValue | null, body: world.body as JsonObject, changed: new Set(world.changed) },
    record: world.record as RecordValue,
  };
}

describe("rules: properties", () => {
  it("bind and matches say what the contract says", () => {
    fc.assert(fc.property(scenario, (made) => {
      const { schema, context, record } = parts(made);
      expect(matches(compileRule(made.source, schema).bind(context), record), made.source).to.equal(evaluate(made.tree, made.world));
    }), runs);
  });

  it("an explanation's answer is the rule's", () => {
    fc.assert(fc.property(scenario, (made) => {
      const { schema, context, record } = parts(made);
      expect(explainRule(made.source, schema, context, record).result).to.equal(evaluate(made.tree, made.world));
    }), { numRuns: 500 });
  });

  it("the early decision is never narrower, whatever the body", () => {
    fc.assert(fc.property(scenario, (made) => {
      const { schema, context, record } = parts(made);
      const rule = compileRule(made.source, schema);
      const possible = matches(rule.bindEarly({ auth: context.auth, now: context.now, method: context.method }), record);
      if (matches(rule.bind(context), record)) expect(possible, made.source).to.equal(true);
    }), runs);
  });

  it("printing and parsing a rule gives the same tree", () => {
    fc.assert(fc.property(scenario, ({ tree, source }) => {
      expect(shape(parseExpression(source))).to.deep.equal(treeShape(tree));
    }), runs);
  });

  it("every node's range is its own source", () => {
    fc.assert(fc.property(scenario, ({ source }) => {
      const whole = parseExpression(source);
      const again = (expression: Expression) => expect(shape(parseExpression(source.slice(expression.start, expression.end)))).to.deep.equal(shape(expression));
      again(whole);
      if (whole.type === "and" || whole.type === "or") whole.parts.forEach(again);
      if (whole.type === "not") again(whole.inner);
    }), { numRuns: 500 });
  });

  const tokens = ["title", "n", "flag", "meta.a", "@auth.id", "@body.n", "@now", "'a'", '"', "'", "1", "-1", "1e5", "true", "null", "in", "=", "!=", "<", "~", "!~", "!", "&&", "||", "(", ")", "[", "]", ",", ".", "@", "\\", "\u0000", " "];
  for (const [name, garbage] of [
    ["any text", fc.string({ unit: "binary", maxLength: 300 })],
    ["any tokens", fc.array(fc.constantFrom(...tokens), { maxLength: 60 }).map((list) => list.join(" "))],
    ["a long run of one token", fc.tuple(fc.constantFrom(...tokens), fc.nat({ max: 6000 })).map(([token, count]) => token.repeat(count))],
  ] as const) {
    it(`${name}: a tree or a RuleError inside the source`, () => {
      fc.assert(fc.property(garbage, (source) => {
        try {
          expect(parseExpression(source)).to.have.property("type");
        } catch (error) {
          expect(error).to.be.instanceOf(RuleError);
          const { position, reason } = error as RuleError;
          expect(position).to.be.within(0, source.length);
          expect(reason).to.not.equal("");
        }
      }), { numRuns: 2000 });
    });
  }
});

/** The syntax tree without positions. */
function shape(expression: Expression): unknown {
  switch (expression.type) {
    case "and":
    case "or": return [expression.type, ...expression.parts.map(shape)];
    case "not": return ["not", shape(expression.inner)];
    case "truth": return ["truth", operandShape(expression.operand)];
    case "comparison": return [expression.operator, operandShape(expression.left), operandShape(expression.right)];
  }
}

function operandShape(operand: RuleOperand): unknown {
  switch (operand.type) {
    case "list": return operand.items.map(operandShape);
    case "literal": return { value: operand.value };
    case "now":
    case "method": return operand.type;
    default: return [operand.type, operand.name, ...operand.path].join(".");
  }
}

function treeShape(tree: Tree): unknown {
  switch (tree.kind) {
    case "and":
    case "or": return [tree.kind, ...tree.parts.map(treeShape)];
    case "not": return ["not", treeShape(tree.part)];
    case "truth": return ["truth", nodeShape(tree.operand)];
    case "compare": return [tree.operator, nodeShape(tree.left), Array.isArray(tree.right) ? tree.right.map(nodeShape) : nodeShape(tree.right as Node)];
  }
}

function nodeShape(node: Node): unknown {
  if (node.kind === "literal") return { value: node.value };
  return node.kind === "operand" ? [node.source === "record" ? "field" : node.source, ...node.path].join(".") : node.kind;
}
