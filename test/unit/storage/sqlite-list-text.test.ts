import { expect } from "chai";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { all, always, is, number, text, type Filter } from "../../../lib/storage/filter.js";
import { filterToSql } from "../../../lib/storage/sqlite/filter-to-sql.js";
import { createSqliteStorage } from "../../../lib/storage/sqlite/sqlite.js";
import { textSeparator, type Query, type Storage, type Store } from "../../../lib/storage/storage.js";
import { define, insert } from "../../../lib/testing/storage-case.js";

describe("the SQLite store: lists as text", () => {
  let folder: string;
  let storage: Storage;
  let store: Store;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "records-sqlite-text-"));
    storage = createSqliteStorage({ folder });
    await storage.open();
    store = storage.tenant("acme");
    await store.write({ operations: [
      define({ fields: [{ field: "n", kind: "number" }], unique: false }),
      ...Array.from({ length: 40 }, (_unused, index) => insert(index + 1, { n: index % 7, title: `a "title",\n with signs – ${index}` })),
    ] });
  });

  afterEach(async () => {
    await storage.close();
    await rm(folder, { recursive: true, force: true });
  });

  const byNumber = { field: "n", kind: "number", descending: true } as const;
  const queries: Readonly<Record<string, Query>> = {
    "by id": { filter: always, limit: 10 },
    "sorted": { filter: always, sort: byNumber, limit: 13 },
    "filtered, with an offset": { filter: is(number("n"), 3), offset: 2, limit: 3 },
    "after a position": { filter: always, sort: byNumber, limit: 9, after: { value: 4, id: "0" } },
    "nothing matches": { filter: is(number("n"), 99), limit: 5 },
  };

  for (const [name, query] of Object.entries(queries)) {
    it(`the documents of the same rows in the same order: ${name}`, async () => {
      const rows = await store.table("things").list(query);
      const { bytes, count } = await store.table("things").listText!(query);
      const found = Buffer.from(bytes).toString();
      expect({ found, count }).to.deep.equal({ found: rows.map((row) => row.text).join(textSeparator), count: rows.length });
      expect(JSON.parse(`[${found}]`)).to.deep.equal(rows.map((row) => row.record));
    });
  }

  it("a table that is not there has no documents", async () => {
    const { bytes, count } = await store.table("nothing").listText!({ filter: always, limit: 5 });
    expect([bytes.length, count]).to.deep.equal([0, 0]);
  });

  it("no document has the separator in it, so a text can be cut there", async () => {
    const { bytes, count } = await store.table("things").listText!({ filter: always, limit: 40 });
    expect(Buffer.from(bytes).toString().split(textSeparator)).to.have.length(count);
  });
});

describe("filterToSql", () => {
  const mine: Filter = is(text("owner"), "a");

  it("asks once what rule and filter both ask", () => {
    expect(filterToSql(all(mine, is(text("owner"), "a")))).to.deep.equal(filterToSql(mine));
  });

  it("another value is another condition", () => {
    expect(filterToSql(all(mine, is(text("owner"), "b"))).values).to.deep.equal(["a", "b"]);
  });
});
