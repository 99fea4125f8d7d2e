// Contract 1: what is the same on every route.
import { request as httpRequest } from "node:http";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { startService, type TestService, type TestTenant } from "../support/service.js";

const json = { "content-type": "application/json" };

describe("conventions of every route", () => {
  let on: TestService;
  let tenant: TestTenant;
  const at = "/api/collections/open";
  const count = async (): Promise<number> => (await on.request("GET", `${at}?count=true`, { tenant: tenant.slug })).body.total;

  before(async () => {
    on = await startService();
    tenant = await on.createTenant();
    const rules = { listRule: "true", viewRule: "true", createRule: "true", updateRule: "true", deleteRule: "true" };
    await on.createCollection(tenant, { name: "open", fields: [{ name: "title", type: "TEXT" }, { name: "n", type: "NUMBER" }, { name: "meta", type: "JSON" }], ...rules });
  });
  after(() => on.close());

  it("an id is a UUID version 7, and ids are monotonic", async () => {
    const ids: string[] = [];
    for (let index = 0; index < 20; index += 1) ids.push((await on.request("POST", at, { tenant: tenant.slug, body: { n: index } })).body.id);
    for (const id of ids) expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect([...ids].sort()).to.deep.equal(ids);
  });

  it("timestamps are ISO 8601 UTC with milliseconds", async () => {
    const { body } = await on.request("POST", at, { tenant: tenant.slug, body: {} });
    for (const name of ["createdAt", "updatedAt"]) expect(body[name]).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it("every response carries X-Request-Id: the incoming one where it is well formed, else a new UUID", async () => {
    const given = await on.request("GET", "/health", { headers: { "x-request-id": "abc.DEF_1-2" } });
    expect(given.headers["x-request-id"]).to.equal("abc.DEF_1-2");
    for (const bad of ["a b", "x".repeat(129), "é".normalize("NFD").slice(0, 1) + "/"]) {
      const { headers } = await on.request("GET", "/api/nope", { headers: { "x-request-id": bad } });
      expect(headers["x-request-id"]).to.match(/^[0-9a-f-]{36}$/);
    }
  });

  it("246 security headers stand on answers, errors and 404", async () => {
    for (const path of [at, "/api/nope", "/health", `${at}?sort=nope`]) {
      const { headers } = await on.request("GET", path, { tenant: tenant.slug });
      expect(headers["x-content-type-options"]).to.equal("nosniff");
      expect(headers["content-security-policy"]).to.contain("frame-ancestors 'none'");
    }
  });

  describe("166 bodies that are none", () => {
    const bad: readonly (readonly [string, number, string | Buffer, Record<string, string>])[] = [
      ["malformed JSON", 400, "{", json],
      ["a text", 400, '"str"', json],
      ["null", 400, "null", json],
      ["an array", 400, "[]", json],
      ["nothing", 400, "", json],
      ["depth 200", 400, `{"meta":${"[".repeat(200)}${"]".repeat(200)}}`, json],
      ["depth 20000", 400, `{"meta":${"[".repeat(20_000)}${"]".repeat(20_000)}}`, json],
      ["a number beyond every double", 400, '{"n":1e400}', json],
      ["a lone surrogate", 400, '{"title":"\\ud800"}', json],
      ["NUL in a text", 400, '{"title":"\\u0000"}', json],
      ["NUL in a key", 400, '{"meta":{"\\u0000":1}}', json],
      ["__proto__", 400, '{"__proto__":{"admin":true}}', json],
      ["constructor inside JSON", 400, '{"meta":{"constructor":{"prototype":{}}}}', json],
      ["bytes that are no UTF-8", 400, Buffer.from([0x7b, 0xff, 0x7d]), json],
      ["another charset", 415, "{}", { "content-type": "application/json; charset=latin1" }],
      ["another type", 415, "title=x", { "content-type": "application/x-www-form-urlencoded" }],
      ["no type", 415, "{}", {}],
      ["an unknown encoding", 415, "{}", { ...json, "content-encoding": "zstd" }],
      ["gzip that is none", 400, "{}", { ...json, "content-encoding": "gzip" }],
    ];
    for (const [name, status, body, headers] of bad) {
      it(`${name}: ${status}, nothing stored, and the next request works`, async () => {
        const before = await count();
        const answer = await on.request("POST", at, { tenant: tenant.slug, body, headers });
        expect(answer.status, answer.text).to.equal(status);
        expect(await count()).to.equal(before);
        expect((await on.request("GET", "/health")).status).to.equal(200);
        expect(({} as Record<string, unknown>)["admin"]).to.equal(undefined);
      });
    }
  });

  it("any JSON value up to 64 KiB: constructor and prototype are keys like any other; as members they are no fields", async () => {
    const meta = { constructor: "Ferrari", drivers: [{ prototype: 1, constructor: { name: "x" } }], toString: null };
    const answer = await on.request("POST", at, { tenant: tenant.slug, body: { meta } });
    expect(answer.status, answer.text).to.equal(201);
    expect((await on.request("GET", `${at}/${answer.body.id}`, { tenant: tenant.slug })).body.meta).to.deep.equal(meta);
    const unknown = await on.request("POST", at, { tenant: tenant.slug, body: { constructor: 1, prototype: 2 } });
    expect([unknown.status, unknown.body.map((one: { field: string }) => one.field)]).to.deep.equal([400, ["constructor", "prototype"]]);
  });

  it("a text of nearly 4 MiB is taken where its field allows it", async () => {
    await on.createCollection(tenant, { name: "long", fields: [{ name: "title", type: "TEXT", maxLength: 5_000_000 }], createRule: "true", viewRule: "true" });
    const frame = '{"title":""}'.length;
    const title = "x".repeat(4 * 1024 * 1024 - frame);
    const made = await on.request("POST", "/api/collections/long", { tenant: tenant.slug, body: { title } });
    expect(made.status).to.equal(201);
    expect((await on.request("GET", `/api/collections/long/${made.body.id}`, { tenant: tenant.slug })).body.title).to.equal(title);
    expect((await on.request("POST", "/api/collections/long", { tenant: tenant.slug, body: { title: `${title}x` } })).status).to.equal(413);
  });

  it("a body in gzip is understood", async () => {
    const answer = await on.request("POST", at, { tenant: tenant.slug, body: gzipSync('{"title":"packed"}'), headers: { ...json, "content-encoding": "gzip" } });
    expect(answer.body.title).to.equal("packed");
  });

  for (const [form, headers, body] of [
    ["with a length", {}, Buffer.alloc(4 * 1024 * 1024 + 1, 0x20)],
    ["chunked", { "transfer-encoding": "chunked" }, Buffer.alloc(5 * 1024 * 1024, 0x20)],
    ["gzip that inflates", { "content-encoding": "gzip" }, gzipSync(Buffer.alloc(30 * 1024 * 1024, 0x20))],
  ] as const) {
    it(`168 a body over 4 MiB ${form}: 413, and the connection survives`, async () => {
      const before = await count();
      const url = new URL(on.url);
      const { Agent } = await import("node:http");
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const send = (method: string, path: string, more: Record<string, string>, payload?: Buffer) => new Promise<{ status: number; reused: boolean }>((resolve, reject) => {
        const req = httpRequest({ host: url.hostname, port: url.port, path: `${url.pathname === "/" ? "" : url.pathname}${path}`, method, agent, headers: { "x-tenant": tenant.slug, ...more } }, (res) => {
          res.resume();
          res.on("end", () => resolve({ status: res.statusCode!, reused: req.reusedSocket }));
        });
        req.on("error", reject);
        req.end(payload);
      });
      const length: Record<string, string> = "transfer-encoding" in headers ? {} : { "content-length": String(body.length) };
      expect((await send("POST", at, { ...json, ...headers, ...length }, body)).status).to.equal(413);
      expect(await send("GET", "/health", {})).to.deep.equal({ status: 200, reused: true });
      agent.destroy();
      expect(await count()).to.equal(before);
    });
  }

  it("a known path with a wrong method is 405 with Allow; HEAD obeys as GET", async () => {
    const put = await on.request("PUT", at, { tenant: tenant.slug });
    expect([put.status, put.headers.allow]).to.deep.equal([405, "GET, HEAD, POST"]);
    expect((await on.request("GET", "/api/auth/login")).headers.allow).to.equal("POST");
    const head = await on.request("HEAD", at, { tenant: tenant.slug });
    expect([head.status, head.text]).to.deep.equal([200, ""]);
  });

  it("an unknown path under the own prefixes is 404 as JSON, any other falls through to the host", async () => {
    for (const path of ["/api/nope", "/health/nope", "/admin-ui-no"]) {
      const answer = await on.request("GET", path);
      expect(answer.status).to.equal(404);
      expect(answer.headers["content-type"]!.startsWith("application/json"), path).to.equal(path !== "/admin-ui-no");
    }
  });

  it("a path that cannot be decoded is 400", async () => {
    expect((await on.request("GET", "/api/collections/%E0%A4%A", { tenant: tenant.slug })).status).to.equal(400);
  });

  it("a repeated query parameter is 400, and names without meaning have none", async () => {
    expect((await on.request("GET", `${at}?limit=1&limit=2`, { tenant: tenant.slug })).status).to.equal(400);
    for (const query of ["__proto__=x", "?limit=5", "constructor=1", "limit[]=5", "filter[title]=x"]) {
      expect((await on.request("GET", `${at}?${query}`, { tenant: tenant.slug })).status, query).to.equal(400);
    }
    expect((await on.request("GET", `/health?x=1`)).status).to.equal(200);
    for (const path of ["/health", "/api/meta/tenants", `/api/meta/tenants/${tenant.id}/settings`]) expect((await on.meta("GET", `${path}?x=1&x=2`)).status, path).to.equal(400);
    for (const path of ["/api/auth/login", "/api/batch"]) expect((await on.request("POST", `${path}?x=1&x=2`, { tenant: tenant.slug, body: { requests: [] } })).status, path).to.equal(400);
  });

  it("a 401 carries WWW-Authenticate, and an invalid credential never becomes a guest", async () => {
    for (const authorization of ["Bearer", "Bearer ", "Bearer x", "Basic eDp5", "x.y.z", "Bearer a.b.c", `Bearer pk_${"a".repeat(43)}`, `Bearer ${"x".repeat(6000)}`]) {
      const answer = await on.request("GET", at, { tenant: tenant.slug, headers: { authorization } });
      expect([answer.status, answer.text, answer.headers["www-authenticate"]], authorization.slice(0, 40)).to.deep.equal([401, '{"error":"Unauthorized"}', "Bearer"]);
    }
  });

  it("028 a token in query, cookie or body is no credential", async () => {
    const user = await on.signUp(tenant, "anna");
    await on.createCollection(tenant, { name: "signed", fields: [], listRule: "@auth.id != null" });
    expect((await on.request("GET", `/api/collections/signed?tenant=${tenant.slug}`, { headers: { cookie: `token=${user.token}` } })).status).to.equal(401);
    expect((await on.request("GET", `/api/collections/signed?access_token=${user.token}`, { tenant: tenant.slug })).status).to.be.oneOf([400, 401]);
  });

  it("244 health tells db and status, to everybody, and looks at no credential", async () => {
    const answer = await on.request("GET", "/health", { token: "nonsense" });
    expect([answer.status, answer.body]).to.deep.equal([200, { db: true, status: "ok" }]);
  });
});
