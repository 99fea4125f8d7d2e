// Cases: the filter examples, each as a list, a count and, negated, as the condition of a unit.
import assert from "node:assert/strict";
import { not } from "../storage/filter.js";
import { exampleRecords, filterExamples } from "./filter-examples.js";
import { filled, id, listNumbers, type StorageCase } from "./storage-case.js";

const indexes = [
  { fields: [{ field: "name", kind: "text" }], unique: true },
  { fields: [{ field: "size", kind: "number" }], unique: false },
  { fields: [{ field: "flag", kind: "boolean" }, { field: "name", kind: "text" }], unique: false },
] as const;

export const filterCases: readonly StorageCase[] = filterExamples.map(({ name, filter, expected }): StorageCase => ({
  name,
  async run({ storage }) {
    const plain = storage.tenant("filter-examples");
    const indexed = storage.tenant("filter-examples-indexed");
    if ((await plain.changes.head()) === "" && (await plain.table("things").find(id(1))) === undefined) {
      await filled(plain, exampleRecords);
      await filled(indexed, exampleRecords, ...indexes);
    }
    for (const store of [plain, indexed]) {
      assert.deepEqual(await listNumbers(store, { filter }), expected);
      assert.equal(await store.table("things").count(filter), expected.length);
      assert.equal(await store.table("things").count(not(filter)), exampleRecords.length - expected.length);
      const descending = await listNumbers(store, { filter, sort: { field: "name", kind: "text", descending: true } });
      assert.deepEqual(descending.sort((a, b) => a - b), expected);
    }
  },
}));
