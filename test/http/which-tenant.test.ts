// Contract 2: how a request names its tenant.
import { expect } from "chai";
import { demand, startService, testPassword, type Answer, type TestService } from "../support/service.js";
import { same } from "./same.js";

/** Who answers: each tenant has one record that says its name. */
async function prepare(on: TestService): Promise<void> {
  for (const slug of ["red", "blue", "green"]) {
    const tenant = await on.createTenant(slug);
    await on.createCollection(tenant, { name: "signs", fields: [{ name: "title", type: "TEXT" }], listRule: "true", viewRule: "true", createRule: "true" });
    await demand(201, on.request("POST", "/api/collections/signs", { tenant: slug, body: { title: slug } }));
    await on.signUp(tenant, `user-of-${slug}`);
  }
}

const title = ({ body }: Answer): unknown => body.items?.[0]?.title ?? body;
const unknown = { error: "Unknown tenant" };

describe("which tenant", () => {
  let on: TestService;
  const list = (query: string, headers: Record<string, string> = {}, token?: string) => on.request("GET", `/api/collections/signs${query}`, { headers, token });

  describe("without options", () => {
    before(async () => {
      on = await startService();
      await prepare(on);
    });
    after(() => on.close());

    it("the header, else the query; the header first", async () => {
      expect(title(await list("", { "x-tenant": "red" }))).to.equal("red");
      expect(title(await list("?tenant=blue"))).to.equal("blue");
      expect(title(await list("?tenant=blue", { "x-tenant": "red" }))).to.equal("red");
    });

    it("none, or an unknown slug: 404 Unknown tenant", async () => {
      for (const [query, headers] of [["", {}], ["?tenant=nosuch", {}], ["", { "x-tenant": "nosuch" }], ["?tenant=RED", {}], ["?tenant=", {}], ["?tenant=..%2fred", {}], ["?tenant=__proto__", {}], ["", { "x-tenant": "red, blue" }]] as const) {
        const answer = await list(query, headers);
        expect([answer.status, answer.body], query).to.deep.equal([404, unknown]);
      }
      for (const [method, path] of [["POST", ""], ["GET", "/x"], ["PATCH", "/x"], ["DELETE", "/x"], ["GET", "/x/files/f"]] as const) {
        const answer = await on.request(method, `/api/collections/signs${path}`, { body: method === "POST" || method === "PATCH" ? {} : undefined });
        expect([answer.status, answer.body], `${method} ${path}`).to.deep.equal([404, unknown]);
      }
    });

    it("twice in the query is 400", async () => {
      expect((await list("?tenant=red&tenant=blue")).status).to.equal(400);
    });

    it("a credential's tenant needs no hint; the same hint is fine, another one or an unknown one is 403", async () => {
      const { body } = await on.login({ id: "", slug: "red" }, "user-of-red");
      expect(title(await list("", {}, body.accessToken))).to.equal("red");
      expect(title(await list("?tenant=red", { "x-tenant": "red" }, body.accessToken))).to.equal("red");
      for (const [query, headers] of [["?tenant=blue", {}], ["", { "x-tenant": "blue" }], ["?tenant=nosuch", {}], ["?tenant=blue", { "x-tenant": "red" }]] as const) {
        const answer = await list(query, headers, body.accessToken);
        expect(answer.status, `${query} ${JSON.stringify(headers)}`).to.equal(403);
      }
    });

    it("the superadmin on the data plane names a tenant too", async () => {
      const token = await on.superadminToken();
      expect(title(await list("", { "x-tenant": "blue" }, token))).to.equal("blue");
      expect(title(await list("?tenant=red", {}, token))).to.equal("red");
      expect([(await list("", {}, token)).status, (await list("", {}, token)).body]).to.deep.equal([404, unknown]);
    });

    it("the tenant member of an auth route's body is the last of the three", async () => {
      const login = (body: object, query = "", headers: Record<string, string> = {}) => on.request("POST", `/api/auth/login${query}`, { body: { username: "user-of-red", password: testPassword, ...body }, headers });
      expect((await login({ tenant: "red" })).status).to.equal(200);
      expect((await login({}, "?tenant=red")).status).to.equal(200);
      expect((await login({}, "", { "x-tenant": "red" })).status).to.equal(200);
      expect((await login({ tenant: "blue" }, "", { "x-tenant": "red" })).status).to.equal(200);
      expect((await login({ tenant: "red" }, "", { "x-tenant": "blue" })).status).to.equal(401);
      for (const tenant of [5, null, ["red"], { slug: "red" }]) expect((await login({ tenant })).status, JSON.stringify(tenant)).to.be.oneOf([400, 401]);
    });

    it("beside a credential it is a hint like the others: another tenant is 403, and nothing is done", async () => {
      const { body } = await on.login({ id: "", slug: "red" }, "user-of-red");
      const post = (path: string, sent: object) => on.request("POST", path, { token: body.accessToken, body: sent });
      for (const tenant of ["blue", "nosuch"]) {
        expect((await post("/api/auth/logout", { tenant })).status).to.equal(403);
        expect((await post("/api/batch", { tenant, requests: [] })).status).to.equal(403);
      }
      await demand(200, post("/api/batch", { tenant: "red", requests: [] }));
      await demand(200, on.request("POST", "/api/batch", { body: { tenant: "red", requests: [] } }));
      await demand(204, post("/api/auth/logout", { tenant: "red" }));
    });

    it("a tenant member in the body of a record is a member of the record", async () => {
      const answer = await on.request("POST", "/api/collections/signs", { tenant: "red", body: { tenant: "blue", title: "x" } });
      expect([answer.status, answer.body[0].field]).to.deep.equal([400, "tenant"]);
    });

    it("on auth routes an unknown tenant is an unknown user", async () => {
      const login = (tenant: unknown) => on.request("POST", "/api/auth/login", { body: { ...(tenant === undefined ? {} : { tenant }), username: "user-of-red", password: testPassword } });
      const wrong = await on.request("POST", "/api/auth/login", { body: { tenant: "red", username: "nobody", password: testPassword } });
      expect([wrong.status, wrong.body]).to.deep.equal([401, { error: "Invalid credentials" }]);
      same(wrong, await login("nosuch"));
      same(wrong, await login(undefined));
      const off = await on.request("POST", "/api/auth/register", { body: { tenant: "red", username: "new", password: testPassword } });
      expect([off.status, off.body]).to.deep.equal([403, { error: "Registration is disabled" }]);
      same(off, await on.request("POST", "/api/auth/register", { body: { tenant: "nosuch", username: "new", password: testPassword } }));
      for (const path of ["password/forgot", "verify/request"]) {
        for (const tenant of ["red", "nosuch"]) {
          const answer = await on.request("POST", `/api/auth/${path}`, { body: { tenant, email: "a@example.org" } });
          expect([answer.status, answer.body]).to.deep.equal([200, {}]);
        }
      }
    });
  });

  describe("with resolveTenant and defaultTenant", () => {
    const asked: unknown[] = [];
    before(async () => {
      on = await startService({
        defaultTenant: "green",
        resolveTenant: (req) => {
          asked.push(req.method);
          const host = req.headers["x-host"];
          return host === undefined ? undefined : String(host).split(".")[0];
        },
      });
      await prepare(on);
    });
    after(() => on.close());

    it("header and query come before resolveTenant, the default last", async () => {
      expect(title(await list("", { "x-host": "blue.example.org" }))).to.equal("blue");
      expect(title(await list(""))).to.equal("green");
      expect(title(await list("", { "x-host": "blue.example.org", "x-tenant": "red" }))).to.equal("red");
      expect(title(await list("?tenant=red", { "x-host": "blue.example.org" }))).to.equal("red");
      expect(asked.length).to.be.above(0);
    });

    it("an unknown slug is 404 and does not fall back", async () => {
      for (const headers of [{ "x-host": "nosuch.example.org" }, { "x-tenant": "nosuch" }] as Record<string, string>[]) {
        const answer = await list("", headers);
        expect([answer.status, answer.body], JSON.stringify(headers)).to.deep.equal([404, unknown]);
      }
    });

    it("what they say is no hint against a credential", async () => {
      const { body } = await demand(200, on.request("POST", "/api/auth/login", { body: { tenant: "red", username: "user-of-red", password: testPassword } }));
      expect(title(await list("", { "x-host": "blue.example.org" }, body.accessToken))).to.equal("red");
    });

    it("they serve auth routes too, after the body's member", async () => {
      const login = (body: object, headers: Record<string, string> = {}) => on.request("POST", "/api/auth/login", { body: { password: testPassword, ...body }, headers });
      expect((await login({ username: "user-of-green" })).status).to.equal(200);
      expect((await login({ username: "user-of-blue" }, { "x-host": "blue.example.org" })).status).to.equal(200);
      expect((await login({ username: "user-of-red", tenant: "red" }, { "x-host": "blue.example.org" })).status).to.equal(200);
    });
  });

  it("a resolveTenant that answers later, or throws, is waited for and is 500 without details", async () => {
    on = await startService({
      resolveTenant: async (req) => {
        await new Promise((resolve) => setImmediate(resolve));
        if (req.headers["x-host"] === "bad") throw new Error("the secret inside");
        return "red";
      },
    });
    try {
      await prepare(on);
      expect(title(await list(""))).to.equal("red");
      const answer = await list("", { "x-host": "bad" });
      expect([answer.status, answer.body]).to.deep.equal([500, { error: "Internal server error" }]);
    } finally {
      await on.close();
    }
  });
});
