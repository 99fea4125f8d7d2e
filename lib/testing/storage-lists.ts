// Cases: order, paging and counting.
import assert from "node:assert/strict";
import type { Json } from "../core/record.js";
import { always, boolean, is, never, number, text } from "../storage/filter.js";
import type { IndexDefinition, Sort } from "../storage/storage.js";
import { filled, id, listNumbers, pages, type StorageCase } from "./storage-case.js";

type Fields = Readonly<Record<string, Json>>;

const by = (field: string, kind: Sort["kind"], descending = false): Sort => ({ field, kind, descending });

/** Equal values, nulls and absent ones, in no order. */
const mixed: readonly Fields[] = [
  { name: "b", size: 2, flag: true }, { name: null, size: null, flag: null }, { name: "a", size: -1, flag: false }, {},
  { name: "b", size: 2, flag: false }, { name: "", size: 0, flag: true }, { name: "B", size: 1.5, flag: true }, { name: "b", size: 10, flag: false },
];

const orders: readonly (readonly [Sort, readonly number[]])[] = [
  [by("name", "text"), [2, 4, 6, 7, 3, 1, 5, 8]],
  [by("size", "number"), [2, 4, 3, 6, 7, 1, 5, 8]],
  [by("flag", "boolean"), [2, 4, 3, 5, 8, 1, 6, 7]],
  [by("id", "text"), [1, 2, 3, 4, 5, 6, 7, 8]],
];

const sortable: readonly (readonly IndexDefinition[])[] = [
  [],
  (["name", "size", "flag"] as const).map((field, index) => ({ fields: [{ field, kind: (["text", "number", "boolean"] as const)[index]! }], unique: false })),
];

export const listCases: readonly StorageCase[] = [
  {
    name: "without sort: by id ascending, whatever the order of the writes",
    async run({ store }) {
      await store.write({ operations: [{ type: "define", table: "things", indexes: [] }] });
      for (const n of [3, 1, 10, 2, 16]) await store.write({ operations: [{ type: "insert", table: "things", record: { id: id(n), createdAt: "", updatedAt: "" } }] });
      assert.deepEqual(await listNumbers(store), [1, 2, 3, 10, 16]);
    },
  },
  ...sortable.flatMap((indexes, which): StorageCase[] => [{
    name: `sort ${which === 0 ? "without" : "with"} an index: null first ascending, last descending, ties by id in the same direction`,
    async run({ store }) {
      await filled(store, mixed, ...indexes);
      for (const [sort, expected] of orders) {
        assert.deepEqual(await listNumbers(store, { sort }), expected, sort.field);
        assert.deepEqual(await listNumbers(store, { sort: { ...sort, descending: true } }), expected.toReversed(), `${sort.field} descending`);
      }
    },
  }, {
    name: `after ${which === 0 ? "without" : "with"} an index: pages of any length make the whole list, each row once`,
    async run({ store }) {
      await filled(store, mixed, ...indexes);
      for (const limit of [1, 2, 3, 7, 8, 20]) {
        for (const [sort, expected] of orders) {
          assert.deepEqual(await pages(store, { filter: always, sort, limit }), expected, sort.field);
          assert.deepEqual(await pages(store, { filter: always, sort: { ...sort, descending: true }, limit }), expected.toReversed(), `${sort.field} descending`);
        }
        assert.deepEqual(await pages(store, { filter: always, limit }), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert.deepEqual(await pages(store, { filter: is(boolean("flag"), true), sort: by("size", "number", true), limit }), [1, 7, 6]);
      }
    },
  }]),
  {
    name: "texts are ordered by code point",
    async run({ store }) {
      await filled(store, ["z", "a", "Z", "é", "ｚ", "\u{1f600}", "\uffee", "ab", "a\u0000", "\ue000"].map((name) => ({ name })));
      assert.deepEqual(await listNumbers(store, { sort: by("name", "text") }), [3, 2, 9, 8, 1, 4, 10, 5, 7, 6]);
    },
  },
  {
    name: "numbers are ordered as numbers, large and broken ones too",
    async run({ store }) {
      await filled(store, [10, 9, -1, 0.5, 1e300, 2 ** 53, 2 ** 62, -(2 ** 62), 0, 5e-324].map((size) => ({ size })));
      assert.deepEqual(await listNumbers(store, { sort: by("size", "number") }), [8, 3, 9, 10, 4, 2, 1, 6, 7, 5]);
      assert.deepEqual(await listNumbers(store, { filter: is(number("size"), 2 ** 62) }), [7]);
    },
  },
  {
    name: "offset and limit cut the order, after comes before offset",
    async run({ store }) {
      await filled(store, mixed);
      assert.deepEqual(await listNumbers(store, { limit: 3 }), [1, 2, 3]);
      assert.deepEqual(await listNumbers(store, { offset: 6, limit: 5 }), [7, 8]);
      assert.deepEqual(await listNumbers(store, { offset: 20, limit: 5 }), []);
      assert.deepEqual(await listNumbers(store, { limit: 0 }), []);
      assert.deepEqual(await listNumbers(store, { sort: by("name", "text"), offset: 2, limit: 3 }), [6, 7, 3]);
      assert.deepEqual(await listNumbers(store, { after: { value: null, id: id(2) }, offset: 1, limit: 2 }), [4, 5]);
      assert.deepEqual(await listNumbers(store, { sort: by("name", "text"), after: { value: null, id: id(2) }, offset: 1, limit: 2 }), [6, 7]);
      assert.deepEqual(await listNumbers(store, { sort: by("name", "text", true), after: { value: "b", id: id(5) }, offset: 4, limit: 2 }), [4, 2]);
    },
  },
  {
    name: "after may stand at a position that no row has",
    async run({ store }) {
      await filled(store, mixed);
      assert.deepEqual(await listNumbers(store, { after: { value: null, id: id(100) } }), []);
      assert.deepEqual(await listNumbers(store, { sort: by("size", "number"), after: { value: 1, id: id(100) } }), [7, 1, 5, 8]);
      assert.deepEqual(await listNumbers(store, { sort: by("size", "number", true), after: { value: 1, id: id(0) } }), [6, 3, 4, 2]);
      assert.deepEqual(await listNumbers(store, { sort: by("name", "text"), after: { value: "b", id: id(1) } }), [5, 8]);
    },
  },
  {
    name: "a filter, a sort and an index over both",
    async run({ store }) {
      const indexes: IndexDefinition[] = [{ fields: [{ field: "flag", kind: "boolean" }, { field: "size", kind: "number" }], unique: false }, { fields: [{ field: "name", kind: "text" }], unique: false }];
      await filled(store, mixed, ...indexes);
      assert.deepEqual(await listNumbers(store, { filter: is(boolean("flag"), true), sort: by("size", "number") }), [6, 7, 1]);
      assert.deepEqual(await listNumbers(store, { filter: is(text("name"), "b"), sort: by("size", "number", true), limit: 2 }), [8, 5]);
    },
  },
  {
    name: "a unique index orders lists too, its nulls by id",
    async run({ store }) {
      await filled(store, [{ name: "b" }, {}, { name: "a" }, { name: null }, { name: "c" }], { fields: [{ field: "name", kind: "text" }], unique: true });
      assert.deepEqual(await pages(store, { filter: always, sort: by("name", "text"), limit: 2 }), [2, 4, 3, 1, 5]);
      assert.deepEqual(await pages(store, { filter: always, sort: by("name", "text", true), limit: 2 }), [5, 1, 3, 4, 2]);
    },
  },
  {
    name: "count counts what list would give without a limit",
    async run({ store }) {
      await filled(store, mixed);
      const things = store.table("things");
      assert.equal(await things.count(always), 8);
      assert.equal(await things.count(never), 0);
      assert.equal(await things.count(is(text("name"), "b")), 3);
      assert.equal(await things.count(is(text("name"), null)), 2);
    },
  },
  {
    name: "find knows the exact id only",
    async run({ store }) {
      await filled(store, [{}]);
      const things = store.table("things");
      assert.equal((await things.find(id(1)))!.id, id(1));
      for (const other of [id(1).toUpperCase().replace("0", "O"), ` ${id(1)}`, "", id(2), `${id(1)}\u0000`]) assert.equal(await things.find(other), undefined, other);
    },
  },
];
