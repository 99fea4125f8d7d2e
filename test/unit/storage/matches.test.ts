import { expect } from "chai";
import { not } from "../../../lib/storage/filter.js";
import { matches } from "../../../lib/storage/matches.js";
import { exampleRecords, filterExamples } from "../../../lib/testing/filter-examples.js";
import { record } from "../../../lib/testing/storage-case.js";

describe("matches()", () => {
  const records = exampleRecords.map((fields, index) => record(index + 1, fields));
  for (const { name, filter, expected } of filterExamples) {
    it(name, () => {
      const found = records.flatMap((each, index) => (matches(filter, each) ? [index + 1] : []));
      expect(found).to.deep.equal(expected);
      const others = records.flatMap((each, index) => (matches(not(filter), each) ? [index + 1] : []));
      expect([...found, ...others].sort((a, b) => a - b)).to.deep.equal(records.map((_unused, index) => index + 1));
    });
  }
});
