// Collection definitions: defaults, limits, every fault by its path.
import { expect } from "chai";
import fc from "fast-check";
import { BadRequest, ValidationFailed } from "../../../lib/core/errors.js";
import type { CollectionDefinition } from "../../../lib/schema/collection.js";
import { parseCollection } from "../../../lib/schema/definition.js";
import { coreUserFields, indexDefinitions } from "../../../lib/schema/fields.js";
import { entriesOf, users } from "./support.js";

const withField = (field: unknown) => ({ name: "things", fields: [field] });

describe("schema: a new collection", () => {
  it("has all five rules at No access and realtime on", () => {
    expect(parseCollection({ name: "things" })).to.deep.equal({
      name: "things", fields: [], indexes: [], listRule: null, viewRule: null, createRule: null, updateRule: null, deleteRule: null, realtime: true,
    });
  });
  it("each type has its options with their defaults", () => {
    const { fields } = parseCollection({ name: "things", fields: [
      { name: "a", type: "TEXT" }, { name: "b", type: "NUMBER" }, { name: "c", type: "BOOLEAN" }, { name: "d", type: "DATE" }, { name: "e", type: "EMAIL" }, { name: "f", type: "URL" },
      { name: "g", type: "SELECT", values: ["x"] }, { name: "h", type: "RELATION", collection: "users" }, { name: "i", type: "JSON" }, { name: "j", type: "FILE" },
    ] });
    const base = { required: false, unique: false, default: null };
    expect(fields).to.deep.equal([
      { name: "a", type: "TEXT", ...base, minLength: null, maxLength: 5000, pattern: null },
      { name: "b", type: "NUMBER", ...base, min: null, max: null, integer: false },
      { name: "c", type: "BOOLEAN", ...base },
      { name: "d", type: "DATE", ...base, min: null, max: null },
      { name: "e", type: "EMAIL", ...base },
      { name: "f", type: "URL", ...base },
      { name: "g", type: "SELECT", ...base, values: ["x"] },
      { name: "h", type: "RELATION", ...base, collection: "users", onDelete: "restrict" },
      { name: "i", type: "JSON", ...base },
      { name: "j", type: "FILE", ...base, multiple: false, maxFiles: 10, maxSize: 2097152, mimeTypes: [], widths: [] },
    ]);
  });
  it("dates in a definition are kept as timestamps, widths ascending", () => {
    const { fields } = parseCollection({ name: "things", fields: [{ name: "d", type: "DATE", min: "2026-01-01", default: "2026-02-01T00:00+01:00" }, { name: "p", type: "FILE", widths: [300, 100] }] });
    expect(fields[0]).to.include({ min: "2026-01-01T00:00:00.000Z", default: "2026-01-31T23:00:00.000Z" });
    expect(fields[1]).to.deep.include({ widths: [100, 300] });
  });
});

describe("schema: faults by path", () => {
  const cases: readonly [name: string, input: unknown, path: string, message: RegExp][] = [
    ["no name", {}, "name", /required/],
    ["name", { name: "1a" }, "name", /letter/],
    ["name too long", { name: "a".repeat(64) }, "name", /63/],
    ["unknown member", { name: "a", rules: {} }, "rules", /not allowed/],
    ["rule", { name: "a", viewRule: 1 }, "viewRule", /text or null/],
    ["empty rule", { name: "a", viewRule: "" }, "viewRule", /No access/],
    ["fields", { name: "a", fields: {} }, "fields", /array/],
    ["field", withField(1), "fields[0]", /object/],
    ["no type", withField({ name: "a" }), "fields[0].type", /one of TEXT/],
    ["type", withField({ name: "a", type: "text" }), "fields[0].type", /one of TEXT/],
    ["type of a prototype", withField({ name: "a", type: "toString" }), "fields[0].type", /one of TEXT/],
    ["field name", withField({ name: "a b", type: "TEXT" }), "fields[0].name", /letter/],
    ["no field name", withField({ type: "TEXT" }), "fields[0].name", /required/],
    ["reserved", withField({ name: "id", type: "TEXT" }), "fields[0].name", /reserved/],
    ["reserved", withField({ name: "constructor", type: "TEXT" }), "fields[0].name", /reserved/],
    ["twice", { name: "a", fields: [{ name: "x", type: "TEXT" }, { name: "x", type: "JSON" }] }, "fields[1].name", /twice/],
    ["option of another type", withField({ name: "a", type: "TEXT", values: [] }), "fields[0].values", /not allowed/],
    ["required as text", withField({ name: "a", type: "TEXT", required: "yes" }), "fields[0].required", /boolean/],
    ["maxLength", withField({ name: "a", type: "TEXT", maxLength: 0 }), "fields[0].maxLength", /greater/],
    ["maxLength as text", withField({ name: "a", type: "TEXT", maxLength: "5" }), "fields[0].maxLength", /number/],
    ["minLength over maxLength", withField({ name: "a", type: "TEXT", minLength: 5, maxLength: 4 }), "fields[0].minLength", /maxLength/],
    ["backtracking pattern", withField({ name: "a", type: "TEXT", pattern: "(a)\\1" }), "fields[0].pattern", /linear time/],
    ["look-ahead", withField({ name: "a", type: "TEXT", pattern: "(?=a)" }), "fields[0].pattern", /linear time/],
    ["pattern of no language", withField({ name: "a", type: "TEXT", pattern: "(" }), "fields[0].pattern", /linear time/],
    ["huge pattern", withField({ name: "a", type: "TEXT", pattern: "(?:a{100}){10}(?:b{100}){10}" }), "fields[0].pattern", /too large/],
    ["costly pattern", withField({ name: "a", type: "TEXT", pattern: "(?:a?){400}", maxLength: 1_000_000 }), "fields[0].pattern", /lower maxLength/],
    ["long pattern", withField({ name: "a", type: "TEXT", pattern: "a".repeat(501) }), "fields[0].pattern", /500/],
    ["min over max", withField({ name: "a", type: "NUMBER", min: 2, max: 1 }), "fields[0].min", /max/],
    ["date limits", withField({ name: "a", type: "DATE", min: "soon" }), "fields[0].min", /ISO 8601/],
    ["no values", withField({ name: "a", type: "SELECT" }), "fields[0].values", /required/],
    ["values empty", withField({ name: "a", type: "SELECT", values: [] }), "fields[0].values", /at least 1/],
    ["value empty", withField({ name: "a", type: "SELECT", values: [""] }), "fields[0].values[0]", /empty/],
    ["value twice", withField({ name: "a", type: "SELECT", values: ["x", "x"] }), "fields[0].values[1]", /twice/],
    ["no collection", withField({ name: "a", type: "RELATION" }), "fields[0].collection", /required/],
    ["onDelete", withField({ name: "a", type: "RELATION", collection: "b", onDelete: "drop" }), "fields[0].onDelete", /one of/],
    ["unique JSON", withField({ name: "a", type: "JSON", unique: true }), "fields[0].unique", /cannot be unique/],
    ["unique FILE", withField({ name: "a", type: "FILE", unique: true }), "fields[0].unique", /cannot be unique/],
    ["default of a FILE", withField({ name: "a", type: "FILE", default: "x" }), "fields[0].default", /no default/],
    ["default of another type", withField({ name: "a", type: "NUMBER", default: "1" }), "fields[0].default", /must be a number/],
    ["default beyond a limit", withField({ name: "a", type: "TEXT", maxLength: 1, default: "ab" }), "fields[0].default", /at most 1/],
    ["maxSize", withField({ name: "a", type: "FILE", maxSize: 4194305 }), "fields[0].maxSize", /4194304/],
    ["nine widths", withField({ name: "a", type: "FILE", widths: [1, 2, 3, 4, 5, 6, 7, 8, 9] }), "fields[0].widths", /8/],
    ["width", withField({ name: "a", type: "FILE", widths: [4097] }), "fields[0].widths[0]", /4096/],
    ["media type", withField({ name: "a", type: "FILE", mimeTypes: ["png"] }), "fields[0].mimeTypes[0]", /media type/],
    ["index on nothing", { name: "a", indexes: [{ fields: [] }] }, "indexes[0].fields", /at least 1/],
    ["index on an unknown field", { name: "a", indexes: [{ fields: ["createdAt", "x"] }] }, "indexes[0].fields[1]", /no field/],
    ["index on JSON", { name: "a", fields: [{ name: "j", type: "JSON" }], indexes: [{ fields: ["j"] }] }, "indexes[0].fields[0]", /cannot be indexed/],
    ["index twice", { name: "a", indexes: [{ fields: ["createdAt"] }, { fields: ["createdAt"], unique: true }] }, "indexes[1]", /twice/],
    ["no object", "x", "collection", /object/],
    ["a list", [], "collection", /object/],
    ["prototype keys", JSON.parse('{"name":"a","__proto__":{}}'), "collection", /__proto__/],
  ];
  for (const [name, input, path, message] of cases) {
    it(`${name}: ${path}`, () => {
      const entry = entriesOf(() => parseCollection(input)).find(({ field }) => field === path);
      expect(entry?.message).to.match(message);
    });
  }
  it("all faults at once", () => {
    expect(entriesOf(() => parseCollection({ name: "a", fields: [{ name: "1", type: "TEXT" }, { name: "b", type: "x" }, { name: "c", type: "JSON", unique: true }] })).map(({ field }) => field))
      .to.deep.equal(["fields[0].name", "fields[1].type", "fields[2].unique"]);
  });
});

describe("schema: a change of a collection", () => {
  const existing: CollectionDefinition = {
    ...parseCollection({ name: "things", fields: [{ name: "a", type: "TEXT" }, { name: "b", type: "NUMBER" }], indexes: [{ fields: ["b"] }], viewRule: "true" }),
    id: "x", system: false, createdAt: "2026-01-01T00:00:00.000Z", updatedAt: "2026-01-01T00:00:00.000Z",
  };
  it("what is absent stays", () => {
    expect(parseCollection({ realtime: false }, { existing })).to.deep.equal({ ...content(existing), realtime: false });
    expect(parseCollection({ viewRule: null, name: "other" }, { existing })).to.deep.equal({ ...content(existing), viewRule: null, name: "other" });
  });
  it("fields replace the whole list", () => {
    expect(parseCollection({ fields: [{ name: "b", type: "NUMBER" }] }, { existing }).fields.map(({ name }) => name)).to.deep.equal(["b"]);
  });
  it("a removed field leaves no index behind", () => {
    expect(entriesOf(() => parseCollection({ fields: [{ name: "a", type: "TEXT" }] }, { existing }))[0]!.field).to.equal("indexes[0].fields[0]");
  });
  it("a definition that was read can be written back", () => {
    expect(parseCollection(JSON.parse(JSON.stringify(existing)), { existing })).to.deep.equal(content(existing));
    expect(parseCollection(JSON.parse(JSON.stringify(users)), { existing: users })).to.deep.equal(content(users));
  });
});

function content({ id: _id, system: _system, createdAt: _createdAt, updatedAt: _updatedAt, ...rest }: CollectionDefinition) {
  return rest;
}

describe("schema: users", () => {
  const change = (fields: readonly unknown[]) => parseCollection({ fields }, { existing: users });
  it("the core four come first, in their own representation", () => {
    const { fields } = change([{ name: "group", type: "TEXT" }, { name: "role" }, { name: "password", type: "TEXT" }, { name: "email" }, { name: "username", unique: true }]);
    expect(fields.slice(0, 4)).to.deep.equal(coreUserFields);
    expect(fields[4]).to.include({ name: "group", type: "TEXT" });
  });
  for (const { name } of coreUserFields) {
    it(`${name} cannot be removed`, () => {
      const entries = entriesOf(() => change(coreUserFields.filter((field) => field.name !== name)));
      expect(entries).to.have.length(1);
      expect(entries[0]!.message).to.match(new RegExp(`^${name} is a core field`));
    });
    it(`${name} cannot be retyped`, () => {
      const entries = entriesOf(() => change(coreUserFields.map((field) => (field.name === name ? { ...field, type: "JSON" } : field))));
      expect(entries[0]!.message).to.match(/cannot be changed/);
    });
  }
  it("the unique index on username stays", () => {
    expect(entriesOf(() => change(coreUserFields.map((field) => (field.name === "username" ? { ...field, unique: false } : field))))[0]!.field).to.equal("fields[0].unique");
    expect(indexDefinitions(parseCollection({ indexes: [] }, { existing: users }))).to.deep.equal([{ fields: [{ field: "username", kind: "text" }], unique: true }]);
  });
  for (const name of ["emailVerified", "passwordHash", "passwordSalt", "oldPassword", "active", "tenant"]) {
    it(`${name} is no name for a custom field`, () => expect(entriesOf(() => change([...coreUserFields, { name, type: "TEXT" }]))[0]!.message).to.match(/reserved on users/));
  }
  it("realtime stays off, the name stays", () => {
    expect(entriesOf(() => parseCollection({ realtime: true, name: "people" }, { existing: users })).map(({ field }) => field)).to.deep.equal(["name", "realtime"]);
    expect(parseCollection({ realtime: false }, { existing: users }).realtime).to.equal(false);
  });
  it("password cannot be indexed", () => expect(entriesOf(() => parseCollection({ indexes: [{ fields: ["password"] }] }, { existing: users }))[0]!.message).to.match(/password/));
});

describe("schema: index definitions", () => {
  it("each once, unique ones first, with the kinds of their fields", () => {
    const definition = parseCollection({ name: "a", fields: [{ name: "n", type: "NUMBER", unique: true }, { name: "flag", type: "BOOLEAN" }], indexes: [{ fields: ["n"] }, { fields: ["flag", "createdAt"] }] });
    expect(indexDefinitions(definition)).to.deep.equal([
      { fields: [{ field: "n", kind: "number" }], unique: true },
      { fields: [{ field: "flag", kind: "boolean" }, { field: "createdAt", kind: "text" }], unique: false },
    ]);
  });
});

describe("schema: garbage", () => {
  it("any JSON is either a definition or ValidationFailed", () => {
    const near = fc.record({ name: fc.constantFrom("a", 1), fields: fc.array(fc.dictionary(fc.constantFrom("name", "type", "default", "values", "pattern", "min", "unique", "maxLength", "mimeTypes", "__proto__"), fc.oneof(fc.jsonValue(), fc.constantFrom("TEXT", "SELECT", "DATE", "FILE"))), { maxLength: 3 }), indexes: fc.jsonValue() }, { requiredKeys: [] });
    fc.assert(fc.property(fc.oneof(fc.jsonValue(), near), (input) => {
      try {
        const first = parseCollection(input);
        expect(parseCollection(first)).to.deep.equal(first);
      } catch (error) {
        expect(error instanceof ValidationFailed || error instanceof BadRequest, String(error)).to.equal(true);
      }
    }), { numRuns: 1000 });
  });
});
