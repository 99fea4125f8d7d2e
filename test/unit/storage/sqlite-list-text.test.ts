import { expect } from "chai";
import { all, always, is, number, text, type Filter } from "../../../lib/storage/filter.js";
import { filterToSql } from "../../../lib/storage/sqlite/filter-to-sql.js";
import { textSeparator, type Query, type Store } from "../../../lib/storage/storage.js";
import { openSqlite, type OpenedSqlite } from "./open-sqlite.js";

describe("the SQLite store: lists as text", () => {
  let opened: OpenedSqlite;
  let store: Store;

  beforeEach(async () => {
    ({ store } = opened = await openSqlite(40, (index) => ({ n: index % 7, title: `a "title",\n with signs – ${index}` })));
  });
  afterEach(() => opened.close());

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
