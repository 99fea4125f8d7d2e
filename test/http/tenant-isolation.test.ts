// security.md 3.1: nothing of one tenant shows in another.
import { expect } from "chai";
import { demand, startService, testPassword, type TestService, type TestTenant, type TestUser } from "../support/service.js";
import { same } from "./same.js";

describe("tenant isolation", () => {
  let on: TestService;
  let a: TestTenant;
  let b: TestTenant;
  let alice: TestUser;
  let bea: TestUser;
  let key: string;
  let bypassing: string;
  const open = { listRule: "true", viewRule: "true", createRule: "true", updateRule: "true", deleteRule: "true" };
  const ids: Record<string, string> = {};

  before(async () => {
    on = await startService();
    a = await on.createTenant("a");
    b = await on.createTenant("b");
    alice = await on.signUp(a, "alice");
    bea = await on.signUp(b, "bea");
    await demand(201, on.meta("POST", `/api/meta/tenants/${b.id}/users`, { username: "alice", password: "the password of b's alice" }));
    for (const tenant of [a, b]) {
      await on.createCollection(tenant, { name: "docs", fields: [{ name: "title", type: "TEXT", unique: true }, { name: "other", type: "RELATION", collection: "docs" }], ...open });
      ids[tenant.slug] = (await demand(201, on.request("POST", "/api/collections/docs", { tenant: tenant.slug, body: { title: `of ${tenant.slug}` } }))).body.id;
    }
    await on.createCollection(b, { name: "onlyB", fields: [], ...open });
    const make = async (more: object): Promise<string> => (await demand(201, on.meta("POST", `/api/meta/tenants/${a.id}/api-keys`, { name: "k", userId: alice.id, ...more }))).body.key;
    key = await make({});
    bypassing = await make({ bypassRules: true, bypassHooks: true });
  });
  after(() => on.close());

  it("001 a collection of another tenant looks like none", async () => {
    for (const token of [alice.token, key, bypassing]) {
      for (const [method, more] of [["GET", ""], ["POST", ""], ["GET", `/${ids["b"]}`], ["PATCH", `/${ids["b"]}`], ["DELETE", `/${ids["b"]}`]] as const) {
        const body = method === "POST" || method === "PATCH" ? {} : undefined;
        const theirs = await on.request(method, `/api/collections/onlyB${more}`, { token, body });
        expect(theirs.status).to.equal(404);
        same(theirs, await on.request(method, `/api/collections/nosuch${more}`, { token, body }));
      }
    }
  });

  it("a record of another tenant does not exist in a collection of the same name", async () => {
    for (const token of [alice.token, key, bypassing]) {
      for (const method of ["GET", "PATCH", "DELETE"]) {
        const body = method === "PATCH" ? { title: "taken over" } : undefined;
        expect((await on.request(method, `/api/collections/docs/${ids["b"]}`, { token, body })).status).to.equal(404);
      }
      expect((await on.request("POST", "/api/collections/docs", { token, body: { other: ids["b"] } })).body[0].field).to.equal("other");
      expect((await on.request("POST", "/api/batch", { token, body: { requests: [{ method: "DELETE", collection: "docs", id: ids["b"] }] } })).status).to.equal(404);
    }
    expect((await on.request("GET", `/api/collections/docs/${ids["b"]}`, { tenant: "b" })).body.title).to.equal("of b");
  });

  it("003 a filter on a value that only another tenant has finds nothing", async () => {
    for (const query of ["filter=title:eq:of%20b", `filter=id:eq:${ids["b"]}`, "where=title%20~%20%22of%20b%22"]) {
      expect((await demand(200, on.request("GET", `/api/collections/docs?${query}&count=true`, { token: alice.token }))).body).to.deep.include({ items: [], total: 0 });
    }
  });

  it("a unique value is unique within its tenant", async () => {
    await demand(201, on.request("POST", "/api/collections/docs", { tenant: "a", body: { title: "shared" } }));
    await demand(201, on.request("POST", "/api/collections/docs", { tenant: "b", body: { title: "shared" } }));
    expect((await on.request("POST", "/api/collections/docs", { tenant: "b", body: { title: "shared" } })).status).to.equal(400);
  });

  it("a credential with the hint of another tenant is 403, in header and query, on every route", async () => {
    for (const token of [alice.token, key, bypassing]) {
      for (const path of ["/api/collections/docs", `/api/collections/docs/${ids["b"]}`, "/api/collections/onlyB", "/api/auth/me"]) {
        expect((await on.request("GET", path, { token, tenant: "b" })).status, path).to.equal(403);
        expect((await on.request("GET", `${path}?tenant=b`, { token })).status, path).to.equal(403);
        expect((await on.request("GET", path, { token, tenant: "a" })).status, path).not.to.equal(403);
      }
      expect((await on.request("POST", "/api/collections/docs", { token, tenant: "b", body: { title: "intruder" } })).status).to.equal(403);
    }
    expect((await on.request("GET", "/api/collections/docs?filter=title:eq:intruder", { tenant: "b" })).body.items).to.deep.equal([]);
  });

  it("007 the password of a namesake in another tenant is a wrong password", async () => {
    const login = (tenant: string, password: string) => on.request("POST", "/api/auth/login", { body: { tenant, username: "alice", password } });
    await demand(200, login("b", "the password of b's alice"));
    const wrong = await login("a", "a wrong password of nobody");
    expect(wrong.status).to.equal(401);
    same(wrong, await login("a", "the password of b's alice"));
    same(wrong, await login("b", testPassword));
  });

  it("010 hooks of one tenant hear nothing of another", async () => {
    const told: string[] = [];
    const ends = [
      on.service.on("beforeCreate", { tenant: "a", collection: "docs" }, (envelope) => void told.push(`before ${String((envelope.data.body as { title: string }).title)}`)),
      on.service.on("afterCreate", { tenant: "a", collection: "docs" }, (envelope) => void told.push(`after ${String(envelope.data.record!["title"])}`)),
    ];
    await demand(201, on.request("POST", "/api/collections/docs", { tenant: "b", body: { title: "b1" } }));
    await demand(201, on.request("POST", "/api/collections/docs", { tenant: "a", body: { title: "a1" } }));
    while (told.length < 2) await new Promise((resolve) => setImmediate(resolve));
    ends.forEach((end) => end());
    expect(told).to.deep.equal(["before a1", "after a1"]);
  });

  it("013 one username may stand in two tenants", async () => {
    for (const tenant of [a, b]) {
      await demand(200, on.meta("PATCH", `/api/meta/tenants/${tenant.id}/settings`, { selfRegistration: true }));
      await demand(201, on.request("POST", "/api/auth/register", { body: { tenant: tenant.slug, username: "carol", password: testPassword } }));
    }
  });

  it("refresh tokens and file tokens are of their tenant", async () => {
    const { body } = await demand(200, on.request("POST", "/api/auth/refresh", { body: { refreshToken: bea.refreshToken }, tenant: "a" }).then(async (answer) => (answer.status === 200 ? answer : on.request("POST", "/api/auth/refresh", { body: { refreshToken: bea.refreshToken } }))));
    expect((await on.request("GET", "/api/auth/me", { token: body.accessToken })).body.id).to.equal(bea.id);
  });

  it("things of one tenant are not found through the meta API of another", async () => {
    const { body: entry } = await demand(201, on.meta("POST", `/api/meta/tenants/${b.id}/api-keys`, { name: "b's", userId: bea.id }));
    expect((await on.meta("DELETE", `/api/meta/tenants/${a.id}/api-keys/${entry.id}`)).status).to.equal(404);
    expect((await on.meta("PATCH", `/api/meta/tenants/${a.id}/api-keys/${entry.id}`, { allowedCidrs: [] })).status).to.equal(404);
    expect((await on.meta("POST", `/api/meta/tenants/${a.id}/api-keys`, { name: "x", userId: bea.id })).status).to.equal(400);
    expect((await on.meta("GET", `/api/meta/tenants/${a.id}/collections/onlyB`)).status).to.equal(404);
    expect((await on.meta("PATCH", `/api/meta/tenants/${a.id}/users/${bea.id}`, { active: false })).status).to.equal(404);
    await demand(200, on.request("GET", "/api/auth/me", { token: entry.key }));
  });
});
