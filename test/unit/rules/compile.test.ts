// What a compiled rule tells beside its answer: constants, reads, early decision, owner look-up; presets and collections.
import { expect } from "chai";
import { compileCollectionRules } from "../../../lib/rules/collection-rules.js";
import { compileRule } from "../../../lib/rules/compile.js";
import { explainRule } from "../../../lib/rules/explain.js";
import { initialUserRules, presetsFor } from "../../../lib/rules/presets.js";
import type { RuleUsage } from "../../../lib/rules/scope.js";
import { ruleNames } from "../../../lib/schema/collection.js";
import { always, isAlways, isNever, never } from "../../../lib/storage/filter.js";
import { contextOf, fields, recordOf, schemaFor, userFields } from "./support.js";

const guest = contextOf({ auth: null });
const compile = (source: string, usage: RuleUsage = "update") => compileRule(source, schemaFor(usage));

describe("rules: binding folds constants", () => {
  it("true is always, false is never, for everybody", () => {
    expect(compile("true").bind(guest)).to.deep.equal(always);
    expect(compile("false").bind(contextOf())).to.deep.equal(never);
  });
  it("a rule without context is bound once", () => {
    const rule = compile("n > 3 && status in ['open', 'new']");
    expect(rule.bind(guest)).to.equal(rule.bind(contextOf()));
  });
  it("what no guest can satisfy is never for a guest", () => {
    for (const source of ["owner = @auth.id", "@auth.id != null", "@auth.id in members", "@auth.role = 'user' && flag", "@auth.level > n", "title ~ @auth.group", "@auth.vip"]) {
      expect(isNever(compile(source).bind(guest)), source).to.equal(true);
    }
  });
  it("signed in is always for a user", () => {
    expect(isAlways(compile("@auth.id != null").bind(contextOf()))).to.equal(true);
  });
  it("a value of a type that the field never holds is never", () => {
    expect(isNever(compile("title = @body.meta.x").bind(contextOf({ body: { meta: { x: 1 } } })))).to.equal(true);
  });
  it("the caller's list becomes one set of fitting values", () => {
    expect(compile("n in @auth.teams").bind(contextOf())).to.deep.equal({ op: "is", field: { field: "n", kind: "number" }, value: 7 });
    expect(compile("status in ['open', @auth.group]").bind(contextOf())).to.deep.equal({ op: "in", field: { field: "status", kind: "text" }, values: ["open", "red"] });
  });
});

describe("rules: what a rule reads", () => {
  it("names the members of @auth once, and the other context", () => {
    const rule = compile("owner = @auth.id || @auth.id in members && @auth.group = group && @body.n = 1 && !@changed.n && due < @now && @method in ['PATCH']");
    expect(rule.authFields).to.deep.equal(["id", "group"]);
    expect(rule).to.include({ readsBody: true, readsChanged: true, readsNow: true, readsMethod: true });
  });
  it("reads nothing where it does not", () => {
    expect(compile("flag")).to.include({ readsBody: false, readsChanged: false, readsNow: false, readsMethod: false });
  });
});

describe("rules: decided early, before there is a body", () => {
  const early = (source: string, context = guest) => compile(source).bindEarly(context);
  it("a comparison with @body or @changed could hold either way", () => {
    for (const source of ["@body.n = 1", "!(@body.n = 1)", "@body.n != 1", "@changed.n", "!@changed.n", "@body.flag", "n in [@body.n]", "@body.n = null"]) {
      expect(isAlways(early(source)), source).to.equal(true);
    }
  });
  it("a flat denial is seen beside it", () => {
    expect(isNever(early("@auth.id != null && @body.n = 1"))).to.equal(true);
    expect(isNever(early("!(@auth.id = null || @body.n = 1)"))).to.equal(true);
    expect(isNever(early("@auth.id != null || @body.n = 1"))).to.equal(false);
  });
  it("the rest stays a filter on the record", () => {
    expect(early("owner = @auth.id && !@changed.owner", contextOf())).to.deep.equal({ op: "is", field: { field: "owner", kind: "text" }, value: "u1" });
  });
  it("without @body and @changed it is the rule itself", () => {
    const rule = compile("owner = @auth.id");
    expect(rule.bindEarly).to.equal(rule.bind);
  });
});

describe("rules: owner look-up", () => {
  const cases: readonly [string, object | null][] = [
    ["owner = @auth.id", { field: "owner", authField: "id" }],
    ["@auth.id = owner", { field: "owner", authField: "id" }],
    ["flag && (n = 1 && group = @auth.group)", { field: "group", authField: "group" }],
    ["owner = @auth.id || flag", null],
    ["!(owner = @auth.id)", null],
    ["owner != @auth.id", null],
    ["owner = title", null],
    ["meta.owner = @auth.id", null],
    ["members = @auth.id", null],
    ["due = @auth.group", null],
    ["n = @auth.level", { field: "n", authField: "level" }],
    ["true", null],
  ];
  for (const [source, expected] of cases) {
    it(source, () => expect(compile(source).ownerLookup).to.deep.equal(expected));
  }
});

describe("rules: explanation", () => {
  it("tells each part's range, answer and operands", () => {
    const source = "flag || (owner = @auth.id && !@changed.owner)";
    const told = explainRule(source, schemaFor("update"), contextOf({ changed: new Set(["owner"]) }), recordOf({ owner: "u1", flag: false }));
    expect(told).to.include({ type: "or", start: 0, end: source.length, result: false });
    expect(told.parts.map((part) => [part.source, part.result])).to.deep.equal([["flag", false], ["(owner = @auth.id && !@changed.owner)", false]]);
    const [own, given] = told.parts[1]!.parts;
    expect(own).to.include({ source: "owner = @auth.id", result: true });
    expect(own!.operands).to.deep.equal([{ source: "owner", value: "u1" }, { source: "@auth.id", value: "u1" }]);
    expect(given).to.include({ source: "!@changed.owner", result: false });
    expect(given!.parts[0]!.operands).to.deep.equal([{ source: "@changed.owner", value: true }]);
  });
  it("shows lists and members of JSON", () => {
    const told = explainRule("meta.a in ['x', @auth.group]", schemaFor("view"), contextOf(), recordOf({ meta: { a: "red" } }));
    expect(told.operands.map(({ value }) => value)).to.deep.equal(["red", ["x", "red"]]);
    expect(told.result).to.equal(true);
  });
});

describe("rules: presets and the rules of a collection", () => {
  it("every preset is a rule of a collection with owner and group, and of users", () => {
    for (const isUsers of [false, true]) {
      for (const name of ruleNames) {
        for (const preset of presetsFor(name, isUsers)) {
          const collection = { name: isUsers ? "users" : "things", fields: isUsers ? userFields : fields, listRule: null, viewRule: null, createRule: null, updateRule: null, deleteRule: null, [name]: preset.rule };
          const { rules, errors } = compileCollectionRules(collection, userFields);
          expect(errors).to.deep.equal([]);
          expect(rules[name]?.source ?? null).to.equal(preset.rule);
        }
      }
    }
  });
  it("Own records for update does not let the record be given away", () => {
    const own = presetsFor("updateRule", false).find((preset) => preset.name === "Own records")!;
    const rule = compile(own.rule!);
    expect(isNever(rule.bind(contextOf({ changed: new Set(["owner"]) })))).to.equal(true);
    expect(isNever(rule.bind(contextOf({ changed: new Set(["title"]) })))).to.equal(false);
  });
  it("users start with list, view and update at Own records", () => {
    expect(initialUserRules).to.deep.equal({ listRule: "id = @auth.id", viewRule: "id = @auth.id", createRule: null, updateRule: "id = @auth.id", deleteRule: null });
    expect(compileCollectionRules({ name: "users", fields: userFields, ...initialUserRules }, userFields).errors).to.deep.equal([]);
  });
  it("each wrong rule has its entry, the others hold", () => {
    const { rules, errors } = compileCollectionRules(
      { name: "things", fields, listRule: "titel = 1", viewRule: "true", createRule: "@changed.n", updateRule: null, deleteRule: "(" }, userFields,
    );
    expect(errors.map(({ field }) => field)).to.deep.equal(["listRule", "createRule", "deleteRule"]);
    expect(errors[0]!.message).to.equal("at position 0: unknown field: the collection has no field titel");
    expect(rules.viewRule?.source).to.equal("true");
    expect(rules.listRule).to.equal(null);
  });
});
