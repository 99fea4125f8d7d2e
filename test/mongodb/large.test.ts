// Rows and units near the size of MongoDB's documents: what fits is written, what does not is refused, and nothing is
// left in the log that stops the writes after it.
import { expect } from "chai";
import { BadRequest } from "../../lib/core/errors.js";
import { always } from "../../lib/storage/filter.js";
import type { LogEntry, Operation, Store } from "../../lib/storage/storage.js";
import { define, id, insert, write } from "../../lib/testing/storage-case.js";
import { openStore, type OpenedStore } from "./open-store.js";
import { mongoUrl } from "./server.js";

const server = mongoUrl();
const log: LogEntry = { collection: "things", content: "record" };
const letters = (count: number): string => "x".repeat(count);
const update = (n: number, set: Record<string, string>, entry?: LogEntry): Operation => ({ type: "update", table: "things", id: id(n), set, log: entry });
const remove = (n: number, entry?: LogEntry): Operation => ({ type: "remove", table: "things", id: id(n), log: entry });
const rejected = (work: Promise<unknown>): Promise<unknown> => work.then(() => "done", (error: unknown) => error);

if (server !== undefined) {
  describe("large rows on MongoDB", function () {
    this.timeout(120_000);
    let opened: OpenedStore;
    let store: Store;

    before(async () => {
      opened = await openStore(server, "large");
      store = opened.store;
      await write(store, define());
      for (let n = 1; n <= 12; n += 1) await write(store, insert(n, { text: letters(1_500_000) }));
    });
    after(() => opened.close());

    it("small updates of large rows, all at once, are all written", async () => {
      const rows = Array.from({ length: 12 }, (_unused, at) => at + 1);
      expect(await Promise.all(rows.map((n) => rejected(write(store, update(n, { small: "new" }, log)))))).to.satisfy((results: unknown[]) => results.every((each) => each === "done"));
      for (const n of rows) expect((await store.table("things").find(id(n)))?.record["small"]).to.equal("new");
    });

    it("a unit that removes more than an entry holds is refused, and nothing of it happens", async () => {
      const rows = Array.from({ length: 12 }, (_unused, at) => at + 1);
      expect(await rejected(store.write({ operations: rows.map((n) => remove(n, log)) }))).to.be.instanceOf(BadRequest);
      for (const n of rows) expect((await store.table("things").find(id(n)))?.revision).to.equal(2);
    });

    it("a row too large for a document is refused, logged or not, also where it grows piece by piece, and later writes go on", async () => {
      await write(store, insert(20, { text: letters(4_000_000) }));
      expect(await rejected(write(store, insert(21, { text: letters(9_000_000) })))).to.be.instanceOf(BadRequest);
      expect(await rejected(write(store, update(20, { more: letters(4_000_000) })))).to.be.instanceOf(BadRequest);
      await write(store, update(20, { small: "new" }), insert(22));
      expect((await store.table("things").find(id(20)))?.record["small"]).to.equal("new");
      expect(await store.table("things").find(id(21))).to.equal(undefined);
    });

    it("a definition that makes a row too large is refused, and later writes go on", async () => {
      const transform = { add: { more: letters(4_000_000) } };
      expect(await rejected(write(store, { type: "define", table: "things", indexes: [], transform }))).to.be.instanceOf(BadRequest);
      await write(store, insert(23));
      expect((await store.table("things").find(id(23)))?.record).not.to.have.property("more");
    });

    it("a definition transforms large rows", async () => {
      await write(store, { type: "define", table: "things", indexes: [], transform: { add: { color: "red" } } });
      const rows = await store.table("things").list({ filter: always, limit: 100 });
      expect(rows.length).to.be.greaterThan(12);
      expect(rows.every(({ record }) => record["color"] === "red")).to.equal(true);
    });
  });
}
