// Cases: tables defined and changed in place, unique indexes, stamp and head as conditions of a unit.
import assert from "node:assert/strict";
import type { Json } from "../core/record.js";
import { always } from "../storage/filter.js";
import type { IndexDefinition, Transform } from "../storage/storage.js";
import { define, filled, id, insert, listNumbers, logged, record, rejects, write, type StorageCase } from "./storage-case.js";

const unique = (...fields: IndexDefinition["fields"]): IndexDefinition => ({ fields, unique: true });
const name = { field: "name", kind: "text" } as const;
const size = { field: "size", kind: "number" } as const;
const flag = { field: "flag", kind: "boolean" } as const;

function transformed(transform: Transform, indexes: IndexDefinition[] = []) {
  return { type: "define", table: "things", indexes, transform } as const;
}

export const definitionCases: readonly StorageCase[] = [
  {
    name: "a unique index lets no second equal value in",
    async run({ store }) {
      await filled(store, [{ name: "a", size: 1, flag: true }, { name: "b", size: 2 }], unique(name), unique(size), unique(flag));
      await rejects(write(store, insert(3, { name: "a" })), "UniqueViolation", { operation: 0, fields: ["name"] });
      await rejects(write(store, insert(3, { size: 2 })), "UniqueViolation", { operation: 0, fields: ["size"] });
      await rejects(write(store, insert(3, { flag: true })), "UniqueViolation", { operation: 0, fields: ["flag"] });
      await rejects(write(store, { type: "update", table: "things", id: id(2), set: { name: "a" } }), "UniqueViolation", { operation: 0, fields: ["name"] });
      await write(store, insert(3, { name: "A", size: 1.5, flag: false }));
      await write(store, { type: "update", table: "things", id: id(1), set: { name: "a" } });
      assert.deepEqual(await listNumbers(store), [1, 2, 3]);
    },
  },
  {
    name: "a unique field: also among many inserts of one unit, against rows and against each other",
    async run({ store }) {
      const taken = ["plain", "", "a\u0000b", "\u0001", "$where", "😀", "5", "true"];
      await filled(store, taken.map((each, index) => ({ name: each, size: index })), unique(name), unique(size));
      const free = Array.from({ length: 12 }, (_unused, index) => insert(index + 100, { name: `free ${index}`, size: index + 100 }));
      for (const each of taken) {
        await rejects(write(store, ...free.slice(0, 5), insert(90, { name: each }), ...free.slice(5)), "UniqueViolation", { operation: 5, fields: ["name"] });
      }
      await rejects(write(store, ...free, insert(90, { size: 3 })), "UniqueViolation", { operation: 12, fields: ["size"] });
      await rejects(write(store, ...free, insert(90, { name: "free 7" })), "UniqueViolation", { operation: 12, fields: ["name"] });
      assert.equal((await listNumbers(store)).length, taken.length);
      await write(store, ...free, insert(90, { name: "PLAIN" }), insert(91, { name: "\u0002" }));
      assert.equal((await listNumbers(store)).length, taken.length + free.length + 2);
      // What the unit itself sets free is free.
      await write(store, { type: "remove", table: "things", id: id(1) }, insert(92, { name: "plain" }), insert(93, { name: "more" }));
    },
  },
  {
    name: "a unique index of two fields: also among many inserts of one unit",
    async run({ store }) {
      await filled(store, [{ name: "a\u0000b", size: 2 }, { name: "x", size: 250 }, { name: null, size: 260 }], unique(name, size));
      const pairs = Array.from({ length: 150 }, (_unused, index) => insert(index + 200, { name: `n${index % 8}`, size: index + 200 }));
      const taken = insert(90, { name: "a\u0000b", size: 2 });
      for (const at of [0, 75, 150]) {
        await rejects(write(store, ...pairs.slice(0, at), taken, ...pairs.slice(at)), "UniqueViolation", { operation: at, fields: ["name", "size"] });
      }
      await write(store, ...pairs, insert(90, { name: "a\u0000b", size: 3 }), insert(91, { name: null, size: 2 }), insert(92, { name: "x", size: 2 }));
      assert.equal((await listNumbers(store)).length, 3 + pairs.length + 3);
    },
  },
  {
    name: "null and absent values do not collide, in an index of several fields where one of them is null",
    async run({ store }) {
      await filled(store, [{ name: null }, {}, { name: null, size: 1 }, { size: 1 }, { name: "a" }, { name: "a", size: null }], unique(name, size));
      await write(store, insert(7, { name: "a", size: 1 }));
      await rejects(write(store, insert(8, { name: "a", size: 1 })), "UniqueViolation", { operation: 0, fields: ["name", "size"] });
      await write(store, insert(8, { name: "b", size: 1 }));
      await rejects(write(store, define(unique(name))), "UniqueViolation", { operation: 0, fields: ["name"] });
    },
  },
  {
    name: "of many equal values written at once one gets in",
    async run({ store }) {
      await write(store, define(unique(name)));
      const settled = await Promise.allSettled(Array.from({ length: 20 }, (_unused, index) => write(store, insert(index + 1, { name: "same" }))));
      assert.equal(settled.filter(({ status }) => status === "fulfilled").length, 1);
    },
  },
  {
    name: "a unique index that rows violate is refused, naming its fields, and nothing changes",
    async run({ store }) {
      await filled(store, [{ name: "a", size: 1 }, { name: "a", size: 2 }]);
      await rejects(write(store, define(unique(name))), "UniqueViolation", { operation: 0, fields: ["name"] });
      await write(store, insert(3, { name: "a" }));
      await rejects(write(store, transformed({ remove: ["size"], rename: { name: "title" } }, [unique({ field: "title", kind: "text" })])), "UniqueViolation", { operation: 0, fields: ["title"] });
      assert.deepEqual((await store.table("things").find(id(1)))!.record, record(1, { name: "a", size: 1 }));
    },
  },
  {
    name: "a define leaves the indexes as listed and no others",
    async run({ store }) {
      await filled(store, [{ name: "a" }], unique(name), { fields: [size, name], unique: false });
      await write(store, define({ fields: [name], unique: false }));
      await write(store, insert(2, { name: "a" }));
      await write(store, define({ fields: [name], unique: false }, { fields: [name, size], unique: false }));
      await write(store, define());
      assert.deepEqual(await listNumbers(store), [1, 2]);
    },
  },
  {
    name: "upper and lower case make different tables and fields",
    async run({ store }) {
      await write(store, { type: "define", table: "Notes", indexes: [unique(name)] }, { type: "define", table: "notes", indexes: [unique({ field: "Name", kind: "text" })] });
      await write(store, { type: "insert", table: "Notes", record: record(1, { name: "a" }) });
      await write(store, { type: "insert", table: "notes", record: record(1, { name: "a", Name: "b" }) });
      await write(store, { type: "insert", table: "notes", record: record(2, { name: "a", Name: "c" }) });
      await rejects(write(store, { type: "insert", table: "notes", record: record(3, { Name: "c" }) }), "UniqueViolation", { operation: 0, fields: ["Name"] });
      assert.deepEqual([await store.table("Notes").count(always), await store.table("notes").count(always)], [1, 2]);
    },
  },
  {
    name: "a transform adds where a member is lacking, removes and renames, and raises the revision where a row changed",
    async run({ store }) {
      await filled(store, [{ name: "a", old: 1 }, { name: "b", color: "red" }, { color: null }, { color: "blue" }]);
      await write(store, transformed({ add: { color: "grey" }, remove: ["old"], rename: { name: "title" } }));
      const rows = await store.table("things").list({ filter: always, limit: 10 });
      assert.deepEqual(rows.map((row) => row.record), [
        record(1, { title: "a", color: "grey" }), record(2, { title: "b", color: "red" }), record(3, { color: null }), record(4, { color: "blue" }),
      ]);
      assert.deepEqual(rows.map((row) => row.revision), [2, 2, 1, 1]);
    },
  },
  {
    name: "a transform may swap names, and reach many rows",
    needs: ["atomicUnits"],
    async run({ store }) {
      const fields: Record<string, Json>[] = Array.from({ length: 1203 }, (_unused, index) => ({ a: index, b: `b${index}`, gone: "x" }));
      await store.write({ operations: [define(), ...fields.map((row, index) => insert(index + 1, row))] });
      await write(store, transformed({ rename: { a: "b", b: "a" }, remove: ["gone"], add: { c: [1] } }));
      const rows = await store.table("things").list({ filter: always, limit: 2000 });
      assert.equal(rows.length, 1203);
      for (const [index, row] of rows.entries()) assert.deepEqual(row.record, record(index + 1, { b: index, a: `b${index}`, c: [1] }));
    },
  },
  {
    name: "drop removes the table with its rows, and is harmless where there is none",
    async run({ store }) {
      await filled(store, [{ name: "a" }], unique(name));
      await write(store, { type: "drop", table: "things" });
      await write(store, { type: "drop", table: "things" });
      assert.equal(await store.table("things").find(id(1)), undefined);
      assert.deepEqual(await listNumbers(store), []);
      await filled(store, [{ name: "a" }, { name: "a" }]);
      assert.deepEqual(await listNumbers(store), [1, 2]);
    },
  },
  {
    name: "an insert into a table that was never defined is an error, not a row",
    async run({ store }) {
      await write(store, define());
      await assert.rejects(write(store, { type: "insert", table: "nowhere", record: record(1) }));
      assert.equal(await store.table("nowhere").count(always), 0);
    },
  },
  {
    name: "the stamp changes with each unit that bumps it, with no other, and in no other store",
    async run({ storage, store, tenantId }) {
      const neighbour = storage.tenant(`${tenantId}-neighbour`);
      const stamps = new Set<string>();
      const apart = await neighbour.stamp();
      for (let n = 1; n <= 4; n += 1) {
        await store.write({ bump: true, operations: [{ type: "define", table: `t${n}`, indexes: [] }] });
        stamps.add(await store.stamp());
      }
      assert.equal(stamps.size, 4);
      const before = await store.stamp();
      await write(store, define(), insert(1, {}, { log: logged }));
      assert.equal(await store.stamp(), before);
      assert.equal(await neighbour.stamp(), apart);
    },
  },
  {
    name: "a unit whose stamp is no longer the store's: StampChanged, and nothing is written or bumped",
    async run({ store }) {
      const first = await store.stamp();
      await store.write({ stamp: first, bump: true, operations: [define()] });
      const second = await store.stamp();
      await rejects(store.write({ stamp: first, operations: [insert(1)] }), "StampChanged");
      await rejects(store.write({ stamp: first, bump: true, operations: [] }), "StampChanged");
      assert.equal(await store.stamp(), second);
      await store.write({ stamp: second, operations: [insert(2)] });
      assert.deepEqual(await listNumbers(store), [2]);
    },
  },
  {
    name: "a unit that fails does not bump the stamp",
    async run({ store }) {
      await filled(store, [{}]);
      const before = await store.stamp();
      await rejects(store.write({ bump: true, operations: [insert(1)] }), "UniqueViolation");
      assert.equal(await store.stamp(), before);
    },
  },
  {
    name: "another process sees the stamp change at once",
    needs: ["shared"],
    async run({ store, tenantId, another }) {
      const other = (await another()).tenant(tenantId);
      assert.equal(await other.stamp(), await store.stamp());
      for (let n = 1; n <= 3; n += 1) {
        const before = await other.stamp();
        await store.write({ bump: true, operations: [define(unique(name)), insert(n, { name: `n${n}` })] });
        assert.notEqual(await other.stamp(), before);
        assert.equal(await other.stamp(), await store.stamp());
        await rejects(other.write({ stamp: before, operations: [] }), "StampChanged");
        await rejects(write(other, insert(90, { name: `n${n}` })), "UniqueViolation", { fields: ["name"] });
      }
    },
  },
  {
    name: "a unit whose head is no longer the newest change: HeadMoved, and nothing is written",
    async run({ store }) {
      await store.write({ head: "", operations: [define()] });
      await store.write({ head: "", operations: [insert(1, {}, { log: logged })] });
      const head = await store.changes.head();
      await rejects(store.write({ head: "", operations: [insert(2)] }), "HeadMoved");
      await store.write({ head, operations: [insert(3, {}, { log: logged })] });
      await rejects(store.write({ head, operations: [insert(4)] }), "HeadMoved");
      assert.deepEqual(await listNumbers(store), [1, 3]);
    },
  },
];
