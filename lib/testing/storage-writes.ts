// Cases: units, their operations and conditions, and what is left after a failure.
import assert from "node:assert/strict";
import { always, is, never, number, text } from "../storage/filter.js";
import type { Json } from "../core/record.js";
import type { Operation } from "../storage/storage.js";
import { define, filled, id, insert, listNumbers, record, rejects, write, type StorageCase } from "./storage-case.js";

const update = (n: number, more: Omit<Extract<Operation, { type: "update" }>, "type" | "table" | "id"> = {}): Operation =>
  ({ type: "update", table: "things", id: id(n), ...more });
const remove = (n: number, more: Omit<Extract<Operation, { type: "remove" }>, "type" | "table" | "id"> = {}): Operation =>
  ({ type: "remove", table: "things", id: id(n), ...more });

export const writeCases: readonly StorageCase[] = [
  {
    name: "an insert answers the row, and find gives the same",
    async run({ store }) {
      const { rows } = await write(store, define(), insert(1, { name: "Ada" }, { hidden: { generation: 3, note: null } }));
      assert.equal(rows.length, 2);
      assert.equal(rows[0], undefined);
      const found = (await store.table("things").find(id(1)))!;
      for (const row of [rows[1]!, found]) {
        assert.equal(row.id, id(1));
        assert.equal(row.revision, 1);
        assert.deepEqual(row.record, record(1, { name: "Ada" }));
        assert.deepEqual(JSON.parse(row.text), row.record);
        assert.equal(row.hidden["generation"], 3);
        assert.equal(row.hidden["note"] ?? null, null);
      }
    },
  },
  {
    name: "the text has id, createdAt, updatedAt first, then the fields in their order, and nothing hidden",
    async run({ store }) {
      await write(store, define(), insert(1, { z: 1, a: 2, m: 3 }, { hidden: { passwordHash: "$argon2id$" } }));
      await write(store, update(1, { set: { a: 5, added: 6 } }));
      const row = (await store.table("things").find(id(1)))!;
      assert.deepEqual(Object.keys(JSON.parse(row.text) as object), ["id", "createdAt", "updatedAt", "z", "a", "m", "added"]);
      assert.ok(!row.text.includes("argon2id"));
    },
  },
  {
    name: "values come back as they were written",
    async run({ store }) {
      const values: Record<string, Json> = {
        empty: "", unicode: "Zoë ☃ 𝄞 \u0000 \u2028 \\ \" '", zero: 0, negative: -1.5, big: 2 ** 60, tiny: 5e-324, huge: 1.7976931348623157e308,
        yes: true, no: false, nothing: null, list: [1, "1", [true, null], {}], $set: { $gt: 1, "a.b": 2, "": 3 }, "with space": 1, quote: { "'": 1, "\"": 2 },
        own: JSON.parse('{"__proto__":{"polluted":true},"constructor":1}') as Json,
      };
      await write(store, define(), insert(1, values));
      const row = (await store.table("things").find(id(1)))!;
      assert.equal(JSON.stringify(row.record), JSON.stringify(record(1, values)));
      const { rows } = await write(store, update(1, { set: { ...values, touched: true } }));
      assert.equal(JSON.stringify(rows[0]!.record), JSON.stringify(record(1, { ...values, touched: true })));
    },
  },
  {
    name: "an id that is taken: UniqueViolation on id, naming the operation",
    async run({ store }) {
      await filled(store, [{}]);
      await rejects(write(store, insert(2), insert(1, { name: "double" })), "UniqueViolation", { operation: 1, fields: ["id"] });
      assert.deepEqual((await store.table("things").find(id(1)))!.record, record(1));
    },
  },
  {
    name: "an update sets whole members, keeps all others and raises the revision",
    async run({ store }) {
      await filled(store, [{ name: "a", data: { x: 1, y: 2 }, keep: [1] }]);
      const { rows } = await write(store, update(1, { set: { name: "b", data: { y: 3 } } }));
      assert.equal(rows[0]!.revision, 2);
      assert.deepEqual(rows[0]!.record, record(1, { name: "b", data: { y: 3 }, keep: [1] }));
      const row = (await store.table("things").find(id(1)))!;
      assert.equal(row.revision, 2);
      assert.deepEqual(row.record, rows[0]!.record);
    },
  },
  {
    name: "an update sets hidden members and adds to hidden numbers, absent ones counting as 0",
    async run({ store }) {
      await write(store, define(), insert(1, { name: "a" }, { hidden: { generation: 4, hash: "x" } }));
      await write(store, update(1, { setHidden: { hash: "y", salt: "z" }, increment: { generation: 2, logins: 1 } }));
      const row = (await store.table("things").find(id(1)))!;
      assert.deepEqual({ ...row.hidden }, { generation: 6, hash: "y", salt: "z", logins: 1 });
      assert.deepEqual(row.record, record(1, { name: "a" }));
      assert.equal(row.revision, 2);
    },
  },
  {
    name: "an update or removal of a missing row: ConditionMissed",
    async run({ store }) {
      await filled(store, [{}]);
      await rejects(write(store, update(9)), "ConditionMissed", { operation: 0 });
      await rejects(write(store, remove(9)), "ConditionMissed", { operation: 0 });
      await rejects(write(store, { type: "update", table: "nowhere", id: id(1) }), "ConditionMissed", { operation: 0 });
    },
  },
  {
    name: "where, revision and hiddenIs must hold at the moment of the write",
    async run({ store }) {
      await write(store, define(), insert(1, { owner: "ada" }, { hidden: { generation: 1, used: null } }));
      const owned = is(text("owner"), "ada");
      for (const operation of [
        update(1, { where: is(text("owner"), "bob"), set: { hit: true } }),
        update(1, { revision: 2, set: { hit: true } }),
        update(1, { hiddenIs: { generation: 2 }, set: { hit: true } }),
        update(1, { hiddenIs: { generation: "1" }, set: { hit: true } }),
        update(1, { hiddenIs: { generation: null }, set: { hit: true } }),
        update(1, { where: owned, revision: 1, hiddenIs: { generation: 1, used: 1 }, set: { hit: true } }),
        remove(1, { where: never }),
        remove(1, { revision: 0 }),
        remove(1, { hiddenIs: { generation: 0 } }),
      ]) {
        await rejects(write(store, operation), "ConditionMissed", { operation: 0 });
      }
      assert.deepEqual((await store.table("things").find(id(1)))!.record, record(1, { owner: "ada" }));
      await write(store, update(1, { where: owned, revision: 1, hiddenIs: { generation: 1, used: null, absent: null }, set: { hit: true } }));
      await write(store, remove(1, { where: is(text("owner"), "ada"), revision: 2, hiddenIs: { generation: 1 } }));
      assert.equal(await store.table("things").find(id(1)), undefined);
    },
  },
  {
    name: "a removal answers the row as it last was",
    async run({ store }) {
      await write(store, define(), insert(1, { name: "gone" }, { hidden: { h: 1 } }));
      const { rows } = await write(store, remove(1));
      assert.deepEqual(rows[0]!.record, record(1, { name: "gone" }));
      assert.equal(rows[0]!.revision, 1);
      assert.deepEqual({ ...rows[0]!.hidden }, { h: 1 });
      assert.equal(await store.table("things").find(id(1)), undefined);
    },
  },
  {
    name: "an optional operation whose condition fails is left out, and the unit stands",
    needs: ["atomicUnits"],
    async run({ store }) {
      await filled(store, [{ name: "a" }]);
      const { rows } = await write(store,
        update(9, { optional: true, set: { x: 1 } }),
        remove(1, { optional: true, revision: 7 }),
        update(1, { optional: true, where: is(text("name"), "a"), set: { name: "b" } }),
        insert(2));
      assert.deepEqual(rows.map((row) => row?.id), [undefined, undefined, id(1), id(2)]);
      assert.equal((await store.table("things").find(id(1)))!.record["name"], "b");
    },
  },
  {
    name: "exists: the unit fails unless the row is there",
    needs: ["atomicUnits"],
    async run({ store }) {
      await filled(store, [{}]);
      await rejects(write(store, insert(2), { type: "exists", table: "things", id: id(9) }), "ConditionMissed", { operation: 1 });
      await rejects(write(store, { type: "exists", table: "nowhere", id: id(1) }), "ConditionMissed", { operation: 0 });
      await write(store, { type: "exists", table: "things", id: id(1) }, insert(3));
      await write(store, insert(4), { type: "exists", table: "things", id: id(4) });
      await rejects(write(store, remove(4), { type: "exists", table: "things", id: id(4) }), "ConditionMissed", { operation: 1 });
      assert.deepEqual(await listNumbers(store), [1, 3, 4]);
    },
  },
  {
    name: "absent: the unit fails where a row matches, after the operations before it",
    needs: ["atomicUnits"],
    async run({ store }) {
      await filled(store, [{ parent: "p" }]);
      const absent = (parent: string): Operation => ({ type: "absent", table: "things", filter: is(text("parent"), parent) });
      await rejects(write(store, absent("p"), insert(2)), "ConditionMissed", { operation: 0 });
      await rejects(write(store, insert(2, { parent: "q" }), absent("q")), "ConditionMissed", { operation: 1 });
      await write(store, absent("q"), insert(2, { parent: "q" }));
      await write(store, remove(1), absent("p"));
      await write(store, { type: "absent", table: "nowhere", filter: always }, insert(3));
      assert.deepEqual(await listNumbers(store), [2, 3]);
    },
  },
  {
    name: "a unit is written whole or not at all",
    needs: ["atomicUnits"],
    async run({ store }) {
      await filled(store, [{ n: 1 }, { n: 2 }]);
      await rejects(write(store, insert(3), update(1, { set: { n: 9 } }), remove(2), update(1, { revision: 1 })), "ConditionMissed", { operation: 3 });
      assert.deepEqual(await listNumbers(store), [1, 2]);
      assert.equal((await store.table("things").find(id(1)))!.record["n"], 1);
      assert.equal((await store.table("things").find(id(1)))!.revision, 1);
    },
  },
  {
    name: "later operations of a unit see the earlier ones",
    needs: ["atomicUnits"],
    async run({ store }) {
      const { rows } = await write(store, define(), insert(1, { n: 1 }), update(1, { where: is(number("n"), 1), set: { n: 2 } }), update(1, { revision: 2, set: { n: 3 } }));
      assert.deepEqual(rows.map((row) => row?.revision), [undefined, 1, 2, 3]);
      assert.equal((await store.table("things").find(id(1)))!.record["n"], 3);
    },
  },
  {
    name: "a unit without operations is written too",
    async run({ store }) {
      const { rows, changes } = await store.write({ operations: [] });
      assert.deepEqual([rows.length, changes.length], [0, 0]);
    },
  },
  {
    name: "units written at once: one that fails harms no other",
    async run({ store }) {
      await filled(store, [{}]);
      const settled = await Promise.allSettled(Array.from({ length: 30 }, (_unused, index) => write(store, insert(index % 3 === 0 ? 1 : index + 10))));
      assert.deepEqual(settled.map(({ status }) => status), settled.map((_unused, index) => (index % 3 === 0 ? "rejected" : "fulfilled")));
      assert.equal(await store.table("things").count(always), 21);
    },
  },
  {
    name: "units run one after another: of many that want the same, one wins, and no addition is lost",
    async run({ storage, store, tenantId }) {
      await write(store, define(), insert(1, {}, { hidden: { used: 0 } }));
      const takes = await Promise.allSettled(Array.from({ length: 20 }, () => write(storage.tenant(tenantId), update(1, { hiddenIs: { used: 0 }, setHidden: { used: 1 } }))));
      assert.equal(takes.filter(({ status }) => status === "fulfilled").length, 1);
      await Promise.all(Array.from({ length: 50 }, () => write(store, update(1, { increment: { total: 1 } }))));
      const row = (await store.table("things").find(id(1)))!;
      assert.equal(row.hidden["total"], 50);
      assert.equal(row.revision, 52);
    },
  },
  {
    name: "two processes: of many that want the same, one wins, and no addition is lost",
    needs: ["shared"],
    async run({ store, tenantId, another }) {
      const other = (await another()).tenant(tenantId);
      await write(store, define(), insert(1, {}, { hidden: { used: 0 } }));
      const takes = await Promise.allSettled(Array.from({ length: 20 }, (_unused, index) =>
        write(index % 2 === 0 ? store : other, update(1, { hiddenIs: { used: 0 }, setHidden: { used: 1 } }))));
      assert.equal(takes.filter(({ status }) => status === "fulfilled").length, 1);
      const inserts = await Promise.allSettled(Array.from({ length: 20 }, (_unused, index) => write(index % 2 === 0 ? store : other, insert(2, { by: index }))));
      assert.equal(inserts.filter(({ status }) => status === "fulfilled").length, 1);
      await Promise.all(Array.from({ length: 40 }, (_unused, index) => write(index % 2 === 0 ? store : other, update(1, { increment: { total: 1 } }))));
      for (const reader of [store, other]) assert.equal((await reader.table("things").find(id(1)))!.hidden["total"], 40);
    },
  },
  {
    name: "reads see every write that has resolved",
    needs: ["shared"],
    async run({ store, tenantId, another }) {
      const other = (await another()).tenant(tenantId);
      await write(store, define());
      for (let n = 1; n <= 20; n += 1) {
        await write(n % 2 === 0 ? store : other, insert(n));
        assert.equal((await store.table("things").find(id(n)))?.id, id(n));
        assert.equal((await other.table("things").find(id(n)))?.id, id(n));
      }
    },
  },
];
