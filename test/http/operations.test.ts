// Explain, stats and metrics over HTTP.
import { expect } from "chai";
import { demand, startService, type TestService, type TestTenant, type TestUser } from "../support/service.js";

describe("explain", () => {
  let service: TestService;
  let tenant: TestTenant;
  let ann: TestUser;
  let ben: TestUser;
  let open: string;
  let own: string;

  before(async () => {
    service = await startService();
    tenant = await service.createTenant();
    ann = await service.signUp(tenant, "ann");
    ben = await service.signUp(tenant, "ben");
    await service.createCollection(tenant, {
      name: "tasks",
      fields: [{ name: "title", type: "TEXT", required: true }, { name: "owner", type: "RELATION", collection: "users" }, { name: "done", type: "BOOLEAN", default: false }, { name: "meta", type: "JSON" }, { name: "file", type: "FILE" }],
      listRule: "owner = @auth.id || done", viewRule: "owner = @auth.id || done", createRule: 'owner = @auth.id && title != "no"', updateRule: "owner = @auth.id && !@changed.owner && !@changed.meta && !@changed.file", deleteRule: null,
    });
    const tasks = service.service.tenant(tenant.slug).as("system").collection("tasks");
    open = (await tasks.create({ title: "open", owner: ben.id, done: true })).id;
    own = (await tasks.create({ title: "own", owner: ann.id, meta: { a: 1, b: [2] } })).id;
  });
  after(() => service.close());

  const ask = (question: object) => service.meta("POST", `/api/meta/tenants/${tenant.id}/explain`, { collection: "tasks", body: {}, ...question });

  /** What is explained, and what the request itself then gets. */
  async function same(question: { caller: "guest" | { userId: string }; operation: string; recordId?: string; body?: object }, token: string | undefined): Promise<void> {
    const explained = (await demand(200, ask(question))).body;
    const method = { list: "GET", view: "GET", create: "POST", update: "PATCH", delete: "DELETE" }[question.operation]!;
    const path = `/api/collections/tasks${question.recordId === undefined || question.operation === "list" ? "" : `/${question.recordId}`}`;
    const got = await service.request(method, path, { token, tenant: tenant.slug, ...(method === "GET" || method === "DELETE" ? {} : { body: question.body ?? {} }) });
    expect(explained.status, `${JSON.stringify(question)}: ${explained.reason}`).to.equal(got.status);
    expect(explained.allowed).to.equal(got.status < 300);
  }

  it("says of each operation what the request itself then gets", async () => {
    for (const [caller, token] of [["guest", undefined], [{ userId: ann.id }, ann.token], [{ userId: ben.id }, ben.token]] as const) {
      for (const recordId of [open, own]) {
        await same({ caller, operation: "view", recordId }, token);
        await same({ caller, operation: "delete", recordId }, token);
        await same({ caller, operation: "update", recordId, body: { title: "changed" } }, token);
        await same({ caller, operation: "update", recordId, body: { owner: ben.id } }, token);
        await same({ caller, operation: "update", recordId, body: { meta: { b: [2], a: 1 }, file: null } }, token);
      }
      await same({ caller, operation: "list" }, token);
      await same({ caller, operation: "create", body: { title: "no", owner: ann.id } }, token);
      await same({ caller, operation: "create", body: { title: "yes", owner: ann.id } }, token);
    }
  });

  it("answers as requests are: on a body that is not valid, on accounts, and for credentials that are refused", async () => {
    const handle = service.service.tenant(tenant.slug);
    await handle.collections.create({ name: "forms", fields: [{ name: "title", type: "TEXT", required: true }, { name: "size", type: "NUMBER" }], listRule: "true", viewRule: "size != 7", createRule: "@body.size != 9", updateRule: "@body.size != 9" });
    await handle.collections.update("users", { viewRule: "true", createRule: "true", updateRule: "true" });
    const forms = handle.as("system").collection("forms");
    const [seen, hidden] = [(await forms.create({ title: "x", size: 1 })).id, (await forms.create({ title: "x", size: 7 })).id];
    const request = async (method: string, path: string, token: string, body: object) => (await service.request(method, `/api/collections/${path}`, { token, tenant: tenant.slug, body })).status;
    const explained = async (question: object) => {
      const { status, allowed, reason } = (await demand(200, ask({ caller: { userId: ann.id }, ...question }))).body;
      expect(allowed, reason).to.equal(status < 300);
      return status;
    };
    for (const body of [{ title: "x" }, { title: 5 }, { title: "x", size: 9 }, { title: 5, size: 9 }]) {
      expect(await explained({ collection: "forms", operation: "create", body }), JSON.stringify(body)).to.equal(await request("POST", "forms", ann.token, body));
      for (const recordId of [seen, hidden]) {
        const change = { size: recordId === hidden ? 7 : 1, ...body };
        expect(await explained({ collection: "forms", operation: "update", recordId, body: change }), JSON.stringify(change)).to.equal(await request("PATCH", `forms/${recordId}`, ann.token, change));
      }
    }
    for (const body of [{ username: "cleo" }, { username: "cleo", password: "short" }, { username: "cleo", password: ann.password, role: "admin" }]) {
      expect(await explained({ collection: "users", operation: "create", body }), JSON.stringify(body)).to.equal(await request("POST", "users", ann.token, body));
    }
    for (const [recordId, body] of [[ben.id, { password: ann.password }], [ben.id, { email: "b@example.org" }], [ann.id, { email: "a@example.org" }], [ann.id, { email: "a@example.org", oldPassword: "not this one at all" }]] as const) {
      expect(await explained({ collection: "users", operation: "update", recordId, body }), JSON.stringify(body)).to.equal(await request("PATCH", `users/${recordId}`, ann.token, body));
    }
    const away = await service.signUp(tenant, "away");
    const keys = await Promise.all([1, 2, 3].map((number) => handle.apiKeys.create({ name: `key ${number}`, userId: number === 1 ? away.id : ann.id, expiresAt: number === 2 ? new Date(service.clock.now() + 1000).toISOString() : null })));
    await handle.users.update(away.id, { active: false });
    await handle.apiKeys.revoke(keys[2]!.id);
    service.clock.advance(2000);
    expect(await explained({ caller: { userId: away.id }, operation: "list" })).to.equal(401);
    for (const { id, key } of keys) {
      expect(await explained({ caller: { keyId: id }, operation: "list" })).to.equal(401);
      expect((await service.request("GET", "/api/collections/tasks", { token: key })).status).to.equal(401);
    }
  });

  it("tells which part of the rule decides, with the values it sees, and the query that a list runs", async () => {
    const { body } = await demand(200, ask({ caller: { userId: ann.id }, operation: "view", recordId: own }));
    expect(body).to.deep.include({ operation: "view", allowed: true, status: 200, reason: "The rule holds", hooks: [], hooksBypassed: false, validation: [] });
    expect(body.rule).to.deep.include({ name: "viewRule", source: "owner = @auth.id || done", bypassed: false });
    expect(body.rule.parts.parts.map(({ source, result }: { source: string; result: boolean }) => [source, result])).to.deep.equal([["owner = @auth.id", true], ["done", false]]);
    expect(body.rule.parts.parts[0].operands).to.deep.equal([{ source: "owner", value: ann.id }, { source: "@auth.id", value: ann.id }]);
    expect(body.record).to.deep.include({ id: own, owner: ann.id });
    const list = (await demand(200, ask({ caller: { userId: ann.id }, operation: "list" }))).body;
    expect(JSON.stringify(list.query)).to.contain(ann.id);
    expect(list.rule.parts).to.equal(null);
    const absent = (await demand(200, ask({ caller: "guest", operation: "list", recordId: own }))).body;
    expect(absent).to.include({ allowed: false, status: 200, reason: "The list is answered, and this record is not in it" });
  });

  it("names No access, keys that bypass rules or hooks, and the hooks that would be asked, in their order", async () => {
    const handle = service.service.tenant(tenant.slug);
    await handle.settings.update({ webhookAllowlist: ["127.0.0.1:9"] });
    const hook = (event: string, more: object) => handle.hooks.create({ event, url: "http://127.0.0.1:9/", ...more });
    const second = await hook("beforeDelete", { collection: "tasks", priority: 5 });
    const first = await hook("beforeDelete", { collection: "tasks", priority: -1 });
    const after = await hook("afterDelete", { collection: "tasks" });
    const global = await hook("beforeRequest", { match: { methods: ["DELETE"] } });
    const key = await handle.apiKeys.create({ name: "k", userId: ann.id, bypassRules: true, bypassHooks: true });
    const denied = (await demand(200, ask({ caller: { userId: ann.id }, operation: "delete", recordId: own }))).body;
    expect(denied).to.deep.include({ allowed: false, status: 403, reason: "The rule is No access" });
    expect(denied.hooks.map(({ id }: { id: string }) => id)).to.deep.equal([global.id, first.id, second.id, after.id]);
    const allowed = (await demand(200, ask({ caller: { keyId: key.id }, operation: "delete", recordId: own }))).body;
    expect(allowed).to.deep.include({ allowed: true, status: 204, reason: "Rules do not apply to this caller", hooksBypassed: true });
    expect(allowed.rule.bypassed).to.equal(true);
    for (const { id } of await handle.hooks.list()) await handle.hooks.delete(id);
  });

  it("tells what validation would say, and writes nothing", async () => {
    const before = (await service.service.tenant(tenant.slug).as("system").collection("tasks").list({ count: true })).total;
    const { body } = await demand(200, ask({ caller: { userId: ann.id }, operation: "create", body: { owner: ann.id, done: "yes", colour: 1 } }));
    expect(body).to.include({ allowed: false, status: 400, reason: "The body is not valid" });
    expect(body.validation).to.deep.equal([
      { field: "title", message: "is required" }, { field: "done", message: "must be true or false" }, { field: "colour", message: "is no field of the collection" },
    ]);
    expect((await service.service.tenant(tenant.slug).as("system").collection("tasks").list({ count: true })).total).to.equal(before);
  });

  it("refuses questions that cannot be read: 400; unknown things: 404; anybody but the superadmin: 401, 403", async () => {
    for (const question of [{}, { caller: "root", operation: "list" }, { caller: "guest", operation: "drop" }, { caller: "guest", operation: "view" }, { caller: { userId: 5 }, operation: "list" }, { caller: "guest", operation: "create", recordId: own }, { caller: "guest", operation: "list", body: [] }]) {
      expect((await ask(question)).status, JSON.stringify(question)).to.equal(400);
    }
    expect((await ask({ caller: "guest", operation: "list", collection: "nope" })).status).to.equal(404);
    expect((await ask({ caller: "guest", operation: "view", recordId: "nope" })).status).to.equal(404);
    expect((await ask({ caller: { userId: "nope" }, operation: "list" })).status).to.equal(404);
    expect((await ask({ caller: { keyId: "nope" }, operation: "list" })).status).to.equal(404);
    expect((await service.request("POST", `/api/meta/tenants/${tenant.id}/explain`, { body: {} })).status).to.equal(401);
    expect((await service.request("POST", `/api/meta/tenants/${tenant.id}/explain`, { body: {}, token: ann.token })).status).to.equal(403);
  });
});

describe("stats", () => {
  let service: TestService;
  before(async () => {
    service = await startService();
  });
  after(() => service.close());

  it("counts tenants, collections, records, accounts, requests and slots; to the superadmin alone", async () => {
    const tenant = await service.createTenant();
    await service.createCollection(tenant, { name: "notes", fields: [], createRule: "true" });
    const user = await service.signUp(tenant, "ann");
    await demand(201, service.request("POST", "/api/collections/notes", { token: user.token, body: {} }));
    await demand(404, service.request("GET", "/api/collections/nope", { token: user.token }));
    const { body } = await demand(200, service.meta("GET", "/api/meta/stats"));
    expect(body.stored).to.deep.include({ tenants: 1, collections: 2, records: 1, users: 1 });
    expect(body.stored.databaseBytes).to.be.greaterThan(10_000);
    expect(body.requests).to.include({ inFlight: 1, failed: 0 });
    expect(body.requests.total).to.equal(body.requests.succeeded + body.requests.refused);
    expect(body.requests.refused).to.equal(1);
    expect(body.hashing).to.include({ busy: 0, waiting: 0 });
    expect(body.streams).to.include({ streams: 0 });
    expect(body.hooks).to.deep.include({ calls: 0 });
    expect(body.process.memoryBytes).to.be.greaterThan(1_000_000);
    expect((await service.service.stats()).stored.tenants).to.equal(1);
    expect((await service.request("GET", "/api/meta/stats")).status).to.equal(401);
    expect((await service.request("GET", "/api/meta/stats", { token: user.token })).status).to.equal(403);
  });

  it("counts hook calls with their outcome", async () => {
    const tenant = await service.createTenant();
    await service.createCollection(tenant, { name: "notes", fields: [] });
    const stop = service.service.on("beforeCreate", { tenant: tenant.slug }, () => ({ continue: false }));
    await service.service.tenant(tenant.slug).as("system").collection("notes").create({}).catch(() => undefined);
    stop();
    expect((await service.service.stats()).hooks).to.deep.include({ calls: 1, rejected: 1, failed: 0 });
  });
});

describe("metrics", () => {
  it("are off unless asked for: 404", async () => {
    const service = await startService();
    expect((await service.request("GET", "/metrics", { token: await service.superadminToken() })).status).to.equal(404);
    await service.close();
  });

  it("with true, for the superadmin alone, in the exposition format", async () => {
    const service = await startService({ metrics: true });
    const tenant = await service.createTenant();
    const user = await service.signUp(tenant, "ann");
    await demand(404, service.request("GET", "/api/collections/nope", { token: user.token }));
    await demand(401, service.request("GET", "/metrics"));
    await demand(403, service.request("GET", "/metrics", { token: user.token }));
    const { text, headers } = await demand(200, service.meta("GET", "/metrics"));
    expect(headers["content-type"]).to.equal("text/plain; version=0.0.4; charset=utf-8");
    expect(text).to.match(/^records_http_request_duration_seconds_count\{group="records",method="GET",status="404"\} 1$/m);
    expect(text).to.match(/^records_tenants 1$/m).and.to.match(/^records_users 1$/m).and.to.match(/^records_realtime_streams 0$/m);
    expect(text).not.to.contain("nope");
    for (const line of text.trim().split("\n")) expect(line).to.match(/^(?:# (?:HELP|TYPE) \w+ .+|\w+(?:\{[^}]*\})? [0-9.e+-]+|)$/);
    await service.close();
  });

  it("with a token, for whoever sends it and for the superadmin; two services do not share a registry", async () => {
    const token = "a-token-of-the-scraper";
    const [one, two] = await Promise.all([startService({ metrics: { token } }), startService({ metrics: { token } })]);
    await one.createTenant();
    const read = async (service: TestService, presented: string) => await service.request("GET", "/metrics", { token: presented });
    expect((await read(one, token)).text).to.match(/^records_tenants 1$/m);
    expect((await read(two, token)).text).to.match(/^records_tenants 0$/m);
    expect((await read(one, `${token}x`)).status).to.equal(401);
    expect((await read(one, await one.superadminToken())).status).to.equal(200);
    await Promise.all([one.close(), two.close()]);
  });
});
