// Cases: what the change log holds, where it starts again, and what listeners hear.
import assert from "node:assert/strict";
import type { Change, Operation } from "../storage/storage.js";
import { define, ear, filled, id, insert, logged, numbers, record, rejects, write, type StorageCase } from "./storage-case.js";

const recordNumbers = (changes: readonly Change[]): number[] => numbers(changes.map(({ recordId }) => ({ id: recordId })));
const update = (n: number, set: Record<string, number>): Operation => ({ type: "update", table: "things", id: id(n), set, log: logged });

export const changeCases: readonly StorageCase[] = [
  {
    name: "a logged insert, update and removal make a change each, with the record after it, or as it last was",
    async run({ store }) {
      const results = [
        await write(store, define(), insert(1, { n: 1 }, { log: logged, hidden: { secret: "s3cret" } })),
        await write(store, update(1, { n: 2 })),
        await write(store, { type: "remove", table: "things", id: id(1), log: { collection: "renamed", content: "record" } }),
      ];
      const changes = (await store.changes.since("", 10))!;
      assert.deepEqual(changes.map(({ action, collection, recordId }) => [action, collection, recordId]), [
        ["create", "things", id(1)], ["update", "things", id(1)], ["delete", "renamed", id(1)],
      ]);
      assert.deepEqual(changes.map((change) => change.record), [record(1, { n: 1 }), record(1, { n: 2 }), record(1, { n: 2 })]);
      for (const change of changes) {
        assert.deepEqual(JSON.parse(change.text!), change.record);
        assert.equal(new Date(change.at).toISOString(), change.at);
        assert.ok(!change.text!.includes("s3cret"));
      }
      const told = results.flatMap((result) => result.changes);
      assert.deepEqual(told.map(({ id: changeId, action, text, at }) => [changeId, action, text, at]), changes.map(({ id: changeId, action, text, at }) => [changeId, action, text, at]));
      assert.equal(await store.changes.head(), changes[2]!.id);
    },
  },
  {
    name: "content id: the change comes without the record",
    async run({ store }) {
      await write(store, define(), insert(1, { n: 1 }, { log: { collection: "things", content: "id" } }));
      const [change] = (await store.changes.since("", 10))!;
      assert.deepEqual([change!.recordId, change!.record, change!.text], [id(1), null, null]);
    },
  },
  {
    name: "no entry: operations without log, units that fail, optional operations left out",
    async run({ store }) {
      await write(store, define(), insert(1));
      await rejects(write(store, insert(1, {}, { log: logged })), "UniqueViolation");
      await write(store, { type: "update", table: "things", id: id(9), optional: true, log: logged });
      assert.equal(await store.changes.head(), "");
      await write(store, insert(2, {}, { log: logged }));
      assert.deepEqual(recordNumbers((await store.changes.since("", 10))!), [2]);
    },
  },
  {
    name: "a failed unit among others leaves no entry and no gap",
    needs: ["atomicUnits"],
    async run({ store }) {
      await filled(store, [{}]);
      const settled = await Promise.allSettled([2, 3, 4, 5, 6].map((n) => write(store, insert(n * 10, {}, { log: logged }), insert(n === 4 ? 1 : n, {}, { log: logged }))));
      assert.deepEqual(settled.map(({ status }) => status === "fulfilled"), [true, true, false, true, true]);
      const changes = (await store.changes.since("", 100))!;
      assert.deepEqual(recordNumbers(changes), [20, 2, 30, 3, 50, 5, 60, 6]);
      const told = settled.flatMap((result) => (result.status === "fulfilled" ? result.value.changes : []));
      assert.deepEqual(told.map((change) => change.id), changes.map((change) => change.id));
    },
  },
  {
    name: "change ids are unique over all stores",
    async run({ storage, store, tenantId }) {
      const neighbour = storage.tenant(`${tenantId}-neighbour`);
      for (const each of [store, neighbour]) await write(each, define(), insert(1, {}, { log: logged }), insert(2, {}, { log: logged }));
      const ids = [...(await store.changes.since("", 10))!, ...(await neighbour.changes.since("", 10))!].map((change) => change.id);
      assert.equal(new Set(ids).size, 4);
    },
  },
  {
    name: "since: the changes after an id, oldest first, up to the limit",
    async run({ store }) {
      await write(store, define());
      for (let n = 1; n <= 5; n += 1) await write(store, insert(n, {}, { log: logged }));
      const all = (await store.changes.since("", 100))!;
      assert.deepEqual(recordNumbers(all), [1, 2, 3, 4, 5]);
      assert.deepEqual(recordNumbers((await store.changes.since(all[1]!.id, 100))!), [3, 4, 5]);
      assert.deepEqual(recordNumbers((await store.changes.since(all[1]!.id, 2))!), [3, 4]);
      assert.deepEqual(await store.changes.since(all[4]!.id, 100), []);
    },
  },
  {
    name: "since: undefined where the id is unknown here",
    async run({ storage, store, tenantId }) {
      const neighbour = storage.tenant(`${tenantId}-neighbour`);
      for (const each of [store, neighbour]) await write(each, define(), insert(1, {}, { log: logged }));
      const foreign = await neighbour.changes.head();
      const own = await store.changes.head();
      for (const unknown of [foreign, "x", "0", "-1", "__proto__", `${own}0`, `${own}9`, `${own} `, `${own}.5`, ` ${own}`, "\u0000", "x".repeat(10_000)]) {
        assert.equal(await store.changes.since(unknown, 10), undefined, unknown.slice(0, 80));
      }
    },
  },
  {
    name: "trim keeps the newest; an id before them is no longer known, the head stays",
    async run({ store }) {
      await write(store, define());
      for (let n = 1; n <= 6; n += 1) await write(store, insert(n, {}, { log: logged }));
      const all = (await store.changes.since("", 100))!;
      await store.changes.trim(2);
      assert.equal(await store.changes.since("", 100), undefined);
      assert.equal(await store.changes.since(all[1]!.id, 100), undefined);
      assert.deepEqual(recordNumbers((await store.changes.since(all[4]!.id, 100))!), [6]);
      assert.equal(await store.changes.head(), all[5]!.id);
      await store.changes.trim(100);
      assert.deepEqual(recordNumbers((await store.changes.since(all[4]!.id, 100))!), [6]);
    },
  },
  {
    name: "trimmed to nothing, the log goes on with new ids and knows its head",
    async run({ store }) {
      await write(store, define(), insert(1, {}, { log: logged }), insert(2, {}, { log: logged }));
      const head = await store.changes.head();
      await store.changes.trim(0);
      assert.equal(await store.changes.head(), head);
      assert.deepEqual(await store.changes.since(head, 10), []);
      await store.write({ head, operations: [insert(3, {}, { log: logged })] });
      assert.deepEqual(recordNumbers((await store.changes.since(head, 10))!), [3]);
      assert.notEqual(await store.changes.head(), head);
    },
  },
  {
    name: "trim is harmless in a store that was never used",
    async run({ store }) {
      await store.changes.trim(10);
      assert.equal(await store.changes.head(), "");
    },
  },
  {
    name: "a listener hears every change from then on, once and in order",
    async run({ store }) {
      await write(store, define(), insert(1, {}, { log: logged }));
      const { listener, until } = ear();
      const stop = await store.changes.listen(listener);
      await Promise.all(Array.from({ length: 40 }, (_unused, index) => write(store, insert(index + 2, { n: index }, { log: logged }))));
      const heard = await until(40);
      stop();
      const written = (await store.changes.since("", 100))!.slice(1);
      assert.deepEqual(heard.map((change) => change.id), written.map((change) => change.id));
      assert.deepEqual(heard.map((change) => change.record), written.map((change) => change.record));
    },
  },
  {
    name: "a listener on a store that was never used hears its first change",
    async run({ store }) {
      const { listener, until } = ear();
      const stop = await store.changes.listen(listener);
      await write(store, define(), insert(1, {}, { log: logged }));
      assert.deepEqual(recordNumbers(await until(1)), [1]);
      stop();
    },
  },
  {
    name: "several listeners hear the same; one that has ended hears no more, and one that throws harms no other",
    async run({ store }) {
      await write(store, define());
      const ears = [ear(), ear(), ear()];
      const warned = new Promise((resolve) => process.once("warning", resolve));
      const stopThrowing = await store.changes.listen(() => {
        throw new Error("a listener's own fault");
      });
      const stops = await Promise.all(ears.map(({ listener }) => store.changes.listen(listener)));
      await write(store, insert(1, {}, { log: logged }));
      await Promise.all(ears.map(({ until }) => until(1)));
      await warned;
      stopThrowing();
      stops[0]!();
      stops[0]!();
      await write(store, insert(2, {}, { log: logged }));
      await Promise.all([ears[1]!.until(2), ears[2]!.until(2)]);
      stops[1]!();
      stops[2]!();
      assert.deepEqual(ears.map(({ heard }) => recordNumbers(heard)), [[1], [1, 2], [1, 2]]);
    },
  },
  {
    name: "a listener hears its own store only",
    async run({ storage, store, tenantId }) {
      const neighbour = storage.tenant(`${tenantId}-neighbour`);
      await write(store, define());
      await write(neighbour, define());
      const mine = ear();
      const theirs = ear();
      const stops = [await store.changes.listen(mine.listener), await neighbour.changes.listen(theirs.listener)];
      await write(neighbour, insert(7, {}, { log: logged }));
      await write(store, insert(8, {}, { log: logged }));
      await Promise.all([mine.until(1), theirs.until(1)]);
      for (const stop of stops) stop();
      assert.deepEqual([recordNumbers(mine.heard), recordNumbers(theirs.heard)], [[8], [7]]);
    },
  },
  {
    name: "a listener hears the changes of other processes too, all once and in order",
    needs: ["shared"],
    async run({ store, tenantId, another }) {
      const other = (await another()).tenant(tenantId);
      await write(store, define());
      const here = ear();
      const there = ear();
      const stops = [await store.changes.listen(here.listener), await other.changes.listen(there.listener)];
      for (let n = 1; n <= 30; n += 1) await write(n % 3 === 0 ? store : other, insert(n, {}, { log: logged }));
      await Promise.all(Array.from({ length: 30 }, (_unused, index) => write(index % 2 === 0 ? store : other, insert(index + 31, {}, { log: logged }))));
      await Promise.all([here.until(60), there.until(60)]);
      const written = (await store.changes.since("", 100))!.map((change) => change.id);
      for (const { heard } of [here, there]) assert.deepEqual(heard.map((change) => change.id), written);
      for (const stop of stops) stop();
    },
  },
  {
    name: "a listener hears a great many changes of another process",
    needs: ["shared", "atomicUnits"],
    async run({ store, tenantId, another }) {
      const other = (await another()).tenant(tenantId);
      await write(store, define());
      const { listener, until } = ear();
      const stop = await store.changes.listen(listener);
      await other.write({ operations: Array.from({ length: 1700 }, (_unused, index) => insert(index + 1, {}, { log: logged })) });
      await write(store, insert(5000, {}, { log: logged }));
      const heard = await until(1701);
      stop();
      assert.deepEqual(recordNumbers(heard), [...Array.from({ length: 1700 }, (_unused, index) => index + 1), 5000]);
    },
  },
];
