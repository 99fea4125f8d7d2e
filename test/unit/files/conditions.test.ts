import { expect } from "chai";
import { isNotModified, requestedRange } from "../../../lib/files/conditions.js";
import { parseKey, fileKey, variantKey } from "../../../lib/files/keys.js";
import { candidateWidths, parseWidth, plannedWidths } from "../../../lib/files/variant-plan.js";

const etag = '"a-original"';

describe("If-None-Match", () => {
  const cases: readonly [string | null, boolean][] = [
    [null, false], ["*", true], [etag, true], [`W/${etag}`, true], [`"b", ${etag}`, true], ['"a-300"', false], ['"b"', false], ["", false], ["a-original", false],
  ];
  for (const [given, expected] of cases) it(`${given ?? "none"}: ${expected}`, () => expect(isNotModified(given, etag)).to.equal(expected));
});

describe("Range", () => {
  const whole = undefined;
  const cases: readonly [header: string | null, ifRange: string | null, expected: unknown][] = [
    [null, null, whole],
    ["bytes=0-0", null, { start: 0, end: 0 }],
    ["bytes=10-19", null, { start: 10, end: 19 }],
    ["bytes=90-", null, { start: 90, end: 99 }],
    ["bytes=90-1000", null, { start: 90, end: 99 }],
    ["bytes=-5", null, { start: 95, end: 99 }],
    ["bytes=-500", null, { start: 0, end: 99 }],
    ["bytes=-0", null, "unsatisfiable"],
    ["bytes=100-", null, "unsatisfiable"],
    ["bytes=20-10", null, whole],
    ["bytes=0-1,5-6", null, whole],
    ["bytes=a-b", null, whole],
    ["bytes=-", null, whole],
    ["items=0-1", null, whole],
    ["bytes=0-99999999999999999999", null, whole],
    ["bytes=0-9", etag, { start: 0, end: 9 }],
    ["bytes=0-9", '"other"', whole],
    ["bytes=0-9", `W/${etag}`, whole],
    ["bytes=0-9", "Tue, 01 Jan 2030 00:00:00 GMT", whole],
  ];
  for (const [header, ifRange, expected] of cases) {
    it(`${header ?? "none"}${ifRange === null ? "" : ` if ${ifRange}`}`, () => expect(requestedRange(header, ifRange, etag, 100)).to.deep.equal(expected));
  }

  it("of an empty file cannot be satisfied", () => {
    expect(requestedRange("bytes=0-", null, etag, 0)).to.equal("unsatisfiable");
    expect(requestedRange("bytes=-5", null, etag, 0)).to.equal("unsatisfiable");
  });
});

describe("widths", () => {
  for (const text of ["1", "300", "0300", "1000000000", "99999999999999999999"]) {
    it(`${text} is a width`, () => expect(parseWidth(text)).to.equal(Number(text)));
  }
  for (const text of ["0", "000", "-1", "1.5", "abc", "", " 3", "3 ", "+3", "1e3", "0x10", "٣", "100&width=300", "Infinity"]) {
    it(`${JSON.stringify(text)} is none`, () => expect(parseWidth(text)).to.equal(undefined));
  }

  it("plans no variant as wide as the original or wider", () => {
    expect(plannedWidths([600, 100, 300, 100], "image/jpeg", 600)).to.deep.equal([100, 300]);
    expect(plannedWidths([100], "image/webp", 600)).to.deep.equal([]);
    expect(plannedWidths([100], "image/png", undefined)).to.deep.equal([]);
  });

  it("answers with the exact width, else the next larger, never a smaller one", () => {
    expect(candidateWidths([100, 300, 600], 300)).to.deep.equal([300, 600]);
    expect(candidateWidths([100, 300, 600], 150)).to.deep.equal([300, 600]);
    expect(candidateWidths([100, 300, 600], 601)).to.deep.equal([]);
  });
});

describe("keys", () => {
  it("are parsed back", () => {
    const key = fileKey("t", "c", "r", "f");
    const parsed = { tenantId: "t", collectionId: "c", recordId: "r", fileId: "f" };
    expect(parseKey(key)).to.deep.equal(parsed);
    expect(parseKey(variantKey(key, 300))).to.deep.equal(parsed);
    for (const foreign of ["a/b/c", "a/b/c/d/e", "a/b/c/.hidden", "a/b/c/d.txt"]) expect(parseKey(foreign)).to.equal(undefined);
  });
});
