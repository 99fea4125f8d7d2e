// Values against fields: no conversion between types, every limit.
import { expect } from "chai";
import fc from "fast-check";
import { newId } from "../../../lib/core/ids.js";
import { convertText } from "../../../lib/schema/convert.js";
import { parseTimestamp } from "../../../lib/schema/dates.js";
import { isEmail, isHttpUrl } from "../../../lib/schema/formats.js";
import { codePoints } from "../../../lib/schema/texts.js";
import { checkValue } from "../../../lib/schema/values.js";
import type { Field, FieldType } from "../../../lib/schema/collection.js";
import { fieldOf } from "./support.js";

const accepted = (field: Field, value: unknown) => checkValue(field, value).message === undefined;

describe("schema: each type takes its own values only", () => {
  const id = newId(Date.now());
  const samples: readonly [unknown, readonly FieldType[]][] = [
    ["plain", ["TEXT", "JSON"]],
    ["", ["TEXT", "JSON"]],
    ["1", ["TEXT", "JSON"]],
    ["true", ["TEXT", "JSON"]],
    [1, ["NUMBER", "JSON"]],
    [0, ["NUMBER", "JSON"]],
    [1.5, ["NUMBER", "JSON"]],
    [true, ["BOOLEAN", "JSON"]],
    [false, ["BOOLEAN", "JSON"]],
    ["2026-01-31", ["TEXT", "DATE", "JSON"]],
    ["a@b.test", ["TEXT", "EMAIL", "JSON"]],
    ["https://example.test/", ["TEXT", "URL", "JSON"]],
    ["open", ["TEXT", "SELECT", "JSON"]],
    [id, ["TEXT", "RELATION", "JSON"]],
    [{ a: 1 }, ["JSON"]],
    [["a"], ["JSON"]],
    [Number.NaN, []],
    [Number.POSITIVE_INFINITY, []],
    [new Date(0), []],
    [() => 1, []],
    [10n, []],
  ];
  const types: readonly FieldType[] = ["TEXT", "NUMBER", "BOOLEAN", "DATE", "EMAIL", "URL", "SELECT", "RELATION", "JSON", "FILE"];
  for (const [value, takers] of samples) {
    it(`${typeof value} ${typeof value === "object" ? JSON.stringify(value) : String(value)}: ${takers.join(", ") || "none"}`, () => {
      expect(types.filter((type) => accepted(fieldOf(type), value))).to.deep.equal(takers);
    });
  }
  it("null is no value: it passes unless the field is required", () => {
    for (const type of types) {
      expect(checkValue(fieldOf(type), null)).to.deep.equal({ value: null });
      expect(checkValue({ ...fieldOf(type), required: true } as Field, null)).to.deep.equal({ message: "is required" });
    }
  });
  it("an empty text is missing where the field is required", () => {
    for (const type of ["TEXT", "EMAIL", "URL", "SELECT", "RELATION", "DATE"] as const) expect(checkValue({ ...fieldOf(type), required: true } as Field, "")).to.deep.equal({ message: "is required" });
  });
});

describe("schema: limits", () => {
  const cases: readonly [string, Field, unknown, string | null][] = [
    ["maxLength counts code points", fieldOf("TEXT", { maxLength: 3 }), "😀😀😀", null],
    ["maxLength", fieldOf("TEXT", { maxLength: 3 }), "abcd", "must have at most 3 characters"],
    ["maxLength defaults to 5000", fieldOf("TEXT"), "a".repeat(5000), null],
    ["maxLength defaults to 5000, no more", fieldOf("TEXT"), "a".repeat(5001), "must have at most 5000 characters"],
    ["minLength counts code points", fieldOf("TEXT", { minLength: 2 }), "😀", "must have at least 2 characters"],
    ["pattern is found", fieldOf("TEXT", { pattern: "b+" }), "abbc", null],
    ["pattern", fieldOf("TEXT", { pattern: "^b+$" }), "abbc", "must match the pattern ^b+$"],
    ["no NUL", fieldOf("TEXT"), "a\0", "must not hold a NUL character or half of a surrogate pair"],
    ["no lone surrogate", fieldOf("TEXT"), "a\ud800", "must not hold a NUL character or half of a surrogate pair"],
    ["min", fieldOf("NUMBER", { min: 1 }), 0, "must be at least 1"],
    ["max", fieldOf("NUMBER", { max: 1 }), 2, "must be at most 1"],
    ["integer", fieldOf("NUMBER", { integer: true }), 1.5, "must be a whole number"],
    ["date min", fieldOf("DATE", { min: "2026-01-01" }), "2025-12-31T23:59:59.999Z", "must not be before 2026-01-01T00:00:00.000Z"],
    ["date max", fieldOf("DATE", { max: "2026-01-01" }), "2026-01-02", "must not be after 2026-01-01T00:00:00.000Z"],
    ["select", fieldOf("SELECT"), "opened", "must be one of open, done"],
    ["relation", fieldOf("RELATION"), "x", "must be the id of a record of users"],
    ["JSON size", fieldOf("JSON"), "a".repeat(65534), null],
    ["JSON size, one more", fieldOf("JSON"), "a".repeat(65535), "must be at most 64 KiB of JSON"],
    ["JSON size in bytes", fieldOf("JSON"), "é".repeat(32768), "must be at most 64 KiB of JSON"],
    ["JSON depth", fieldOf("JSON"), nest(50), null],
    ["JSON depth, one more", fieldOf("JSON"), nest(51), "is nested too deep"],
    ["JSON keys", fieldOf("JSON"), JSON.parse('{"a":{"__proto__":1}}'), "has the key __proto__, which is not allowed"],
    ["JSON texts", fieldOf("JSON"), ["\0"], "holds a NUL character or half of a surrogate pair"],
    ["FILE", fieldOf("FILE"), "x", "must be null: files are given by upload"],
  ];
  for (const [name, field, value, message] of cases) {
    it(name, () => expect(checkValue(field, value).message ?? null).to.equal(message));
  }
  it("-0 is kept as 0", () => expect(Object.is((checkValue(fieldOf("NUMBER"), -0) as { value: number }).value, 0)).to.equal(true));
  it("the length is that of the code points", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(codePoints(text)).to.equal([...text].length);
    }));
  });
});

function nest(depth: number): unknown {
  let value: unknown = [];
  for (let level = 1; level < depth; level += 1) value = [value];
  return value;
}

describe("schema: DATE", () => {
  const good: readonly [string, string][] = [
    ["2026-01-31", "2026-01-31T00:00:00.000Z"],
    ["2026-01-31T10:00", "2026-01-31T10:00:00.000Z"],
    ["2026-01-31T10:00:01", "2026-01-31T10:00:01.000Z"],
    ["2026-01-31T10:00:01.5Z", "2026-01-31T10:00:01.500Z"],
    ["2026-01-31T10:00:01,123456789Z", "2026-01-31T10:00:01.123Z"],
    ["2026-01-31T10:00:00+02:00", "2026-01-31T08:00:00.000Z"],
    ["2026-01-31T10:00:00-0530", "2026-01-31T15:30:00.000Z"],
    ["2026-01-31T10:00:00+02", "2026-01-31T08:00:00.000Z"],
    ["2026-01-31t10:00:00z", "2026-01-31T10:00:00.000Z"],
    ["2024-02-29", "2024-02-29T00:00:00.000Z"],
    ["0001-01-01", "0001-01-01T00:00:00.000Z"],
    ["0099-12-31", "0099-12-31T00:00:00.000Z"],
    ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
  ];
  for (const [text, timestamp] of good) it(`${text} is ${timestamp}`, () => expect(parseTimestamp(text)).to.equal(timestamp));
  const bad = ["", "2026", "2026-01", "20260131", "2026-1-3", "2026-02-29", "2026-00-10", "2026-13-01", "2026-01-00", "2026-04-31", "2026-01-31 10:00:00", "2026-01-31T24:00:00Z", "2026-01-31T10:60:00Z", "2026-01-31T10:00:60Z", "2026-01-31T10", "2026-01-31T10:00:00.Z", "2026-01-31T10:00:00+24:00", "2026-01-31T10:00:00+01:60", "2026-01-31Z", " 2026-01-31", "2026-01-31\n", "0000-01-01", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "+002026-01-31T00:00:00Z", "1767225600000", "Fri Jan 30 2026", "٢٠٢٦-٠١-٣١"];
  for (const text of bad) it(`${JSON.stringify(text)} is refused`, () => expect(parseTimestamp(text)).to.equal(null));
  it("every timestamp of the service is read as itself, and order is that of time", () => {
    const time = fc.date({ min: new Date("0001-01-01T00:00:00.000Z"), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true });
    fc.assert(fc.property(time, time, (a, b) => {
      expect(parseTimestamp(a.toISOString())).to.equal(a.toISOString());
      expect(a.toISOString() < b.toISOString()).to.equal(a < b);
    }));
  });
});

describe("schema: EMAIL is one plain address", () => {
  for (const text of ["a@b.test", "a.b+tag@example.example", "o'neil@b.de", "a@sub.b.co", "ä@ö.de"]) it(`${text} is taken`, () => expect(isEmail(text)).to.equal(true));
  for (const text of ["", "a", "a@", "@b.de", "a@b", "a b@c.de", "a@b.de,c@d.de", "a@b.de;c@d.de", "a@b.de c@d.de", "A <a@b.de>", "<a@b.de>", "a@b.de\r\nBcc: c@d.de", "a@b.de\n", "\"a b\"@c.de", "a(x)@b.de", "a:b@c.de", "a\u200b@b.de", "a\u0085@b.de", "a\u2028@b.de", "a@b.de\0", "a@@b.de", "a\\@b.de", `${"a".repeat(250)}@b.de`]) {
    it(`${JSON.stringify(text.slice(0, 40))} is refused`, () => expect(isEmail(text)).to.equal(false));
  }
});

describe("schema: URL is absolute http or https", () => {
  for (const text of ["http://a", "https://example.test/x?y=1#z", "HTTPS://Example.test", "http://[::1]:8080/", "https://ö.de/ä"]) it(`${text} is taken`, () => expect(isHttpUrl(text)).to.equal(true));
  for (const text of ["", "example.test", "//example.test", "/x", "ftp://a", "javascript:alert(1)", "data:text/html,x", "http:a", "http://", "http:// a", " https://a", "https://a\n", "https://a\tb", "https://a:99999", `https://a/${"x".repeat(2048)}`]) {
    it(`${JSON.stringify(text.slice(0, 40))} is refused`, () => expect(isHttpUrl(text)).to.equal(false));
  }
});

describe("schema: text to a field's type", () => {
  const cases: readonly [FieldType, string, unknown][] = [
    ["TEXT", "1", "1"], ["TEXT", "", ""], ["NUMBER", "1.5e3", 1500], ["NUMBER", "-0", 0], ["BOOLEAN", "true", true], ["BOOLEAN", "false", false],
    ["DATE", "2026-01-31", "2026-01-31T00:00:00.000Z"], ["JSON", '{"a":[1]}', { a: [1] }], ["SELECT", "open", "open"], ["EMAIL", "x", "x"],
  ];
  for (const [type, text, value] of cases) it(`${type} ${JSON.stringify(text)}`, () => expect(convertText(fieldOf(type), text)).to.deep.equal({ value }));
  const bad: readonly [FieldType, string][] = [
    ["NUMBER", ""], ["NUMBER", " 1"], ["NUMBER", "0x10"], ["NUMBER", "1e999"], ["NUMBER", "NaN"], ["NUMBER", "01"], ["NUMBER", "1_000"], ["NUMBER", "+1"],
    ["BOOLEAN", "TRUE"], ["BOOLEAN", "1"], ["BOOLEAN", ""], ["DATE", "soon"], ["JSON", "{"], ["FILE", "x"],
  ];
  for (const [type, text] of bad) it(`${type} ${JSON.stringify(text)} cannot be`, () => expect(convertText(fieldOf(type), text)).to.have.property("error"));
});
