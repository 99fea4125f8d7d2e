// Reads that share commands or go out as bytes: they give what a read of one's own would.
import { expect } from "chai";
import { always, is, number, text } from "../../lib/storage/filter.js";
import { textSeparator, type Query, type Store } from "../../lib/storage/storage.js";
import { define, id, insert, write } from "../../lib/testing/storage-case.js";
import { openStore, type OpenedStore } from "./open-store.js";
import { mongoUrl } from "./server.js";

const server = mongoUrl();
const byNumber = { field: "n", kind: "number", descending: true } as const;
const queries: Readonly<Record<string, Query>> = {
  "by id": { filter: always, limit: 10 },
  "sorted": { filter: always, sort: byNumber, limit: 13 },
  "filtered, with an offset": { filter: is(number("n"), 3), offset: 2, limit: 3 },
  "after a position": { filter: always, sort: byNumber, limit: 9, after: { value: 4, id: "0" } },
  "a filter that the database cannot run": { filter: { op: "contains", text: text("title"), part: { value: "signs – 1" } }, offset: 1, limit: 5 },
  "nothing matches": { filter: is(number("n"), 99), limit: 5 },
};

if (server !== undefined) {
  describe("reads on MongoDB", function () {
    this.timeout(60_000);
    let opened: OpenedStore;
    let store: Store;

    before(async () => {
      opened = await openStore(server, "reads");
      store = opened.store;
      await write(store, define({ fields: [{ field: "n", kind: "number" }], unique: false }),
        ...Array.from({ length: 40 }, (_unused, index) => insert(index + 1, { n: index % 7, title: `a "title",\n with signs – ${index} 漢字😀\u0000` })));
    });
    after(() => opened.close());

    for (const [name, query] of Object.entries(queries)) {
      it(`lists as bytes are the documents of the same rows in the same order: ${name}`, async () => {
        const rows = await store.table("things").list(query);
        const { bytes, count } = await store.table("things").listText!(query);
        expect({ found: Buffer.from(bytes).toString(), count }).to.deep.equal({ found: rows.map((row) => row.text).join(textSeparator), count: rows.length });
        expect(count === 0).to.equal(name === "nothing matches");
      });
    }

    it("many finds at once give each its own row", async () => {
      const numbers = Array.from({ length: 300 }, (_unused, at) => at % 45);
      const rows = await Promise.all(numbers.map((n) => store.table("things").find(id(n))));
      expect(rows.map((row) => row?.id)).to.deep.equal(numbers.map((n) => (n >= 1 && n <= 40 ? id(n) : undefined)));
    });

    it("a find sees every write that resolved before it, however many finds are under way", async () => {
      const table = store.table("things");
      const noise = Array.from({ length: 8 }, async (_unused, at) => {
        for (let turn = 0; turn < 60; turn += 1) await table.find(id((at * 5 + turn) % 40 + 1));
      });
      for (let n = 100; n < 110; n += 1) {
        expect(await table.find(id(n))).to.equal(undefined);
        await write(store, insert(n, { n }));
        expect((await table.find(id(n)))?.record["n"]).to.equal(n);
      }
      await Promise.all(noise);
    });
  });
}
