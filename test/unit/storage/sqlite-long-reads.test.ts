import { expect } from "chai";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { StorageUnavailable } from "../../../lib/core/errors.js";
import { always, text, type Filter } from "../../../lib/storage/filter.js";
import type { Storage, Store } from "../../../lib/storage/storage.js";
import { id, insert, write } from "../../../lib/testing/storage-case.js";
import { openSqlite, type OpenedSqlite } from "./open-sqlite.js";

describe("the SQLite store: long reads", () => {
  let opened: OpenedSqlite;
  let folder: string;
  let storage: Storage;
  let store: Store;

  beforeEach(async () => {
    ({ folder, storage, store } = opened = await openSqlite(5000, (index) => ({ n: index % 100, title: `title ${index}` })));
  });
  afterEach(() => opened.close());

  it("a list without an index leaves the event loop free: a find asked later is answered sooner", async () => {
    const order: string[] = [];
    const scans = [
      store.table("things").list({ filter: { op: "contains", text: text("title"), part: { value: "4999" } }, limit: 5 }).then((rows) => order.push(`scan ${rows.length}`)),
      store.table("things").list({ filter: always, sort: { field: "title", kind: "text", descending: true }, limit: 3 }).then((rows) => order.push(`sort ${rows.length}`)),
      store.table("things").list({ filter: always, sort: { field: "n", kind: "number", descending: true }, offset: 4990, limit: 20 }).then((rows) => order.push(`offset ${rows.length}`)),
    ];
    await store.table("things").find(id(7)).then(() => order.push("find"));
    await store.table("things").list({ filter: always, sort: { field: "n", kind: "number", descending: false }, limit: 5 }).then(() => order.push("indexed"));
    await Promise.all(scans);
    expect(order.slice(0, 2)).to.deep.equal(["find", "indexed"]);
    expect(order.slice(2).sort()).to.deep.equal(["offset 10", "scan 1", "sort 3"]);
  });

  it("a long read sees every write that has resolved, and none of a table or tenant that is gone", async () => {
    const filter: Filter = { op: "contains", text: text("title"), part: { value: "TITLE" } };
    expect(await store.table("things").count(filter)).to.equal(5000);
    await write(store, insert(6000, { title: "another title" }));
    expect(await store.table("things").count(filter)).to.equal(5001);
    await write(store, { type: "drop", table: "things" });
    expect(await store.table("things").count(filter)).to.equal(0);
    await storage.dropTenant("acme");
    expect(await store.table("things").count(filter)).to.equal(0);
  });

  it("two hundred long reads at once are all answered", async () => {
    const counts = await Promise.all(Array.from({ length: 200 }, (_unused, index) =>
      store.table("things").count({ op: "contains", text: text("title"), part: { value: `title ${index}` } })));
    expect(counts[199]).to.equal(11);
    expect(counts.every((count) => count > 0)).to.equal(true);
  });

  it("close ends the long reads under way, one way or the other", async () => {
    const filter: Filter = { op: "contains", text: text("title"), part: { value: "TITLE" } };
    const reads = Promise.allSettled(Array.from({ length: 20 }, () => store.table("things").count(filter)));
    await storage.close();
    for (const result of await reads) {
      if (result.status === "fulfilled") expect(result.value).to.equal(5000);
      else expect(result.reason).to.be.instanceOf(StorageUnavailable);
    }
    expect(existsSync(join(folder, "tenants", "acme.sqlite-wal"))).to.equal(false);
  });
});
