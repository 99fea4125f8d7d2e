// interface.md "List query parameters", contract 5 and 11: every sentence on lists.
import { expect } from "chai";
import { demand, startService, type Answer, type TestService, type TestTenant, type TestUser } from "../support/service.js";

interface Item {
  readonly id: string;
  readonly [name: string]: unknown;
}

type Parameters = Readonly<Record<string, string | number | undefined>>;

describe("lists", () => {
  let on: TestService;
  let tenant: TestTenant;
  let alice: TestUser;
  const all: Item[] = [];
  const rules = { listRule: "true", viewRule: "true", createRule: "true", updateRule: "true", deleteRule: "true" };

  /** Values are encoded here, so that tests show what is meant. */
  const query = (parameters: Parameters): string => Object.entries(parameters).filter(([, value]) => value !== undefined).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join("&");
  const list = (parameters: Parameters = {}, collection = "things", as: object = { tenant: "acme" }): Promise<Answer> =>
    on.request("GET", `/api/collections/${collection}?${query(parameters)}`, as);
  const titles = async (parameters: Parameters): Promise<unknown[]> => (await demand(200, list(parameters))).body.items.map((item: Item) => item["title"]);

  before(async () => {
    on = await startService();
    tenant = await on.createTenant("acme");
    alice = await on.signUp(tenant, "alice");
    await on.createCollection(tenant, { name: "groups", fields: [{ name: "label", type: "TEXT" }, { name: "open", type: "BOOLEAN" }], ...rules, viewRule: "open" });
    await on.createCollection(tenant, {
      name: "things", ...rules,
      fields: [
        { name: "title", type: "TEXT" }, { name: "n", type: "NUMBER" }, { name: "flag", type: "BOOLEAN" }, { name: "day", type: "DATE" }, { name: "state", type: "SELECT", values: ["open", "done"] },
        { name: "mail", type: "EMAIL" }, { name: "link", type: "URL" }, { name: "group", type: "RELATION", collection: "groups" }, { name: "meta", type: "JSON" }, { name: "file", type: "FILE" },
      ],
    });
    const seen = on.service.tenant("acme").as("system").collection("things");
    const groups = on.service.tenant("acme").as("system").collection("groups");
    const open = await groups.create({ label: "open group", open: true });
    const closed = await groups.create({ label: "closed group", open: false });
    for (let index = 0; index < 130; index += 1) {
      all.push((await seen.create({
        title: `t${String(index).padStart(3, "0")}`, n: (index * 7) % 130, flag: index % 2 === 0, state: index % 3 === 0 ? "open" : "done",
        day: index === 5 ? "2026-01-31T10:00:00Z" : null, mail: index === 6 ? "a@example.org" : null, link: index === 7 ? "https://example.org/a:b" : null,
        group: index === 0 ? open.id : index === 1 ? closed.id : null, meta: { color: index === 8 ? "red" : "blue" },
      })) as unknown as Item);
    }
  });
  after(() => on.close());

  describe("offset and limit", () => {
    const cases: readonly (readonly [Record<string, string | number>, number, number])[] = [
      [{}, 0, 25], [{ limit: 0 }, 0, 25], [{ limit: -1 }, 0, 25], [{ limit: 1 }, 0, 1], [{ limit: 100 }, 0, 100], [{ limit: 101 }, 0, 100], [{ limit: 500 }, 0, 100],
      [{ offset: -5 }, 0, 25], [{ offset: 0 }, 0, 25], [{ offset: 7, limit: 3 }, 7, 3], [{ limit: "9007199254740993" }, 0, 100], [{ limit: "-9007199254740993" }, 0, 25],
      [{ limit: "99999999999999999999999999" }, 0, 100], [{ offset: "-99999999999999999999999999" }, 0, 25],
    ];
    for (const [parameters, offset, limit] of cases) {
      it(`${JSON.stringify(parameters)} means offset ${offset} and limit ${limit}`, async () => {
        const { body } = await demand(200, list(parameters));
        expect(body).to.include({ offset, limit });
        expect(body.items.map((item: Item) => item.id)).to.deep.equal(all.slice(offset, offset + limit).map((item) => item.id));
      });
    }

    for (const value of ["abc", "1.5", "1e3", "0x10", "", " 5", "5 ", "5-", "NaN", "Infinity", "١"]) {
      it(`${JSON.stringify(value)} is no integer: 400`, async () => {
        for (const name of ["limit", "offset"]) expect((await list({ [name]: value })).status, name).to.equal(400);
      });
    }

    it("an offset beyond the end is an empty page", async () => {
      for (const offset of ["130", "1000000000", "9007199254740993", "99999999999999999999"]) {
        const { body } = await demand(200, list({ offset }));
        expect(body.items).to.deep.equal([]);
        expect(body).to.include({ hasMore: false, nextCursor: null });
      }
    });

    it("the envelope is items, offset, limit, hasMore and nextCursor; total only with count=true", async () => {
      expect((await list()).body).to.have.all.keys("items", "offset", "limit", "hasMore", "nextCursor");
      expect((await list({ count: "true" })).body).to.have.all.keys("items", "offset", "limit", "hasMore", "nextCursor", "total");
      expect((await list({ count: "false" })).body).not.to.have.property("total");
      expect((await list({ count: "true", limit: 2, offset: 5, filter: "flag:eq:true" })).body.total).to.equal(65);
      for (const count of ["yes", "1", ""]) expect((await list({ count })).status, count).to.equal(400);
    });

    it("hasMore tells whether records follow, at the edges too", async () => {
      for (const [offset, limit, more] of [[0, 25, true], [105, 25, false], [104, 25, true], [29, 100, true], [30, 100, false], [130, 25, false]] as const) {
        const { body } = await list({ offset, limit });
        expect(body.hasMore, `${offset} ${limit}`).to.equal(more);
        expect(body.nextCursor === null, `${offset} ${limit}`).to.equal(!more);
      }
    });
  });

  describe("filter", () => {
    const cases: readonly (readonly [string, readonly number[]])[] = [
      ["title:eq:t003", [3]], ["n:eq:7", [1]], ["n:eq:7.0", [1]], ["day:eq:2026-01-31T10:00:00.000Z", [5]], ["day:eq:2026-01-31T11:00:00+01:00", [5]], ["mail:eq:a@example.org", [6]],
      ["link:eq:https://example.org/a:b", [7]], ["title:eq:T003", []], ["title:eq:t00", []], ["title:eq:", []], ["title:eq:.*", []], ["title:eq:^a(a+)+$", []], ["title:eq:%", []], ["title:eq:t___", []],
      ["title:eq:' or 1=1 --", []], ["title:eq:null", []], ["title:eq: t003", []], ["title:eq:t003 ", []],
    ];
    for (const [filter, indexes] of cases) {
      it(`${filter} finds ${indexes.length}`, async () => {
        expect(await titles({ filter })).to.deep.equal(indexes.map((index) => `t${String(index).padStart(3, "0")}`));
      });
    }

    it("names id, createdAt and updatedAt too", async () => {
      const record = all[9]!;
      for (const name of ["id", "createdAt", "updatedAt"]) expect(await titles({ filter: `${name}:eq:${String(record[name])}`, limit: 100 })).to.include("t009");
      expect(await titles({ filter: "id:eq:nosuch" })).to.deep.equal([]);
    });

    it("BOOLEAN, SELECT and RELATION are filtered by their value", async () => {
      expect((await list({ filter: "flag:eq:false", count: "true" })).body.total).to.equal(65);
      expect((await list({ filter: "state:eq:open", count: "true" })).body.total).to.equal(44);
      expect(await titles({ filter: `group:eq:${String(all[0]!["group"])}` })).to.deep.equal(["t000"]);
    });

    for (const filter of [
      "", "title", "title:eq", "title:ne:x", "title:EQ:x", "title::x", ":eq:x", "nosuch:eq:x", "meta:eq:x", "meta.color:eq:red", "file:eq:x", "n:eq:abc", "n:eq:", "n:eq:1e999", "flag:eq:yes", "flag:eq:1", "day:eq:yesterday",
      "__proto__:eq:x", "constructor:eq:x", "toString:eq:x", "_id:eq:x", "title :eq:x", "title:eq :x",
    ]) {
      it(`${JSON.stringify(filter)} is 400`, async () => {
        const answer = await list({ filter });
        expect(answer.status, answer.text).to.equal(400);
        expect(answer.body).to.satisfy((body: unknown) => Array.isArray(body) || typeof (body as { error?: unknown }).error === "string");
      });
    }

    it("two filters are 400", async () => {
      expect((await on.request("GET", "/api/collections/things?filter=title:eq:a&filter=title:eq:b", { tenant: "acme" })).status).to.equal(400);
    });

    it("`:` in a value is kept, encoded or not", async () => {
      for (const value of ["https://example.org/a:b", "https%3A%2F%2Fexample.org%2Fa%3Ab"]) {
        expect((await on.request("GET", `/api/collections/things?filter=link:eq:${value}`, { tenant: "acme" })).body.items).to.have.length(1);
      }
    });

    it("can only narrow what the rules already allow", async () => {
      await on.createCollection(tenant, { name: "own", fields: [{ name: "owner", type: "TEXT" }, { name: "title", type: "TEXT" }], ...rules, listRule: "owner = @auth.id" });
      for (const owner of [alice.id, "another", null]) await on.service.tenant("acme").as("system").collection("own").create({ owner, title: "x" });
      const as = { token: alice.token };
      for (const parameters of [{}, { filter: "title:eq:x" }, { where: 'title = "x" || true' }, { where: 'owner = "another" || title = "x"' }, { sort: "title:desc" }, { offset: 0, limit: 100 }]) {
        const { body } = await demand(200, list({ ...parameters, count: "true" }, "own", as));
        expect(body.items.map((item: Item) => item["owner"]), JSON.stringify(parameters)).to.deep.equal([alice.id]);
        expect(body).to.include({ total: 1, hasMore: false });
      }
      expect((await demand(200, list({ filter: "owner:eq:another", count: "true" }, "own", as))).body).to.deep.include({ items: [], total: 0 });
      expect((await demand(200, list({ offset: 1, count: "true" }, "own", as))).body).to.deep.include({ items: [], total: 1 });
    });
  });

  describe("sort", () => {
    it("orders by one field and direction; equal values stay in a stable order", async () => {
      expect((await titles({ sort: "n:asc", limit: 3 }))[0]).to.equal("t000");
      const ascending = (await list({ sort: "n:asc", limit: 100 })).body.items.map((item: Item) => item["n"]);
      expect(ascending).to.deep.equal(Array.from({ length: 100 }, (_, n) => n));
      const descending = (await list({ sort: "n:desc", limit: 100 })).body.items.map((item: Item) => item["n"]);
      expect(descending).to.deep.equal(Array.from({ length: 100 }, (_, n) => 129 - n));
      const first = (await list({ sort: "flag:asc", limit: 100 })).body.items.map((item: Item) => item.id);
      const second = (await list({ sort: "flag:asc", offset: 100, limit: 100 })).body.items.map((item: Item) => item.id);
      expect(new Set([...first, ...second]).size).to.equal(130);
    });

    for (const name of ["id", "createdAt", "updatedAt", "title", "n", "flag", "day", "state", "mail", "link", "group"]) {
      it(`${name} can be sorted, both ways, and every record comes once`, async () => {
        for (const direction of ["asc", "desc"]) {
          const ids: string[] = [];
          for (let offset = 0; offset < 130; offset += 50) ids.push(...(await demand(200, list({ sort: `${name}:${direction}`, offset, limit: 50 }))).body.items.map((item: Item) => item.id));
          expect(new Set(ids).size, direction).to.equal(130);
        }
      });
    }

    for (const sort of ["", "n", "n:", ":asc", "n:up", "n:ASC", "n:asc:desc", "n:asc,title:desc", "nosuch:asc", "meta:asc", "meta.color:asc", "file:asc", "-n", "__proto__:asc", "constructor:asc", " n:asc", "n:asc "]) {
      it(`${JSON.stringify(sort)} is 400`, async () => {
        expect((await list({ sort })).status).to.equal(400);
      });
    }

    it("two sorts are 400", async () => {
      expect((await on.request("GET", "/api/collections/things?sort=n:asc&sort=title:asc", { tenant: "acme" })).status).to.equal(400);
    });

    it("nulls stand together: first ascending, last descending", async () => {
      const ascending = await titles({ sort: "day:asc", limit: 100, offset: 100 });
      expect(ascending.at(-1)).to.equal("t005");
      expect((await titles({ sort: "day:desc", limit: 1 }))[0]).to.equal("t005");
    });

    it("text is compared by code points, whatever its script", async () => {
      await on.createCollection(tenant, { name: "words", fields: [{ name: "title", type: "TEXT" }], indexes: [{ fields: ["title"], unique: false }], ...rules });
      const words = ["zebra", "Apfel", "äpfel", "apple", "😀", "漢字", "Ω", "", "\uFFFD", "a b", "a"];
      for (const title of words) await on.service.tenant("acme").as("system").collection("words").create({ title });
      const sorted = [...words].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      const get = async (direction: string) => (await list({ sort: `title:${direction}` }, "words")).body.items.map((item: Item) => item["title"]);
      expect(await get("asc")).to.deep.equal(sorted);
      expect(await get("desc")).to.deep.equal([...sorted].reverse());
      for (const title of words) expect((await list({ filter: `title:eq:${title}` }, "words")).body.items.map((item: Item) => item["title"]), title).to.deep.equal([title]);
      const ids: unknown[] = [];
      for (let cursor: string | null = ""; cursor !== null;) {
        const { body }: Answer = await demand(200, list({ sort: "title:asc", limit: 2, ...(cursor === "" ? {} : { cursor }) }, "words"));
        ids.push(...body.items.map((item: Item) => item["title"]));
        cursor = body.nextCursor as string | null;
      }
      expect(ids).to.deep.equal(sorted);
    });
  });

  describe("where", () => {
    const cases: readonly (readonly [string, readonly string[] | number])[] = [
      ['title = "t003"', ["t003"]], ["n < 3 && flag", 2], ['meta.color = "red"', ["t008"]], ['title ~ "T00"', 10], ['title in ["t001", "t002", "nope"]', ["t001", "t002"]], ["day != null", ["t005"]], ["day = null", 129],
      ['day > "2026-01-01T00:00:00Z"', ["t005"]], ["!flag", 65], ["n >= 128", 2], ['!(title ~ "t") || n = 0', ["t000"]], ["id != null", 130], ["@auth.id = null", 130], ["'1' = 1", 0], ["true", 130], ["false", 0],
    ];
    for (const [where, found] of cases) {
      it(`${where} finds ${typeof found === "number" ? found : found.length}`, async () => {
        const answer = await list({ where, count: "true", limit: 100 });
        if (where === "'1' = 1" && answer.status === 400) return;
        expect(answer.status, answer.text).to.equal(200);
        if (typeof found === "number") expect(answer.body.total).to.equal(found);
        else expect(answer.body.items.map((item: Item) => item["title"])).to.deep.equal(found);
      });
    }

    it("goes together with filter, sort and paging", async () => {
      expect(await titles({ where: "n < 20", filter: "flag:eq:true", sort: "n:desc", offset: 1, limit: 2 })).to.have.length(2);
    });

    for (const where of ["nosuch = 1", "title =", "@body.title = 'x'", "@changed.title", "@method = 'GET'", "title = 1", "(", "@auth.password = 'x'", "file = 'x'", `${"(".repeat(5000)}true${")".repeat(5000)}`]) {
      it(`${JSON.stringify(where.slice(0, 30))} is 400`, async () => {
        expect((await list({ where })).status).to.equal(400);
      });
    }

    it("@auth names the caller", async () => {
      const { body } = await demand(200, list({ where: "@auth.id != null", count: "true" }, "things", { token: alice.token }));
      expect(body.total).to.equal(130);
    });
  });

  describe("fields", () => {
    it("gives the named ones, and id always", async () => {
      expect(Object.keys((await list({ fields: "title,n", limit: 1 })).body.items[0])).to.have.members(["id", "title", "n"]);
      expect(Object.keys((await list({ fields: "id", limit: 1 })).body.items[0])).to.deep.equal(["id"]);
      expect(Object.keys((await list({ fields: "createdAt,updatedAt", limit: 1 })).body.items[0])).to.have.members(["id", "createdAt", "updatedAt"]);
    });

    it("an unknown name is 400", async () => {
      for (const fields of ["nosuch", "title,nosuch", "title;n", "__proto__", "passwordHash"]) expect((await list({ fields })).status, fields).to.equal(400);
    });

    it("hides nothing from filter and sort", async () => {
      expect((await list({ fields: "title", filter: "n:eq:7", sort: "flag:asc" })).body.items).to.deep.equal([{ id: all[1]!.id, title: "t001" }]);
    });
  });

  describe("cursor", () => {
    for (const sort of ["", "n:asc", "n:desc", "flag:asc", "flag:desc", "day:asc", "day:desc", "createdAt:desc", "id:desc", "title:desc", "state:asc"]) {
      it(`walks through everything once ${sort === "" ? "in default order" : `by ${sort}`}, as offset does`, async () => {
        const walked: string[] = [];
        let cursor: string | null = null;
        do {
          const { body }: Answer = await demand(200, list({ limit: 30, ...(sort === "" ? {} : { sort }), ...(cursor === null ? {} : { cursor }) }));
          walked.push(...body.items.map((item: Item) => item.id));
          cursor = body.nextCursor as string | null;
          expect(body.hasMore).to.equal(cursor !== null);
        } while (cursor !== null);
        const paged: string[] = [];
        for (let offset = 0; offset < 130; offset += 65) paged.push(...(await list({ offset, limit: 65, ...(sort === "" ? {} : { sort }) })).body.items.map((item: Item) => item.id));
        expect(walked).to.deep.equal(paged);
        expect(new Set(walked).size).to.equal(130);
      });
    }

    it("used with another sort, filter or where, or not a cursor at all: 400", async () => {
      const { nextCursor: cursor } = (await list({ limit: 5, sort: "n:asc" })).body;
      await demand(200, list({ limit: 7, sort: "n:asc", cursor }));
      for (const parameters of [{ sort: "n:desc" }, { sort: "title:asc" }, {}, { sort: "n:asc", filter: "flag:eq:true" }, { sort: "n:asc", where: "flag" }]) {
        expect((await list({ ...parameters, cursor })).status, JSON.stringify(parameters)).to.equal(400);
      }
      for (const bad of ["x", "e30", "null", `${cursor}x`, cursor.slice(0, -2), Buffer.from("{}").toString("base64url"), "__proto__"]) {
        expect((await list({ sort: "n:asc", cursor: bad })).status, bad).to.equal(400);
      }
    });

    it("forged with other values shows what a list may show, or is 400; never 500", async () => {
      for (const sort of ["n:asc", "title:desc", "flag:asc", "id:asc"]) {
        const { nextCursor } = (await list({ limit: 5, sort })).body;
        const [key] = JSON.parse(Buffer.from(nextCursor, "base64url").toString());
        for (const value of [true, "x", 1e308, -0, null, [], {}, "\ud800"]) {
          for (const id of ["", "x", "' or 1=1 --", 5, null]) {
            const cursor = Buffer.from(JSON.stringify([key, value, id])).toString("base64url");
            expect((await list({ sort, cursor })).status, `${sort} ${JSON.stringify([value, id])}`).to.be.oneOf([200, 400]);
          }
        }
      }
    });

    it("of another collection is 400, and under another caller's rule shows no more than that caller may see", async () => {
      const { nextCursor: cursor } = (await list({ limit: 5 })).body;
      await on.createCollection(tenant, { name: "elsewhere", fields: [{ name: "title", type: "TEXT" }], ...rules });
      expect((await list({ cursor }, "elsewhere")).status).to.be.oneOf([200, 400]);
      const { body } = await list({ cursor }, "own", { token: alice.token });
      for (const item of body.items ?? []) expect(item.owner).to.equal(alice.id);
    });
  });

  describe("expand", () => {
    it("shows a related record under expand only where its viewRule lets the caller see it", async () => {
      const { body } = await demand(200, list({ expand: "group", limit: 3 }));
      expect(body.items[0].expand.group).to.include({ label: "open group", id: all[0]!["group"] });
      expect(body.items[1].group).to.equal(all[1]!["group"]);
      expect(body.items[1].expand ?? {}).not.to.have.property("group");
      expect(body.items[2].expand ?? {}).not.to.have.property("group");
      const admin = await on.meta("GET", "/api/collections/things?expand=group&limit=2&tenant=acme");
      expect(admin.body.items[1].expand.group.label).to.equal("closed group");
      expect((await list({ limit: 1 })).body.items[0]).not.to.have.property("expand");
    });

    it("what is no relation is 400", async () => {
      for (const expand of ["title", "nosuch", "group.x", "group,nosuch", "__proto__"]) expect((await list({ expand })).status, expand).to.equal(400);
    });
  });

  it("whoever is denied learns nothing by bad parameters", async () => {
    await on.createCollection(tenant, { name: "closed", fields: [{ name: "secret", type: "TEXT" }] });
    for (const parameters of [{ sort: "secret:asc" }, { sort: "nosuch:asc" }, { where: "secret = 1" }, { limit: "abc" }, { nope: "1" }]) {
      expect((await list(parameters, "closed")).status).to.equal(401);
      expect((await list(parameters, "closed", { token: alice.token })).status).to.equal(403);
    }
  });

  it("unknown query parameters are 400 on list, ignored elsewhere", async () => {
    for (const name of ["page", "search", "Limit", "offset ", "__proto__", "constructor"]) expect((await list({ [name]: "1" })).status, name).to.equal(400);
    expect((await on.request("GET", `/api/collections/things/${all[0]!.id}?page=1`, { tenant: "acme" })).status).to.equal(200);
  });

  it("264 paging without sort while records are inserted neither doubles nor drops those that were there", async () => {
    const system = on.service.tenant("acme").as("system").collection("paged");
    await on.createCollection(tenant, { name: "paged", fields: [{ name: "n", type: "NUMBER" }], ...rules });
    const old: string[] = [];
    for (let n = 0; n < 60; n += 1) old.push((await system.create({ n })).id);
    const seen: string[] = [];
    for (let offset = 0; ; offset += 10) {
      const [page] = await Promise.all([list({ offset, limit: 10 }, "paged"), ...(offset < 60 ? [system.create({ n: -1 }), system.create({ n: -1 })] : [])]);
      seen.push(...page.body.items.map((item: Item) => item.id));
      if (!page.body.hasMore) break;
    }
    expect(new Set(seen).size).to.equal(seen.length);
    expect(seen.slice(0, 60)).to.deep.equal(old);
  });
});
