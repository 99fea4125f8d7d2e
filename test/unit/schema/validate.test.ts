// Records against fields: create, update, users; JSON guard; what a body says of files.
import { expect } from "chai";
import fc from "fast-check";
import { BadRequest } from "../../../lib/core/errors.js";
import type { Json, JsonObject } from "../../../lib/core/record.js";
import { parseCollection } from "../../../lib/schema/definition.js";
import { checkJson } from "../../../lib/schema/json-guard.js";
import { validateRecord } from "../../../lib/schema/validate.js";
import { users } from "./support.js";

const { fields } = parseCollection({ name: "things", fields: [
  { name: "title", type: "TEXT", required: true }, { name: "n", type: "NUMBER", default: 7 }, { name: "due", type: "DATE" },
  { name: "meta", type: "JSON" }, { name: "cover", type: "FILE", required: true }, { name: "state", type: "SELECT", values: ["a"], required: true, default: "a" },
] });
const create = (body: JsonObject) => validateRecord({ fields, isUsers: false, body, mode: "create" });
const update = (body: JsonObject) => validateRecord({ fields, isUsers: false, body, mode: "update" });

describe("schema: a record to create", () => {
  it("has every field: given, default, or null", () => {
    expect(create({ title: "x", due: "2026-01-31" })).to.deep.equal({ values: { title: "x", n: 7, due: "2026-01-31T00:00:00.000Z", meta: null, cover: null, state: "a" }, errors: [] });
  });
  it("null is given, so the default does not stand in", () => {
    expect(create({ title: "x", n: null }).values).to.include({ n: null });
    expect(create({ title: "x", state: null }).errors).to.deep.equal([{ field: "state", message: "is required" }]);
  });
  for (const body of [{}, { title: null }, { title: "" }] as JsonObject[]) {
    it(`a required field is missing in ${JSON.stringify(body)}`, () => expect(create(body).errors).to.deep.equal([{ field: "title", message: "is required" }]));
  }
  it("one entry for each fault, unknown members too", () => {
    expect(create(JSON.parse('{"title":1,"n":"1","bogus":1,"passwordHash":"x","__proto__":{},"toString":1}')).errors.map(({ field }) => field))
      .to.deep.equal(["title", "n", "bogus", "passwordHash", "__proto__", "toString"]);
  });
  it("system fields are ignored, so that a record that was read can be written back", () => {
    expect(create({ title: "x", id: "1", createdAt: 2, updatedAt: null }).errors).to.deep.equal([]);
    expect(create({ title: "x", id: "1" }).values).to.not.have.property("id");
  });
  it("role and emailVerified are plain unknown members outside users", () => {
    expect(create({ title: "x", role: "a", emailVerified: true }).errors.map(({ field }) => field)).to.deep.equal(["role", "emailVerified"]);
  });
  it("what a body says of files is left to the caller", () => {
    expect(create({ title: "x", cover: "anything" })).to.deep.include({ errors: [] });
  });
});

describe("schema: a record to update", () => {
  it("looks at the members given only", () => {
    expect(update({ n: 1 })).to.deep.equal({ values: { n: 1 }, errors: [] });
    expect(update({})).to.deep.equal({ values: {}, errors: [] });
    expect(update({ cover: null })).to.deep.equal({ values: {}, errors: [] });
  });
  it("a required field cannot be emptied", () => {
    expect(update({ title: null }).errors).to.deep.equal([{ field: "title", message: "is required" }]);
    expect(update({ title: "" }).errors).to.deep.equal([{ field: "title", message: "is required" }]);
  });
  it("unknown members are refused", () => expect(update({ x: 1 }).errors).to.deep.equal([{ field: "x", message: "is no field of the collection" }]));
});

describe("schema: a record of users", () => {
  it("role, emailVerified and the passwords are not the body's to set", () => {
    const made = validateRecord({ fields: users.fields, isUsers: true, mode: "create", body: { username: "ada", role: "admin", emailVerified: true, password: "short", oldPassword: 1, email: "a@b.test" } });
    expect(made).to.deep.equal({ values: { username: "ada", email: "a@b.test", role: "user" }, errors: [] });
    expect(validateRecord({ fields: users.fields, isUsers: true, mode: "update", body: { role: null, password: "" } })).to.deep.equal({ values: {}, errors: [] });
  });
  it("passwordHash is an unknown member", () => {
    expect(validateRecord({ fields: users.fields, isUsers: true, mode: "update", body: { passwordHash: "x" } }).errors).to.have.length(1);
  });
});

describe("schema: any JSON as a record", () => {
  it("what passes is stored as it is read again", () => {
    const body = fc.dictionary(fc.constantFrom("title", "n", "due", "meta", "state", "x"), fc.oneof(fc.jsonValue() as fc.Arbitrary<Json>, fc.constantFrom<Json>("a", "2026-01-31", 1)));
    fc.assert(fc.property(body, (given) => {
      const first = create(given);
      if (first.errors.length > 0) return;
      expect(create(first.values)).to.deep.equal(first);
    }), { numRuns: 1000 });
  });
});

describe("schema: the JSON guard", () => {
  const nest = (depth: number) => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`) as unknown;
  const good: readonly [string, unknown][] = [["null", null], ["an empty object", {}], ["54 levels", nest(54)], ["keys like operators", { $gt: 1, "a.b": 2, "": 3 }], ["constructor and prototype, each alone", { constructor: "Ferrari", a: [{ prototype: 1 }], b: { constructor: { name: "x" } } }], ["an object without prototype", Object.assign(Object.create(null) as object, { a: 1 })], ["emoji", "😀"]];
  for (const [name, value] of good) it(`${name} passes`, () => expect(() => checkJson(value)).to.not.throw());
  const cycle: unknown[] = [];
  cycle.push(cycle);
  const bad: readonly [string, unknown][] = [
    ["55 levels", nest(55)], ["20000 levels", nest(20_000)], ["a cycle", cycle], ["1e400", JSON.parse("[1e400]")], ["NaN", { a: Number.NaN }], ["NUL", ["\0"]], ["NUL in a key", { "a\0": 1 }],
    ["half a surrogate pair", { a: "\udc00" }], ["half a surrogate pair in a key", { "\ud800": 1 }], ["__proto__", JSON.parse('{"a":{"__proto__":{}}}')], ["constructor with prototype", { a: [{ constructor: { prototype: {} } }] }],
    ["undefined", { a: undefined }], ["a function", { a: () => 1 }], ["a Date", { a: new Date(0) }], ["a bigint", [1n]], ["a Map", new Map()], ["a Buffer", Buffer.from("x")],
  ];
  for (const [name, value] of bad) it(`${name} is refused`, () => expect(() => checkJson(value)).to.throw(BadRequest, /^The body (holds|has|is) /));
});
