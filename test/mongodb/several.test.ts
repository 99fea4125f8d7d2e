// Several processes at once on one store: nothing is lost, nobody starves.
import { expect } from "chai";
import { always } from "../../lib/storage/filter.js";
import { createMongoStorage } from "../../lib/storage/mongodb/mongodb.js";
import type { Storage } from "../../lib/storage/storage.js";
import { id, insert, write } from "../../lib/testing/storage-case.js";
import { filledBelow, mongoUrl, removeDatabases } from "./server.js";

const server = mongoUrl();

if (server !== undefined) {
  describe("several processes write to one store", function () {
    this.timeout(60_000);
    const url = server.withDatabase(`several${process.pid}`);
    const nodes: Storage[] = [];

    before(async () => {
      for (let n = 0; n < 3; n += 1) {
        const storage = createMongoStorage({ url });
        await storage.open();
        nodes.push(storage);
      }
      await write(nodes[0]!.tenant("several"), { type: "define", table: "things", indexes: [] });
    });
    after(async () => {
      await Promise.all(nodes.map((node) => node.close()));
      await removeDatabases(url);
    });

    it("each gets its turn, every write is there, and the log has them all in one order", async () => {
      const perNode = 100;
      await Promise.all(nodes.map(async (node, index) => {
        const store = node.tenant("several");
        for (let n = 0; n < perNode; n += 1) await write(store, insert(index * 1000 + n + 1, { n }, { log: { collection: "things", content: "id" } }));
      }));
      for (const node of nodes) {
        const store = node.tenant("several");
        expect(await store.table("things").count(always)).to.equal(perNode * nodes.length);
        const changes = (await store.changes.since("", 1_000))!;
        expect(new Set(changes.map((change) => change.recordId)).size).to.equal(perNode * nodes.length);
        expect(changes.filter((change) => change.recordId.startsWith(id(0).slice(0, 20)) && Number.parseInt(change.recordId.slice(-12), 16) < 1000).map((change) => change.recordId))
          .to.deep.equal(Array.from({ length: perNode }, (_unused, n) => id(n + 1)));
      }
    });

    it("one that is far behind goes on from the state of now", async () => {
      const [behind, ahead] = nodes.map((node) => node.tenant("several"));
      await write(behind!, insert(50_000, { n: 0 }));
      for (let n = 1; n <= 60; n += 1) {
        await write(ahead!, insert(50_000 + n, { n }));
        if (n === 30) await write(ahead!, { type: "define", table: "later", indexes: [] });
      }
      await write(behind!, { type: "insert", table: "later", record: { id: id(50_100), createdAt: "", updatedAt: "" } }, insert(50_100, { n: 100 }));
      expect((await ahead!.table("later").find(id(50_100)))?.id).to.equal(id(50_100));
      expect((await behind!.table("things").find(id(50_060)))?.record["n"]).to.equal(60);
    });

    it("an entry whose process died before its rows were written is finished by another", async () => {
      const { MongoClient } = await import("mongodb");
      const client = await MongoClient.connect(url);
      try {
        const database = client.db(`${/\/([^/?]+)(?:\?|$)/.exec(url)![1]!}_several`);
        const log = database.collection<{ _id: number }>("log");
        const newest = (await log.find({}).sort({ _id: -1 }).limit(1).toArray())[0]! as { _id: number; to: number };
        // One of its rows has got a later entry's content already; many, so that they take more than one command.
        const ids = Array.from({ length: 50 }, (_unused, n) => id(99_000 + n));
        const put = (of: string, n: number) => ({ type: "put", table: "things", id: of, known: false, revision: 1, text: JSON.stringify({ id: of, createdAt: "", updatedAt: "", n }), hidden: null, change: null });
        await database.collection<{ _id: string }>("rows_things").insertOne({ _id: ids[20]!, r: 2, s: newest._id + 9, d: put(ids[20]!, 8).text, h: null, f: { n: 8 } } as never);
        await log.insertOne({ ...newest, _id: newest._id + 1, by: "somebody who is gone", from: newest.to, to: newest.to, count: 0, time: Date.now(), steps: ids.map((each) => put(each, 7)) } as never);
        await write(nodes[1]!.tenant("several"), insert(88_888));
        for (const node of nodes) {
          const found = await Promise.all(ids.map((each) => node.tenant("several").table("things").find(each)));
          expect(found.map((row) => row?.record["n"])).to.deep.equal(ids.map((_unused, n) => (n === 20 ? 8 : 7)));
        }
      } finally {
        await client.close();
      }
    });

    it("of a tenant that one drops while the others write nothing stays", async () => {
      for (let round = 0; round < 5; round += 1) {
        const name = `dropped${round}`;
        await write(nodes[0]!.tenant(name), { type: "define", table: "things", indexes: [] });
        let dropped = false;
        const writers = nodes.slice(1).map(async (node, index) => {
          // Until it is told that the table is gone.
          for (let n = 1; !dropped; n += 1) await write(node.tenant(name), insert(index * 100_000 + n)).catch(() => undefined);
        });
        await expectRows(nodes[0]!, name);
        await nodes[0]!.dropTenant(name);
        dropped = true;
        await Promise.all(writers);
      }
      // What is under way on a node is done when it has closed.
      await Promise.all(nodes.map((node) => node.close()));
      expect((await filledBelow(url)).filter((name) => name.includes("dropped"))).to.deep.equal([]);
    });
  });
}

async function expectRows(node: Storage, tenant: string): Promise<void> {
  while ((await node.tenant(tenant).table("things").count(always)) < 20);
}
