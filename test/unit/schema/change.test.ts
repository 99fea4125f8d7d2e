// Changes of a schema where records are there already.
import { expect } from "chai";
import type { Json } from "../../../lib/core/record.js";
import { planChange } from "../../../lib/schema/change.js";
import { parseCollection } from "../../../lib/schema/definition.js";
import { users } from "./support.js";

const plan = (before: readonly object[], after: readonly object[], rest: object = {}) =>
  planChange(parseCollection({ name: "things", fields: before }), parseCollection({ name: "things", fields: after, ...rest }));
const text = { name: "a", type: "TEXT" };

describe("schema: changes in place", () => {
  it("no change asks for nothing", () => {
    expect(plan([text], [text])).to.deep.equal({
      transform: undefined, indexes: [], changesTable: false, needsDefault: [], scans: [], relations: [], defaultRelations: [], removedFiles: [],
    });
  });
  it("a new field gets its default, or null", () => {
    const made = plan([text], [text, { name: "n", type: "NUMBER", default: 3 }, { name: "m", type: "JSON" }]);
    expect(made).to.deep.include({ transform: { add: { n: 3, m: null } }, changesTable: true, needsDefault: [] });
  });
  it("a new required field needs a default where records exist", () => {
    expect(plan([], [{ ...text, required: true }, { name: "b", type: "TEXT", required: true, default: "x" }]).needsDefault).to.deep.equal(["a"]);
  });
  it("a removed field goes from the rows, a FILE field with its files", () => {
    const made = plan([text, { name: "p", type: "FILE" }], []);
    expect(made.transform).to.deep.equal({ remove: ["a", "p"] });
    expect(made.removedFiles.map(({ name }) => name)).to.deep.equal(["p"]);
  });
  it("an index that comes or goes changes the table", () => {
    expect(plan([text], [{ ...text, unique: true }])).to.deep.include({ changesTable: true, indexes: [{ fields: [{ field: "a", kind: "text" }], unique: true }], scans: [] });
    expect(plan([{ ...text, unique: true }], [text])).to.deep.include({ changesTable: true, indexes: [] });
    expect(plan([text], [text], { indexes: [{ fields: ["createdAt"] }] }).changesTable).to.equal(true);
  });
  it("relations are looked at where their ids have to exist anew", () => {
    const relation = { name: "r", type: "RELATION", collection: "a" };
    expect(plan([{ name: "r", type: "TEXT" }], [relation]).relations).to.deep.equal([{ field: "r", collection: "a" }]);
    expect(plan([relation], [{ ...relation, collection: "b" }]).relations).to.deep.equal([{ field: "r", collection: "b" }]);
    expect(plan([relation], [{ ...relation, onDelete: "cascade" }]).relations).to.deep.equal([]);
    const id = "01970000-0000-7000-8000-000000000000";
    expect(plan([], [{ ...relation, default: id }]).defaultRelations).to.deep.equal([{ field: "r", collection: "a", id }]);
  });
  it("the virtual password of users is never stored", () => {
    expect(planChange(parseCollection({ name: "users" }), users).transform).to.deep.equal({ add: { username: null, email: null, role: "user" } });
  });
});

describe("schema: stored values that a change cannot take over", () => {
  const scan = (before: object, after: object, value: Json) => {
    const scans = plan([{ name: "f", ...before }], [{ name: "f", ...after }]).scans;
    return scans.length === 0 ? null : scans[0]!.check(value);
  };
  const cases: readonly [name: string, before: object, after: object, value: Json, message: RegExp | null][] = [
    ["text to number", { type: "TEXT" }, { type: "NUMBER" }, "1", /must be a number/],
    ["nothing to number", { type: "TEXT" }, { type: "NUMBER" }, null, null],
    ["number to JSON", { type: "NUMBER" }, { type: "JSON" }, 1, null],
    ["text to a shorter text", { type: "TEXT" }, { type: "TEXT", maxLength: 2 }, "abc", /at most 2/],
    ["text to a longer text", { type: "TEXT", maxLength: 2 }, { type: "TEXT" }, "ab", null],
    ["text to required", { type: "TEXT" }, { type: "TEXT", required: true }, null, /required/],
    ["empty text to required", { type: "TEXT" }, { type: "TEXT", required: true }, "", /required/],
    ["text to a pattern", { type: "TEXT" }, { type: "TEXT", pattern: "^x" }, "y", /pattern/],
    ["a value leaves SELECT", { type: "SELECT", values: ["a", "b"] }, { type: "SELECT", values: ["a"] }, "b", /one of a/],
    ["a value stays in SELECT", { type: "SELECT", values: ["a", "b"] }, { type: "SELECT", values: ["a"] }, "a", null],
    ["text to date, as stored", { type: "TEXT" }, { type: "DATE" }, "2026-01-31T00:00:00.000Z", null],
    ["text to date, as written", { type: "TEXT" }, { type: "DATE" }, "2026-01-31", /stored as "2026-01-31T00:00:00.000Z"/],
    ["text to relation", { type: "TEXT" }, { type: "RELATION", collection: "a" }, "x", /id of a record/],
    ["JSON to text", { type: "JSON" }, { type: "TEXT" }, { a: 1 }, /must be a text/],
    ["JSON to number, one of them", { type: "JSON" }, { type: "NUMBER" }, 1, null],
    ["one file to many", { type: "FILE" }, { type: "FILE", multiple: true }, { id: "x" }, /remove it first/],
    ["many files to one", { type: "FILE", multiple: true }, { type: "FILE" }, [{ id: "x" }], /remove it first/],
    ["no files to one", { type: "FILE", multiple: true }, { type: "FILE" }, [], null],
    ["a file to JSON", { type: "FILE" }, { type: "JSON" }, { id: "x" }, /remove it first/],
    ["a text to a file", { type: "TEXT" }, { type: "FILE" }, "x", /remove it first/],
    ["no file to required", { type: "FILE" }, { type: "FILE", required: true }, null, /required/],
    ["a file to required", { type: "FILE" }, { type: "FILE", required: true }, { id: "x" }, null],
    ["a new limit of files", { type: "FILE" }, { type: "FILE", maxSize: 1, widths: [5], mimeTypes: ["image/*"] }, { id: "x" }, null],
  ];
  for (const [name, before, after, value, message] of cases) {
    it(`${name}: ${JSON.stringify(value)}`, () => {
      const said = scan(before, after, value);
      if (message === null) expect(said).to.equal(null);
      else expect(said).to.match(message);
    });
  }
  it("no scan where nothing can be refused", () => {
    expect(plan([{ ...text, required: true }], [{ ...text, default: "x" }]).scans).to.deep.equal([]);
  });
});
