import { expect } from "chai";
import { StoredChange } from "../../../lib/storage/change.js";
import { StoredRow } from "../../../lib/storage/row.js";
import { toJsonText } from "../../../lib/storage/well-formed.js";

describe("StoredRow", () => {
  it("takes the id from the text, wherever and however it is written", () => {
    for (const record of [{ id: "a1", x: 1 }, { x: { id: "no" }, id: "a1" }, { id: 'q"\\', x: 1 }, { id: "", x: 1 }]) {
      expect(new StoredRow(undefined, 1, JSON.stringify(record), null).id).to.equal(record.id);
    }
    expect(new StoredRow("given", 1, "{}", null).id).to.equal("given");
  });

  it("parses once, and gives an empty object where nothing is hidden", () => {
    const row = new StoredRow(undefined, 3, '{"id":"a","n":1}', '{"h":2}');
    expect(row.record).to.equal(row.record).and.to.deep.equal({ id: "a", n: 1 });
    expect(row.hidden).to.equal(row.hidden).and.to.deep.equal({ h: 2 });
    expect(row.revision).to.equal(3);
    expect(new StoredRow("a", 1, '{"id":"a"}', null).hidden).to.deep.equal({});
  });
});

describe("StoredChange", () => {
  it("parses its text once; null stays null", () => {
    const change = new StoredChange("c1", "tasks", "create", "a", '{"id":"a"}', "2026-01-31T10:00:00.000Z");
    expect(change.record).to.equal(change.record).and.to.deep.equal({ id: "a" });
    expect(new StoredChange("c2", "tasks", "delete", "a", null, "").record).to.equal(null);
  });
});

describe("toJsonText", () => {
  it("is JSON.stringify, but for lone surrogates", () => {
    for (const value of [{ a: "\u{1f600}", b: "\\ud800" }, { "__proto__": 1 }, { a: ["x", null, true, 1.5] }]) expect(toJsonText(value)).to.equal(JSON.stringify(value));
    expect(toJsonText({ a: "\ud800x\u{1f600}", "\udc00": [{ b: "\ud83d" }] })).to.equal('{"a":"\ufffdx\u{1f600}","\ufffd":[{"b":"\ufffd"}]}');
    const own = toJsonText(JSON.parse('{"__proto__":{"a":"\\ud800"},"b":1}') as object);
    expect(own).to.equal('{"__proto__":{"a":"\ufffd"},"b":1}');
  });
});
