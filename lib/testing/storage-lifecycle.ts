// Cases: opening, closing, tenants apart from each other, their removal.
import assert from "node:assert/strict";
import { always } from "../storage/filter.js";
import { define, filled, insert, isUnavailable, listNumbers, logged, write, type StorageCase } from "./storage-case.js";

export const lifecycleCases: readonly StorageCase[] = [
  {
    name: "an open storage answers a ping",
    run: ({ storage }) => storage.ping(),
  },
  {
    name: "a second close is harmless, and a closed storage answers nothing",
    alone: true,
    async run({ storage, store }) {
      await write(store, define(), insert(1));
      await storage.close();
      await storage.close();
      await isUnavailable(storage.ping());
      await isUnavailable(store.table("things").find("x"));
      await isUnavailable(write(store, insert(2)));
    },
  },
  {
    name: "close finishes the writes under way",
    alone: true,
    needs: ["shared"],
    async run({ storage, store, tenantId, another }) {
      await write(store, define());
      const writes = Array.from({ length: 20 }, (_unused, index) => write(store, insert(index + 1)));
      await storage.close();
      await Promise.all(writes);
      const other = await another();
      assert.equal(await other.tenant(tenantId).table("things").count(always), 20);
    },
  },
  {
    name: "what was written is there after close and open",
    alone: true,
    needs: ["shared"],
    async run({ storage, store, tenantId, another }) {
      await store.write({ bump: true, operations: [define(), insert(1, { name: "kept" }, { hidden: { secret: "s" }, log: logged })] });
      const stamp = await store.stamp();
      const head = await store.changes.head();
      await storage.close();
      const reopened = (await another()).tenant(tenantId);
      const row = (await reopened.table("things").list({ filter: always, limit: 2 }))[0]!;
      assert.equal(row.record["name"], "kept");
      assert.deepEqual(row.hidden, { secret: "s" });
      assert.equal(await reopened.stamp(), stamp);
      assert.equal(await reopened.changes.head(), head);
      assert.deepEqual(await reopened.changes.since(head, 10), []);
    },
  },
  {
    name: "a store that was never used is empty, and has a stamp, a head and a size",
    async run({ store }) {
      assert.equal(await store.table("things").find("x"), undefined);
      assert.deepEqual(await store.table("things").list({ filter: always, limit: 10 }), []);
      assert.equal(await store.table("things").count(always), 0);
      assert.equal(typeof (await store.stamp()), "string");
      assert.equal(await store.stamp(), await store.stamp());
      assert.equal(await store.changes.head(), "");
      assert.deepEqual(await store.changes.since("", 10), []);
      assert.equal(await store.changes.since("nobody-7", 10), undefined);
      assert.equal(typeof (await store.size()), "number");
    },
  },
  {
    name: "the stamp of a store that was never used holds for its first unit",
    async run({ store }) {
      const stamp = await store.stamp();
      await store.write({ stamp, operations: [define(), insert(1)] });
      assert.deepEqual(await listNumbers(store), [1]);
    },
  },
  {
    name: "tenants and the system store do not see each other's rows",
    async run({ storage, store, tenantId }) {
      const neighbour = storage.tenant(`${tenantId}-neighbour`);
      await filled(store, [{ name: "mine" }]);
      await filled(neighbour, [{ name: "theirs" }]);
      await write(storage.system, define());
      assert.equal((await store.table("things").list({ filter: always, limit: 10 })).map((row) => row.record["name"]).join(), "mine");
      assert.equal((await neighbour.table("things").list({ filter: always, limit: 10 })).map((row) => row.record["name"]).join(), "theirs");
      assert.equal(await storage.system.table("things").count(always), 0);
    },
  },
  {
    name: "every handle of a tenant is the same store",
    async run({ storage, store, tenantId }) {
      await filled(store, [{}, {}]);
      assert.deepEqual(await listNumbers(storage.tenant(tenantId)), [1, 2]);
    },
  },
  {
    name: "dropTenant removes everything of the tenant and nothing of others",
    async run({ storage, store, tenantId }) {
      const neighbour = await filled(storage.tenant(`${tenantId}-neighbour`), [{}]);
      await store.write({ bump: true, operations: [define(), insert(1, {}, { log: logged })] });
      const head = await store.changes.head();
      await storage.dropTenant(tenantId);
      assert.deepEqual(await listNumbers(store), []);
      assert.deepEqual(await listNumbers(storage.tenant(tenantId)), []);
      assert.equal(await store.changes.head(), "");
      assert.equal(await store.changes.since(head, 10), undefined);
      assert.deepEqual(await listNumbers(neighbour), [1]);
    },
  },
  {
    name: "dropTenant is harmless where there is none",
    async run({ storage, tenantId }) {
      await storage.dropTenant(`${tenantId}-nobody`);
      await storage.dropTenant(`${tenantId}-nobody`);
    },
  },
  {
    name: "a dropped tenant's id starts empty again, with change ids that never were",
    async run({ storage, store, tenantId }) {
      await write(store, define(), insert(1, {}, { log: logged }));
      const before = await store.changes.head();
      await storage.dropTenant(tenantId);
      await write(store, define(), insert(2, {}, { log: logged }));
      assert.deepEqual(await listNumbers(store), [2]);
      assert.notEqual(await store.changes.head(), before);
      assert.equal(await store.changes.since(before, 10), undefined);
    },
  },
  {
    name: "dropTenant while others read and write breaks neither",
    async run({ storage, store, tenantId }) {
      await filled(store, [{}, {}, {}]);
      const reads = Array.from({ length: 30 }, () => store.table("things").list({ filter: always, limit: 10 }));
      const [rows] = await Promise.all([Promise.all(reads), storage.dropTenant(tenantId), storage.dropTenant(tenantId)]);
      for (const found of rows) assert.ok(found.length === 3 || found.length === 0);
      await filled(store, [{}]);
      assert.deepEqual(await listNumbers(store), [1]);
    },
  },
  {
    name: "another process sees that a tenant was dropped and made anew",
    needs: ["shared"],
    async run({ storage, store, tenantId, another }) {
      await store.write({ bump: true, operations: [define(), insert(1)] });
      const other = (await another()).tenant(tenantId);
      assert.deepEqual(await listNumbers(other), [1]);
      const stamp = await other.stamp();
      await storage.dropTenant(tenantId);
      assert.notEqual(await other.stamp(), stamp);
      assert.deepEqual(await listNumbers(other), []);
      await write(other, define(), insert(2));
      assert.deepEqual(await listNumbers(store), [2]);
      assert.deepEqual(await listNumbers(other), [2]);
    },
  },
];
