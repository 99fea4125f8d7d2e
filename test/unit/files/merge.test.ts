import { expect } from "chai";
import type { Collection } from "../../../lib/collections/collection.js";
import type { JsonObject, RecordValue } from "../../../lib/core/record.js";
import type { PendingFile } from "../../../lib/files/files.js";
import { mergeFiles } from "../../../lib/files/merge.js";
import type { FileField } from "../../../lib/schema/collection.js";
import { fileField, fileCollection } from "./scene.js";

const reference = (id: string) => ({ id, name: `${id}.txt`, size: 1, type: "text/plain" });
const pending = (field: string, id: string): PendingFile => ({ field, reference: reference(id), key: `t/c/r/${id}` });
const system = { id: "r", createdAt: "2026-01-01T00:00:00.000Z", updatedAt: "2026-01-01T00:00:00.000Z" };

function merge(field: Partial<FileField>, existing: JsonObject | null, body: JsonObject, files: readonly PendingFile[] = []) {
  const collection: Collection = fileCollection("docs", [fileField({ name: "f", ...field })]);
  return mergeFiles({ collection, existing: existing === null ? null : ({ ...system, ...existing } as RecordValue), body, pending: files });
}

describe("FILE fields of a write", () => {
  it("a create sets every FILE field: null without files, an array where multiple", () => {
    expect(merge({}, null, {}).set).to.deep.equal({ f: null });
    expect(merge({ multiple: true }, null, {}).set).to.deep.equal({ f: null });
    expect(merge({}, null, {}, [pending("f", "a")]).set).to.deep.equal({ f: reference("a") });
    expect(merge({ multiple: true }, null, {}, [pending("f", "a"), pending("f", "b")]).set).to.deep.equal({ f: [reference("a"), reference("b")] });
  });

  it("a new file replaces the one of a single field", () => {
    const { set, removed, errors } = merge({}, { f: reference("a") }, {}, [pending("f", "b")]);
    expect(set).to.deep.equal({ f: reference("b") });
    expect(removed).to.deep.equal([reference("a")]);
    expect(errors).to.deep.equal([]);
  });

  it("several parts of a multiple field append on PATCH", () => {
    const { set, removed } = merge({ multiple: true }, { f: [reference("a")] }, {}, [pending("f", "b"), pending("f", "c")]);
    expect(set).to.deep.equal({ f: [reference("a"), reference("b"), reference("c")] });
    expect(removed).to.deep.equal([]);
  });

  it("null removes", () => {
    expect(merge({}, { f: reference("a") }, { f: null })).to.deep.equal({ set: { f: null }, removed: [reference("a")], errors: [] });
    expect(merge({ multiple: true }, { f: [reference("a"), reference("b")] }, { f: null })).to.deep.equal({ set: { f: null }, removed: [reference("a"), reference("b")], errors: [] });
  });

  it("an array of kept file ids keeps them in their new order", () => {
    const stored = { f: [reference("a"), reference("b"), reference("c")] };
    expect(merge({ multiple: true }, stored, { f: ["c", "a"] })).to.deep.equal({ set: { f: [reference("c"), reference("a")] }, removed: [reference("b")], errors: [] });
    expect(merge({ multiple: true }, stored, { f: [] })).to.deep.equal({ set: { f: null }, removed: stored.f, errors: [] });
  });

  it("a record that was read can be written back", () => {
    const stored = { f: [reference("a"), reference("b")] };
    expect(merge({ multiple: true }, stored, { f: stored.f.map((one) => ({ ...one, url: "/x" })) })).to.deep.equal({ set: {}, removed: [], errors: [] });
    expect(merge({}, { f: reference("a") }, { f: { ...reference("a"), url: "/x" } })).to.deep.equal({ set: {}, removed: [], errors: [] });
  });

  it("nothing said changes nothing", () => {
    expect(merge({ required: true }, { f: null }, {})).to.deep.equal({ set: {}, removed: [], errors: [] });
    expect(merge({ multiple: true }, { f: [reference("a")] }, { f: ["a"] }).set).to.deep.equal({});
  });

  const faults: readonly [what: string, field: Partial<FileField>, existing: JsonObject | null, body: JsonObject, files: PendingFile[], message: RegExp][] = [
    ["an unknown kept id", { multiple: true }, { f: [reference("a")] }, { f: ["a", "x"] }, [], /does not hold: x/],
    ["a kept id given twice", { multiple: true }, { f: [reference("a")] }, { f: ["a", "a"] }, [], /twice/],
    ["text for a multiple field", { multiple: true }, { f: [] }, { f: "a" }, [], /list of file ids/],
    ["a number in the list", { multiple: true }, { f: [] }, { f: [1] }, [], /list of file ids/],
    ["text for a single field", {}, null, { f: "a.png" }, [], /does not hold/],
    ["a number for a single field", {}, null, { f: 5 }, [], /must be null/],
    ["a list for a single field", {}, null, { f: [] }, [], /must be null/],
    ["a required field left empty on create", { required: true }, null, {}, [], /required/],
    ["a required field emptied", { required: true }, { f: reference("a") }, { f: null }, [], /required/],
    ["more than maxFiles", { multiple: true, maxFiles: 2 }, { f: [reference("a")] }, {}, [pending("f", "b"), pending("f", "c")], /at most 2/],
    ["two files for a single field", {}, null, {}, [pending("f", "a"), pending("f", "b")], /one file/],
  ];
  for (const [what, field, existing, body, files, message] of faults) {
    it(`refuses ${what}`, () => {
      const { errors } = merge(field, existing, body, files);
      expect(errors).to.have.length(1);
      expect(errors[0]!.field).to.equal("f");
      expect(errors[0]!.message).to.match(message);
    });
  }

  it("a field that became single shows and keeps the first file of its list", () => {
    const { set, removed } = merge({}, { f: [reference("a"), reference("b")] }, {}, [pending("f", "c")]);
    expect(set).to.deep.equal({ f: reference("c") });
    expect(removed).to.deep.equal([reference("a"), reference("b")]);
  });
});
