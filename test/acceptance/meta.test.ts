// Acceptance: the meta API, every row of its table: statuses, shapes, unknown members, wrong types.
import { expect } from "chai";
import { demand, type Answer } from "../support/service.js";
import { eventually, password, type Account, type Backend, type Receiver, type Tenant } from "./backend.js";
import { openScene, type Scene } from "./scene.js";

const nobody = "0198c0de-0000-7000-8000-000000000000";
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const ruleNames = ["listRule", "viewRule", "createRule", "updateRule", "deleteRule"];

describe("acceptance: meta API", () => {
  let scene: Scene;
  let backend: Backend;
  let receiver: Receiver;
  let tenant: Tenant;
  let ann: Account;
  before(async () => {
    ({ backend, receiver, tenant, ann } = scene = await openScene());
  });
  after(() => scene.end());
  const refused = (answer: Answer, name: string) => {
    expect(answer.status, `${name}: ${answer.text}`).to.equal(400);
    if (Array.isArray(answer.body)) for (const entry of answer.body) expect(entry, name).to.have.all.keys("field", "message");
    else expect(answer.body, name).to.have.all.keys("error");
  };
  const raw = (method: string, path: string, body: string, type = "application/json") => backend.call(method, path, { token: backend.adminToken, body, headers: { "content-type": type } });

  describe("tenants", () => {
    it("POST 201, GET, list of items", async () => {
      const made = await demand(201, backend.meta("POST", "/api/meta/tenants", { slug: "first-1", name: "First" }));
      expect(made.body).to.have.all.keys("id", "slug", "name", "createdAt", "updatedAt");
      expect(made.body).to.include({ slug: "first-1", name: "First" });
      expect(made.body.id).to.match(uuid7);
      expect(made.body.createdAt).to.match(timestamp);
      expect((await demand(200, backend.meta("GET", `/api/meta/tenants/${made.body.id}`))).body).to.deep.equal(made.body);
      const list = await demand(200, backend.meta("GET", "/api/meta/tenants"));
      expect(list.body).to.have.all.keys("items");
      expect(list.body.items).to.deep.include(made.body);
      expect((await demand(201, backend.meta("POST", "/api/meta/tenants", { slug: "x" }))).body.name, "name is optional").to.be.a("string");
    });

    it("400 for slugs that do not match, a taken one, wrong types, unknown members", async () => {
      for (const body of [{}, { slug: "" }, { slug: "-a" }, { slug: "a-" }, { slug: "A" }, { slug: "a_b" }, { slug: "ä" }, { slug: "a".repeat(64) }, { slug: "a\n" }, { slug: 7 }, { slug: null }, { slug: "ok", name: 7 }, { slug: "ok", nonsense: 1 }, { slug: "ok", id: nobody }, []]) {
        refused(await backend.meta("POST", "/api/meta/tenants", body), JSON.stringify(body));
      }
      const taken = await backend.meta("POST", "/api/meta/tenants", { slug: "acme" });
      expect([taken.status, taken.body.map((entry: { field: string }) => entry.field)]).to.deep.equal([400, ["slug"]]);
      await demand(201, backend.meta("POST", "/api/meta/tenants", { slug: "a".repeat(63) }));
    });

    it("PATCH changes name and slug; DELETE 204 removes all; unknown 404", async () => {
      const { id } = (await demand(201, backend.meta("POST", "/api/meta/tenants", { slug: "passing" }))).body;
      const changed = await demand(200, backend.meta("PATCH", `/api/meta/tenants/${id}`, { slug: "passing-by", name: "By" }));
      expect(changed.body).to.include({ id, slug: "passing-by", name: "By" });
      refused(await backend.meta("PATCH", `/api/meta/tenants/${id}`, { slug: "acme" }), "taken");
      refused(await backend.meta("PATCH", `/api/meta/tenants/${id}`, { nonsense: 1 }), "unknown member");
      const gone = await backend.meta("DELETE", `/api/meta/tenants/${id}`);
      expect([gone.status, gone.text]).to.deep.equal([204, ""]);
      for (const method of ["GET", "PATCH", "DELETE"]) expect((await backend.meta(method, `/api/meta/tenants/${id}`, method === "PATCH" ? {} : undefined)).status).to.equal(404);
      await demand(201, backend.meta("POST", "/api/meta/tenants", { slug: "passing-by" }));
    });

    it("below an unknown tenant everything is 404", async () => {
      for (const path of ["", "/settings", "/collections", "/collections/users", "/api-keys", "/hooks", "/hook-log", "/request-log", "/backup"]) {
        for (const id of [nobody, "acme", "x"]) expect((await backend.meta("GET", `/api/meta/tenants/${id}${path}`)).status, `${id}${path}`).to.equal(404);
      }
      expect((await backend.meta("POST", `/api/meta/tenants/${nobody}/users`, { username: "x", password })).status).to.equal(404);
    });
  });

  describe("settings", () => {
    it("all off at first; PATCH merges nested objects, replaces lists, answers the whole", async () => {
      const fresh = await backend.tenant("fresh");
      const first = await demand(200, fresh.meta("GET", "/settings"));
      expect(first.body).to.have.all.keys("selfRegistration", "passwordReset", "emailVerification", "tokenIssuers", "webhookAllowlist", "guardFileRoutes");
      expect(first.body).to.deep.include({ selfRegistration: false, tokenIssuers: [], webhookAllowlist: [], guardFileRoutes: false });
      expect(first.body.passwordReset).to.have.all.keys("enabled", "linkUrl").and.include({ enabled: false });
      expect(first.body.emailVerification).to.have.all.keys("enabled", "linkUrl", "requireForLogin").and.include({ enabled: false, requireForLogin: false });
      await fresh.settings({ passwordReset: { linkUrl: "https://example.org/r" }, webhookAllowlist: ["a.example.org:1", "[::1]:8080"] });
      const next = await fresh.settings({ passwordReset: { enabled: true }, webhookAllowlist: ["b.example.org:2"] });
      expect(next.body.passwordReset).to.deep.equal({ enabled: true, linkUrl: "https://example.org/r" });
      expect(next.body.webhookAllowlist).to.deep.equal(["b.example.org:2"]);
      expect((await demand(200, fresh.meta("GET", "/settings"))).body).to.deep.equal(next.body);
    });

    it("changes of different members at the same time are all kept", async () => {
      const busy = await backend.tenant("busy");
      const changes = [{ selfRegistration: true }, { guardFileRoutes: true }, { passwordReset: { enabled: true } }, { passwordReset: { linkUrl: "https://a.example.org" } }, { emailVerification: { enabled: true } }, { emailVerification: { requireForLogin: true } }, { tokenIssuers: ["a"] }, { webhookAllowlist: ["a.example.org:1"] }];
      await Promise.all(changes.map((change) => busy.settings(change)));
      expect((await busy.meta("GET", "/settings")).body).to.deep.equal({
        selfRegistration: true, guardFileRoutes: true, passwordReset: { enabled: true, linkUrl: "https://a.example.org" }, emailVerification: { enabled: true, linkUrl: "", requireForLogin: true }, tokenIssuers: ["a"], webhookAllowlist: ["a.example.org:1"],
      });
    });

    it("400 and nothing written for wrong types, unknown members and bad entries", async () => {
      const before = (await tenant.meta("GET", "/settings")).body;
      for (const body of [{ nonsense: 1 }, { selfRegistration: "yes" }, { passwordReset: true }, { passwordReset: { enabled: 1 } }, { passwordReset: { nonsense: 1 } }, { passwordReset: { linkUrl: "javascript:alert(1)" } }, { emailVerification: { linkUrl: 7 } },
        { tokenIssuers: "x" }, { tokenIssuers: [7] }, { webhookAllowlist: ["example.org"] }, { webhookAllowlist: ["example.org:0"] }, { webhookAllowlist: ["example.org:70000"] }, { webhookAllowlist: ["http://example.org:80"] }, { webhookAllowlist: ["*:80"] }, { guardFileRoutes: null }, []]) {
        refused(await tenant.meta("PATCH", "/settings", body), JSON.stringify(body));
      }
      expect((await tenant.meta("GET", "/settings")).body).to.deep.equal(before);
    });
  });

  describe("collections", () => {
    it("POST 201 with the whole definition, all rules at No access, realtime on; GET; list", async () => {
      const made = await demand(201, tenant.meta("POST", "/collections", { name: "tasks", fields: [{ name: "title", type: "TEXT" }, { name: "state", type: "SELECT", values: ["a", "b"] }], indexes: [{ fields: ["state", "title"], unique: false }] }));
      expect(made.body).to.have.all.keys("id", "name", "system", "fields", "indexes", ...ruleNames, "realtime", "createdAt", "updatedAt");
      expect(made.body).to.include({ name: "tasks", system: false, realtime: true });
      for (const rule of ruleNames) expect(made.body[rule]).to.equal(null);
      expect(made.body.fields[0]).to.include({ name: "title", type: "TEXT", required: false, unique: false, maxLength: 5000 });
      expect(made.body.indexes).to.deep.equal([{ fields: ["state", "title"], unique: false }]);
      expect((await demand(200, tenant.meta("GET", "/collections/tasks"))).body).to.deep.equal(made.body);
      const list = (await demand(200, tenant.meta("GET", "/collections"))).body;
      expect(list).to.have.all.keys("items");
      expect(list.items.map((item: { name: string }) => item.name)).to.include.members(["users", "tasks"]);
    });

    it("PATCH changes a part in place; unknown 404; users stays: 400, its core fields too", async () => {
      const changed = await demand(200, tenant.meta("PATCH", "/collections/tasks", { listRule: "true", realtime: false }));
      expect(changed.body).to.include({ listRule: "true", realtime: false, viewRule: null });
      expect(changed.body.fields).to.have.length(2);
      for (const method of ["GET", "PATCH", "DELETE"]) expect((await tenant.meta(method, "/collections/nothing", method === "PATCH" ? {} : undefined)).status).to.equal(404);
      refused(await tenant.meta("DELETE", "/collections/users"), "users");
      const users = (await demand(200, tenant.meta("GET", "/collections/users"))).body;
      expect(users).to.include({ system: true, listRule: "id = @auth.id", viewRule: "id = @auth.id", createRule: null, deleteRule: null });
      expect(users.fields.map((field: { name: string }) => field.name)).to.deep.equal(["username", "email", "role", "password"]);
      for (const name of ["username", "email", "role", "password"]) {
        refused(await tenant.meta("PATCH", "/collections/users", { fields: users.fields.filter((field: { name: string }) => field.name !== name) }), `without ${name}`);
        refused(await tenant.meta("PATCH", "/collections/users", { fields: users.fields.map((field: { name: string }) => (field.name === name ? { name, type: "NUMBER" } : field)) }), `${name} as a number`);
      }
      const more = await demand(200, tenant.meta("PATCH", "/collections/users", { fields: [...users.fields, { name: "nick", type: "TEXT" }] }));
      expect(more.body.fields).to.have.length(5);
      refused(await tenant.meta("PATCH", "/collections/users", { name: "people" }), "rename users");
      refused(await tenant.meta("PATCH", "/collections/users", { viewRule: "password = 'x'" }), "reads password");
      refused(await tenant.meta("PATCH", "/collections/users", { viewRule: "passwordHash = 'x'" }), "reads passwordHash");
    });

    it("DELETE 204, records too", async () => {
      await tenant.collection({ name: "passing", fields: [] });
      await demand(204, tenant.meta("DELETE", "/collections/passing"));
      expect((await tenant.meta("GET", "/collections/passing")).status).to.equal(404);
      expect((await backend.call("GET", "/api/collections/passing", { token: ann.token })).status).to.equal(404);
    });

    it("400 and nothing written for names, fields, rules, options and members that are not allowed", async () => {
      const field = (more: object) => ({ name: "bad", fields: [{ name: "f", type: "TEXT", ...more }] });
      for (const body of [{}, { name: "" }, { name: "1a" }, { name: "a-b" }, { name: "a".repeat(64) }, { name: "tasks" }, { name: "users" }, { name: 7 }, { name: "bad", nonsense: 1 }, { name: "bad", fields: {} },
        field({ name: "id" }), field({ name: "createdAt" }), field({ name: "updatedAt" }), field({ name: "constructor" }), field({ name: "prototype" }), { name: "bad", fields: [JSON.parse('{"name":"__proto__","type":"TEXT"}')] }, field({ name: "a b" }), field({ name: "" }),
        field({ type: "BLOB" }), field({ type: undefined }), field({ nonsense: 1 }), field({ required: "yes" }), field({ maxLength: -1 }), field({ maxLength: "5" }), field({ pattern: "(" }), field({ pattern: "(a)\\1" }),
        field({ type: "NUMBER", min: "1" }), field({ type: "SELECT" }), field({ type: "SELECT", values: [] }), field({ type: "SELECT", values: [1] }), field({ type: "RELATION" }), field({ type: "RELATION", collection: "nothing" }), field({ type: "RELATION", collection: "tasks", onDelete: "explode" }),
        field({ type: "FILE", maxSize: 4 * 1024 * 1024 + 1 }), field({ type: "FILE", widths: [0] }), field({ type: "FILE", widths: [4097] }), field({ type: "FILE", widths: [1, 2, 3, 4, 5, 6, 7, 8, 9] }), field({ type: "FILE", widths: "64" }), field({ type: "NUMBER", default: "x" }),
        { name: "bad", fields: [{ name: "f", type: "TEXT" }, { name: "f", type: "TEXT" }] }, { name: "bad", indexes: [{ fields: ["nothing"] }] }, { name: "bad", indexes: [{ fields: [] }] }, { name: "bad", listRule: "nothing = 1" }, { name: "bad", listRule: "(" }, { name: "bad", listRule: true }, { name: "bad", realtime: "no" }]) {
        refused(await tenant.meta("POST", "/collections", body), JSON.stringify(body));
      }
      expect((await tenant.meta("GET", "/collections/bad")).status).to.equal(404);
    });

    it("many made at the same time are all made", async () => {
      const names = Array.from({ length: 25 }, (_, index) => `parallel${index}`);
      const answers = await Promise.all(names.map((name) => tenant.meta("POST", "/collections", { name, fields: [] })));
      expect(answers.map(({ status }) => status)).to.deep.equal(names.map(() => 201));
      const same = await Promise.all(names.slice(0, 5).map(() => tenant.meta("POST", "/collections", { name: "same", fields: [] })));
      expect(same.map(({ status }) => status).sort()).to.deep.equal([201, 400, 400, 400, 400]);
    });

    it("records and accounts are written while definitions change", async () => {
      await tenant.settings({ selfRegistration: true });
      await tenant.collection({ name: "busy", fields: [{ name: "n", type: "NUMBER" }], createRule: "true" });
      const definitions = Array.from({ length: 12 }, (_, n) => tenant.meta("POST", "/collections", { name: `beside${n}`, fields: [] }));
      const settings = Array.from({ length: 6 }, (_, n) => tenant.meta("PATCH", "/settings", { guardFileRoutes: n % 2 === 0 }));
      const records = Array.from({ length: 20 }, (_, n) => backend.call("POST", "/api/collections/busy", { token: ann.token, body: { n } }));
      const batches = Array.from({ length: 3 }, (_, n) => backend.call("POST", "/api/batch", { token: ann.token, body: { requests: [{ method: "POST", collection: "busy", body: { n } }] } }));
      const accounts = Array.from({ length: 2 }, (_, n) => backend.call("POST", "/api/auth/register", { body: { tenant: "acme", username: `beside${n}`, password } }));
      for (const [status, answers] of [[201, definitions], [200, settings], [201, records], [200, batches], [201, accounts]] as const) {
        for (const answer of await Promise.all(answers)) expect(answer.status, answer.text).to.equal(status);
      }
      await tenant.settings({ selfRegistration: false, guardFileRoutes: false });
    });

    it("a rule's error tells position and reason", async () => {
      const answer = await tenant.meta("PATCH", "/collections/tasks", { viewRule: "title = 'x' && nothing = 1" });
      refused(answer, "rule");
      expect(answer.body[0].field).to.equal("viewRule");
      expect(answer.body[0].message).to.match(/\d/).and.contain("nothing");
    });
  });

  describe("hooks", () => {
    it("POST 201, GET, list, PATCH, DELETE 204; unknown 404", async () => {
      const made = await tenant.hook({ collection: "tasks", event: "beforeCreate", url: `${receiver.url}/h` });
      expect(made).to.include.all.keys("id", "collection", "event", "url", "method", "timeoutMs", "secret", "priority", "enabled", "includeSchema", "forwardHeaders", "failOpen", "headers", "match");
      const read = (await demand(200, tenant.meta("GET", `/hooks/${made.id}`))).body;
      expect(read).to.deep.equal({ ...made, secret: null });
      const list = (await demand(200, tenant.meta("GET", "/hooks"))).body;
      expect(list).to.deep.equal({ items: [read] });
      const changed = await demand(200, tenant.meta("PATCH", `/hooks/${made.id}`, { enabled: false, priority: 3, secret: "mine alone" }));
      expect(changed.body).to.include({ enabled: false, priority: 3, url: made.url, secret: null });
      expect(changed.text).not.to.contain("mine alone");
      await demand(204, tenant.meta("DELETE", `/hooks/${made.id}`));
      for (const [method, path] of [["GET", ""], ["PATCH", ""], ["DELETE", ""], ["POST", "/test"]] as const) {
        for (const id of [made.id, nobody, "x"]) expect((await tenant.meta(method, `/hooks/${id}${path}`, method === "PATCH" ? {} : undefined)).status, `${method} ${path}`).to.equal(404);
      }
    });
  });

  describe("users (the admin editor)", () => {
    it("POST 201 may set role, active, emailVerified; the answer has no secret; create hooks fire, register hooks do not", async () => {
      const hooks = [];
      for (const event of ["beforeCreate", "afterCreate", "beforeRegister", "afterRegister"]) hooks.push(await tenant.hook({ collection: "users", event, url: `${receiver.url}/users-${event}` }));
      const made = await demand(201, tenant.meta("POST", "/users", { username: "eve", email: "eve@example.org", password, role: "editor", emailVerified: true, active: true }));
      expect(made.body).to.include({ username: "eve", role: "editor", emailVerified: true });
      expect(made.text).not.to.match(/passwordHash|passwordSalt|argon2/);
      await receiver.next("/users-afterCreate");
      expect(receiver.to("/users-beforeCreate")).to.have.length(1);
      expect([...receiver.to("/users-beforeRegister"), ...receiver.to("/users-afterRegister")]).to.deep.equal([]);
      for (const { id } of hooks) await demand(204, tenant.meta("DELETE", `/hooks/${id}`));
      const changed = await demand(200, tenant.meta("PATCH", `/users/${made.body.id}`, { role: "chief", emailVerified: false }));
      expect(changed.body).to.include({ role: "chief", emailVerified: false });
      await demand(200, tenant.meta("PATCH", `/users/${made.body.id}`, { password: "a password set by root" }));
      expect((await tenant.login("eve")).status).to.equal(401);
      await demand(200, tenant.login("eve", "a password set by root"));
    });

    it("a change of the address clears emailVerified", async () => {
      const made = await demand(201, tenant.meta("POST", "/users", { username: "flo", email: "flo@example.org", password, emailVerified: true }));
      expect((await demand(200, tenant.meta("PATCH", `/users/${made.body.id}`, { email: "flo2@example.org" }))).body.emailVerified).to.equal(false);
    });

    it("400 with the array: short password, taken name, bad address, wrong types, unknown members; unknown user 404", async () => {
      for (const body of [{}, { username: "g" }, { username: "g", password: "short" }, { username: "ann", password }, { username: "g", password, email: "x" }, { username: "g", password, role: 7 }, { username: "g", password, active: "yes" }, { username: "g", password, emailVerified: 1 }, { username: "g", password, nonsense: 1 }, { username: 7, password }]) {
        const answer = await tenant.meta("POST", "/users", body);
        refused(answer, JSON.stringify(body));
        expect(answer.body, JSON.stringify(body)).to.be.an("array");
      }
      for (const id of [nobody, "x"]) expect((await tenant.meta("PATCH", `/users/${id}`, { role: "x" })).status).to.equal(404);
    });

    it("legacy hashes sign in with 80 MB and six iterations, and are converted", async () => {
      const argon2 = (await import("argon2")).default;
      const salt = Buffer.from("a salt of the past");
      const hash = await argon2.hash("an old password, long", { type: argon2.argon2id, memoryCost: 81_920, timeCost: 6, parallelism: 1, hashLength: 32, salt, raw: true });
      await demand(201, tenant.meta("POST", "/users", { username: "old", passwordHash: hash.toString("base64"), passwordSalt: salt.toString("base64") }));
      expect((await tenant.login("old", "another password, long")).status).to.equal(401);
      const first = await demand(200, tenant.login("old", "an old password, long"));
      await demand(200, tenant.login("old", "an old password, long"));
      await demand(200, backend.call("GET", "/api/auth/me", { token: first.body.accessToken }));
    }).timeout(20_000);
  });

  describe("logs and figures", () => {
    it("the request log: entries of the documented members, newest first, no bodies, query values or credentials", async () => {
      await demand(200, backend.call("GET", "/api/auth/me?secretish=abcdef", { token: ann.token, headers: { "x-request-id": "log-1" } }));
      const entry = await eventually(async () => (await tenant.meta("GET", "/request-log?requestId=log-1")).body.items[0]);
      expect(entry).to.have.all.keys("id", "requestId", "time", "method", "path", "status", "durationMs", "hookMs", "caller", "rulesBypassed", "hooksBypassed", "rejection");
      expect(entry).to.deep.include({ requestId: "log-1", method: "GET", status: 200, rulesBypassed: false, hooksBypassed: false, rejection: null });
      expect(entry.caller).to.deep.include({ type: "user", id: ann.id });
      const all = await demand(200, tenant.meta("GET", "/request-log?limit=100"));
      expect(all.text).not.to.contain("abcdef").and.not.contain(ann.token).and.not.contain(password);
      for (const id of ["order-1", "order-2", "order-3"]) await backend.call("GET", "/api/auth/me", { token: ann.token, headers: { "x-request-id": id } });
      const order = await eventually(async () => {
        const ids = (await tenant.meta("GET", "/request-log?limit=20")).body.items.map(({ requestId }: { requestId: string }) => requestId).filter((id: string) => id.startsWith("order-"));
        return ids.length === 3 && ids;
      });
      expect(order).to.deep.equal(["order-3", "order-2", "order-1"]);
    });

    it("limit, cursor and status page through", async () => {
      await eventually(async () => (await tenant.meta("GET", "/request-log?limit=4")).body.items.length === 4);
      const first = (await demand(200, tenant.meta("GET", "/request-log?limit=2&status=200"))).body;
      expect(first).to.have.all.keys("items", "nextCursor");
      const second = (await demand(200, tenant.meta("GET", `/request-log?limit=2&status=200&cursor=${encodeURIComponent(first.nextCursor)}`))).body;
      const ids = [...first.items, ...second.items].map((item: { id: string }) => item.id);
      expect(new Set(ids).size).to.equal(ids.length);
      for (const item of [...first.items, ...second.items]) expect(item.status).to.equal(200);
      for (const query of ["limit=x", "cursor=junk", "status=x"]) refused(await tenant.meta("GET", `/request-log?${query}`), query);
      await demand(200, tenant.meta("GET", "/hook-log?limit=1"));
    });

    it("an entry whose tenant is unknown is the instance's", async () => {
      await backend.call("GET", "/api/collections/tasks", { tenant: "nowhere", headers: { "x-request-id": "nowhere-1" } });
      const entry = await eventually(async () => (await backend.meta("GET", "/api/meta/request-log?requestId=nowhere-1")).body.items[0]);
      expect(entry).to.include({ status: 404, requestId: "nowhere-1" });
    });

    it("stats answers an object of figures", async () => {
      const { body } = await demand(200, backend.meta("GET", "/api/meta/stats"));
      expect(body).to.be.an("object");
      expect(JSON.stringify(body)).to.match(/\d/);
    });
  });

  describe("backup and restore", () => {
    it("one archive with schema, records, settings, hooks, users and keys; only into an empty tenant", async () => {
      await demand(200, tenant.meta("PATCH", "/collections/tasks", { createRule: "true", viewRule: "true" }));
      const record = (await demand(201, backend.call("POST", "/api/collections/tasks", { token: ann.token, body: { title: "kept" } }))).body;
      const { key } = await tenant.key({ name: "kept", userId: ann.id });
      const archive = await demand(200, tenant.meta("GET", "/backup"));
      expect(archive.headers["content-disposition"]).to.match(/^attachment/);
      expect(archive.bytes.length).to.be.greaterThan(100);
      expect(archive.bytes.includes(Buffer.from(key))).to.equal(false);
      const target = await backend.tenant("restored");
      const restore = (into: Tenant, body: Buffer) => backend.call("POST", `/api/meta/tenants/${into.id}/restore`, { token: backend.adminToken, body, headers: { "content-type": archive.headers["content-type"]! } });
      const done = await restore(target, archive.bytes);
      expect(done.status, done.text).to.be.within(200, 204);
      const copy = (await demand(200, target.login("ann"))).body.accessToken;
      expect((await demand(200, backend.call("GET", `/api/collections/tasks/${record.id}`, { token: copy }))).body).to.deep.equal(record);
      expect((await target.meta("GET", "/settings")).body).to.deep.equal((await tenant.meta("GET", "/settings")).body);
      expect((await target.meta("GET", "/api-keys")).body.items.map((item: { name: string }) => item.name)).to.include("kept");
      expect((await restore(tenant, archive.bytes)).status).to.be.oneOf([400, 409]);
      const empty = await backend.tenant("broken");
      expect((await restore(empty, archive.bytes.subarray(0, archive.bytes.length - 50))).status).to.equal(400);
      expect((await empty.meta("GET", "/collections")).body.items).to.have.length(1);
    });
  });

  it("bodies: malformed JSON 400, another content type 415, no object 400; wrong methods 405 with Allow; unknown paths 404", async () => {
    const at = `/api/meta/tenants/${tenant.id}`;
    for (const path of ["/api/meta/tenants", `${at}/collections`, `${at}/api-keys`, `${at}/hooks`, `${at}/users`]) {
      expect((await raw("POST", path, "{")).status, path).to.equal(400);
      expect((await raw("POST", path, "x", "text/plain")).status, path).to.equal(415);
      for (const body of ["null", "7", '"x"', "[]"]) expect((await raw("POST", path, body)).status, `${path} ${body}`).to.equal(400);
      const wrong = await backend.meta("PUT", path);
      expect(wrong.status, path).to.equal(405);
      expect(wrong.headers.allow, path).to.contain("POST");
      expect(wrong.body).to.have.all.keys("error");
    }
    for (const path of ["/api/meta", "/api/meta/nothing", `${at}/nothing`, `${at}/hooks/x/y/z`]) expect((await backend.meta("GET", path)).status, path).to.equal(404);
  });
});
