// Acceptance: webhooks. Envelope, signature, what an answer may do, the chain, the target's address, delivery.
import { expect } from "chai";
import { demand } from "../support/service.js";
import { eventually, password, signature, type Account, type Backend, type Receiver, type Tenant } from "./backend.js";
import { openScene, openToAll, type Scene } from "./scene.js";

describe("acceptance: hooks", () => {
  let scene: Scene;
  let backend: Backend;
  let receiver: Receiver;
  let tenant: Tenant;
  let ann: Account;
  let paths = 0;
  before(async () => {
    ({ backend, receiver, tenant, ann } = scene = await openScene());
    await tenant.collection({ name: "tasks", fields: [{ name: "title", type: "TEXT", required: true }, { name: "count", type: "NUMBER" }], ...openToAll });
    await tenant.collection({ name: "plain", fields: [{ name: "title", type: "TEXT" }], ...openToAll });
  });
  after(() => scene.end());
  afterEach(async () => {
    for (const hook of (await tenant.meta("GET", "/hooks")).body.items) await demand(204, tenant.meta("DELETE", `/hooks/${hook.id}`));
  });
  const records = (method: string, path = "", body?: unknown, headers: Record<string, string> = {}) => backend.call(method, `/api/collections/tasks${path}`, { token: ann.token, body, headers });
  const create = async (title = "t") => (await demand(201, records("POST", "", { title }))).body;
  /** A hook of its own path. */
  async function hook(event: string, more: object = {}, reply?: Parameters<Receiver["answer"]>[1]) {
    const path = `/h${(paths += 1)}`;
    if (reply !== undefined) receiver.answer(path, reply);
    const made = await tenant.hook({ ...(event === "beforeRequest" ? {} : { collection: "tasks" }), event, url: `${receiver.url}${path}`, ...more });
    return { ...made, path, next: () => receiver.next(path), deliveries: () => receiver.to(path) };
  }

  describe("delivery", () => {
    it("method, headers, envelope and signature are as documented", async () => {
      const { secret, ...before } = await hook("beforeCreate");
      const after = await hook("afterCreate", { secret: "known to both" });
      expect(secret).to.be.a("string");
      const made = await demand(201, records("POST", "", { title: "Ünïcode" }, { "x-request-id": "my-request.1", "accept-language": "de", "x-private": "no", "user-agent": "acceptance" }));
      for (const [event, delivery, word] of [["beforeCreate", await before.next(), secret], ["afterCreate", await after.next(), "known to both"]] as const) {
        expect(delivery.method).to.equal("POST");
        expect(delivery.headers["content-type"]).to.equal("application/json");
        expect(delivery.headers["x-service-event"]).to.equal(event);
        expect(delivery.headers["x-service-collection"]).to.equal("tasks");
        expect(delivery.headers["x-service-signature"]).to.equal(signature(word, delivery.raw));
        const { service, context, data, schema } = delivery.body;
        expect(delivery.body).to.have.all.keys("service", "context", "data", "schema");
        expect(service).to.have.all.keys("version", "event", "deliveryId", "timestamp");
        expect(service).to.include({ version: 1, event, deliveryId: delivery.headers["x-service-delivery-id"] });
        expect(service.timestamp).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
        expect(context).to.have.all.keys("collection", "recordId", "auth", "http");
        expect(context).to.deep.include({ collection: "tasks", recordId: made.body.id, auth: { id: ann.id, role: "user" } });
        expect(context.http).to.have.all.keys("method", "path", "headers");
        expect(context.http).to.include({ method: "POST", path: "/api/collections/tasks" });
        const headers = Object.fromEntries(Object.entries(context.http.headers).map(([name, value]) => [name.toLowerCase(), value]));
        expect(headers).to.deep.include({ "content-type": ["application/json"], "user-agent": ["acceptance"], "accept-language": ["de"], "x-request-id": ["my-request.1"] });
        expect(headers).not.to.have.any.keys("authorization", "x-private", "host", "content-length");
        expect(schema).to.equal(null);
        expect(data.body).to.include({ title: "Ünïcode" });
      }
      expect(before.deliveries()[0]!.body.data).to.deep.equal({ body: { id: made.body.id, title: "Ünïcode" }, record: null });
      expect(after.deliveries()[0]!.body.data.record).to.deep.equal(made.body);
    });

    it("every collection event: recordId, body and record", async () => {
      const record = await create("first");
      const events = ["beforeList", "beforeView", "beforeUpdate", "afterUpdate", "beforeDelete", "afterDelete"];
      const hooks = Object.fromEntries(await Promise.all(events.map(async (event) => [event, await hook(event)] as const)));
      await demand(200, records("GET"));
      await demand(200, records("GET", `/${record.id}`));
      const changed = (await demand(200, records("PATCH", `/${record.id}`, { title: "second" }))).body;
      await demand(204, records("DELETE", `/${record.id}`));
      const seen = Object.fromEntries(await Promise.all(events.map(async (event) => [event, (await hooks[event]!.next()).body] as const)));
      expect(seen["beforeList"].data).to.deep.equal({ body: null, record: null });
      expect(seen["beforeList"].context.recordId ?? null).to.equal(null);
      expect(seen["beforeView"].data).to.deep.equal({ body: null, record });
      expect(seen["beforeUpdate"].data).to.deep.equal({ body: { title: "second" }, record });
      expect(seen["afterUpdate"].data.record).to.deep.equal(changed);
      expect(seen["beforeDelete"].data).to.deep.equal({ body: null, record: changed });
      expect(seen["afterDelete"].data.record).to.deep.equal(changed);
      for (const event of events.slice(1)) expect(seen[event].context.recordId, event).to.equal(record.id);
    });

    it("include schema adds schema.fields; method, static headers and named request headers are sent", async () => {
      const rich = await hook("beforeCreate", { includeSchema: true, method: "PUT", headers: { "X-Key": "a static secret" }, forwardHeaders: "X-Trace, x-Other" });
      await demand(201, records("POST", "", { title: "t" }, { "x-trace": "abc", "x-third": "no" }));
      const delivery = await rich.next();
      expect(delivery.method).to.equal("PUT");
      expect(delivery.headers["x-key"]).to.equal("a static secret");
      expect(delivery.body.schema.fields.map((field: { name: string }) => field.name)).to.include.members(["title", "count"]);
      const names = Object.keys(delivery.body.context.http.headers).map((name) => name.toLowerCase());
      expect(names).to.include("x-trace").and.not.to.include("x-third");
      const read = (await tenant.meta("GET", `/hooks/${rich.id}`)).body;
      expect(read).to.deep.include({ forwardHeaders: "x-trace,x-other", headers: { "X-Key": "***" }, secret: null, method: "PUT" });
    });

    it("guest and superadmin are named as such", async () => {
      const before = await hook("beforeList");
      await demand(200, backend.call("GET", "/api/collections/tasks", { tenant: "acme" }));
      await demand(200, backend.call("GET", "/api/collections/tasks", { tenant: "acme", token: backend.adminToken }));
      expect((await before.next()).body.context.auth).to.deep.equal({ id: null, role: null });
      expect((await before.next()).body.context.auth).to.deep.equal({ id: null, role: "superadmin" });
    });

    it("no password reaches a hook, in create and update of users and beforeRequest", async () => {
      const mine = [await hook("beforeRequest"), await hook("beforeUpdate", { collection: "users" }), await hook("afterUpdate", { collection: "users" }), await hook("beforeCreate", { collection: "users" }), await hook("afterCreate", { collection: "users" })];
      const pat = await tenant.account("pat");
      await demand(200, backend.call("PATCH", `/api/collections/users/${pat.id}`, { token: pat.token, body: { password: "a fresh password, long", oldPassword: password } }));
      await mine[2]!.next();
      await mine[4]!.next();
      await demand(200, tenant.login("pat", "a fresh password, long"));
      const all = mine.flatMap(({ deliveries }) => deliveries()).map(({ raw }) => raw.toString()).join("\n");
      expect(mine.map(({ deliveries }) => deliveries().length > 0)).to.deep.equal([true, true, true, true, true]);
      for (const word of [password, "a fresh password, long", "$argon2", "passwordHash"]) expect(all).not.to.contain(word);
    });
  });

  describe("answer of a blocking hook", () => {
    const outcomes: [string, Parameters<Receiver["answer"]>[1], number, unknown][] = [
      ["no body", { status: 200 }, 201, undefined],
      ["204", { status: 204 }, 201, undefined],
      ["2xx without continue and data", { status: 202, body: { anything: 1 } }, 201, undefined],
      ["2xx with a text that is no JSON", { status: 200, body: "OK", headers: { "content-type": "text/plain" } }, 201, undefined],
      ["2xx with JSON that is no object", { status: 200, body: "[1]" }, 201, undefined],
      ["an error object without continue", { status: 200, body: { error: { status: 403, message: "No" } } }, 201, undefined],
      ["data without a body", { status: 200, body: { data: {} } }, 201, undefined],
      ["data.body that is null", { status: 200, body: { data: { body: null } } }, 201, undefined],
      ["an error that is null", { body: { continue: false, error: null } }, 400, undefined],
      ["continue true", { body: { continue: true } }, 201, undefined],
      ["continue false with an error object", { body: { continue: false, error: { status: 418, message: "No tea" } } }, 418, { status: 418, message: "No tea" }],
      ["an error object without a status", { body: { continue: false, error: { message: "No" } } }, 400, { message: "No" }],
      ["continue false with an error string", { body: { continue: false, error: "Stop there" } }, 400, { error: "Stop there" }],
      ["a status below 400", { body: { continue: false, error: { status: 200, message: "No" } } }, 400, undefined],
      ["a status above 599", { body: { continue: false, error: { status: 600, message: "No" } } }, 400, undefined],
      ["a status that is not whole", { body: { continue: false, error: { status: 450.5, message: "No" } } }, 400, undefined],
      ["a status that is text", { body: { continue: false, error: { status: "451", message: "No" } } }, 400, undefined],
      ["status 599", { body: { continue: false, error: { status: 599, message: "No" } } }, 599, undefined],
      ["a rejection under a non-2xx status", { status: 403, body: { continue: false, error: { status: 409, message: "Taken" } } }, 409, { status: 409, message: "Taken" }],
      ["500 without a shape", { status: 500, body: "oops" }, 502, undefined],
      ["404 without a body", { status: 404 }, 502, undefined],
      ["a redirect", { status: 302, headers: { location: "/elsewhere" } }, 502, undefined],
      ["a connection that is cut", { cut: true }, 502, undefined],
    ];
    for (const [name, reply, status, body] of outcomes) {
      it(`${name}: ${status}`, async () => {
        await hook("beforeCreate", {}, reply);
        const answer = await records("POST", "", { title: "t" });
        expect(answer.status, answer.text).to.equal(status);
        if (body !== undefined) expect(answer.body).to.deep.equal(body);
        if (status >= 400) expect(answer.body).not.to.have.any.keys("continue", "data");
        if (status === 502) expect(answer.body).to.have.all.keys("error");
        expect(receiver.to("/elsewhere")).to.deep.equal([]);
      });
    }

    it("continue false alone: 400 and the service's own message", async () => {
      await hook("beforeCreate", {}, { body: { continue: false } });
      const answer = await records("POST", "", { title: "t" });
      expect(answer.status).to.equal(400);
      expect(answer.body).to.have.all.keys("error");
      expect(answer.body.error).to.be.a("string").and.not.equal("");
    });

    it("a timeout is 502 too, and all failures mean allow with fail open on", async () => {
      const slow = await hook("beforeCreate", { timeoutMs: 150 }, { hang: true });
      expect((await records("POST", "", { title: "t" })).status).to.equal(502);
      await demand(200, tenant.meta("PATCH", `/hooks/${slow.id}`, { failOpen: true }));
      await create("slow");
      for (const reply of [{ status: 500 }, { cut: true }, { status: 301, headers: { location: "/elsewhere" } }]) {
        receiver.answer(slow.path, reply);
        await create("open");
      }
      receiver.answer(slow.path, { body: { continue: false, error: "Still no" } });
      expect((await records("POST", "", { title: "t" })).body).to.deep.equal({ error: "Still no" });
    });

    it("data.body replaces the client's, along the chain, and is validated", async () => {
      await hook("beforeCreate", { priority: 2 }, ({ body }) => ({ body: { data: { body: { ...body.data.body, count: body.data.body.count + 1 } } } }));
      const first = await hook("beforeCreate", { priority: 1 }, ({ body }) => ({ body: { data: { body: { ...body.data.body, title: "rewritten", count: 1 } } } }));
      const made = await demand(201, records("POST", "", { title: "original" }));
      expect(made.body).to.include({ title: "rewritten", count: 2 });
      expect(made.body.id).to.equal(first.deliveries()[0]!.body.context.recordId);
      receiver.answer(first.path, { body: { data: { body: { count: "many" } } } });
      const bad = await records("POST", "", { title: "original" });
      expect(bad.status).to.equal(400);
      const update = await hook("beforeUpdate", {}, { body: { data: { body: { count: 7 } } } });
      const patched = await demand(200, records("PATCH", `/${made.body.id}`, { title: "ignored" }));
      expect(patched.body).to.include({ title: "rewritten", count: 7 });
      expect(update.deliveries()).to.have.length(1);
    });

    it("the first that aborts stops the chain; a rejected write writes nothing", async () => {
      const last = await hook("beforeCreate", { priority: 9 });
      await hook("beforeCreate", { priority: -1 }, { body: { continue: false } });
      const after = await hook("afterCreate");
      const { total } = (await records("GET", "?count=true")).body;
      expect((await records("POST", "", { title: "t" })).status).to.equal(400);
      expect((await records("GET", "?count=true")).body.total).to.equal(total);
      expect([...last.deliveries(), ...after.deliveries()]).to.deep.equal([]);
    });

    it("beforeView, beforeList, beforeUpdate and beforeDelete reject as well", async () => {
      const { id } = await create();
      for (const [event, method, path, body] of [["beforeView", "GET", `/${id}`], ["beforeList", "GET", ""], ["beforeUpdate", "PATCH", `/${id}`, { title: "x" }], ["beforeDelete", "DELETE", `/${id}`]] as const) {
        const made = await hook(event, {}, { body: { continue: false, error: { status: 451, message: event } } });
        const answer = await records(method, path, body);
        expect([answer.status, answer.body]).to.deep.equal([451, { status: 451, message: event }]);
        await demand(204, tenant.meta("DELETE", `/hooks/${made.id}`));
      }
      expect((await records("GET", `/${id}`)).body.title).to.equal("t");
    });

    it("after-hooks cannot change the answer, whatever they say", async () => {
      const after = await hook("afterCreate", {}, { body: { continue: false, error: "no", data: { body: { title: "x" } } } });
      const made = await create("kept");
      await after.next();
      expect((await records("GET", `/${made.id}`)).body).to.deep.equal(made);
    });
  });

  describe("chain and match", () => {
    it("beforeRequest first, by priority, then the event's; disabled ones do not fire", async () => {
      const order: string[] = [];
      const noted = (name: string) => () => {
        order.push(name);
        return {};
      };
      await hook("beforeCreate", { priority: -100 }, noted("event first"));
      await hook("beforeCreate", { priority: 5 }, noted("event second"));
      await hook("beforeRequest", { priority: 50 }, noted("global second"));
      await hook("beforeRequest", { priority: 10 }, noted("global first"));
      await hook("beforeCreate", { enabled: false }, noted("never"));
      await create();
      expect(order).to.deep.equal(["global first", "global second", "event first", "event second"]);
    });

    it("a beforeRequest rewrites what the event's hooks and the operation see, on collection and auth routes", async () => {
      const path = (await hook("beforeRequest", {}, ({ body }) => (body.context.http.method === "POST" ? { body: { data: { body: { ...body.data.body, title: "global" } } } } : {}))).path;
      const event = await hook("beforeCreate");
      expect((await create("mine")).title).to.equal("global");
      expect((await event.next()).body.data.body.title).to.equal("global");
      receiver.answer(path, ({ body }) => (body.context.http.path === "/api/auth/login" ? { body: { data: { body: { ...body.data.body, username: "ann", password: "another password, of a hook" } } } } : {}));
      const pair = await demand(200, backend.call("POST", "/api/auth/login", { body: { tenant: "acme", username: "somebody", password } }));
      expect((await demand(200, backend.call("GET", "/api/auth/me", { token: pair.body.accessToken }))).body.id).to.equal(ann.id);
      receiver.answer(path, { body: { continue: false, error: { status: 429, message: "Slow down" } } });
      for (const [method, route] of [["POST", "login"], ["POST", "refresh"], ["GET", "me"], ["POST", "register"], ["POST", "logout"], ["POST", "password/reset"]] as const) {
        const answer = await backend.call(method, `/api/auth/${route}`, { token: route === "me" || route === "logout" ? ann.token : undefined, ...(method === "POST" ? { body: { tenant: "acme", username: "ann", password, refreshToken: ann.refreshToken, token: "junk" } } : {}) });
        if (route === "login" || route === "me" || route === "logout" || route === "refresh") expect([answer.status, answer.body], route).to.deep.equal([429, { status: 429, message: "Slow down" }]);
        else expect(answer.status, route).to.be.within(400, 429);
      }
    });

    it("match narrows a beforeRequest; it runs on auth routes as users; record is null", async () => {
      const plain = await hook("beforeRequest", { match: { collections: ["plain"], methods: ["POST"] } });
      const any = await hook("beforeRequest");
      await create();
      await demand(200, backend.call("GET", "/api/collections/plain", { token: ann.token }));
      expect(plain.deliveries()).to.deep.equal([]);
      await demand(201, backend.call("POST", "/api/collections/plain", { token: ann.token, body: { title: "x" } }));
      expect((await plain.next()).body.context.collection).to.equal("plain");
      await demand(200, backend.call("GET", "/api/auth/me", { token: ann.token }));
      const auth = any.deliveries().at(-1)!.body;
      expect(auth.context.collection).to.equal("users");
      expect(auth.data.record).to.equal(null);
      expect(auth.service.event).to.equal("beforeRequest");
    });

    it("a flat denial and an unknown collection reach no event hook", async () => {
      const list = await hook("beforeList");
      await demand(200, tenant.meta("PATCH", "/collections/tasks", { listRule: null }));
      expect((await records("GET")).status).to.equal(403);
      await demand(200, tenant.meta("PATCH", "/collections/tasks", { listRule: "true" }));
      expect(list.deliveries()).to.deep.equal([]);
    });
  });

  describe("saving", () => {
    it("defaults are as documented, a missing secret is generated and shown once", async () => {
      const before = await tenant.hook({ collection: "tasks", event: "beforeCreate", url: `${receiver.url}/d` });
      expect(before).to.deep.include({ method: "POST", timeoutMs: 5000, priority: 0, enabled: true, includeSchema: false, forwardHeaders: "", failOpen: false, headers: {} });
      expect(before.secret).to.be.a("string").and.match(/.{16,}/);
      expect((await tenant.meta("GET", `/hooks/${before.id}`)).body.secret).to.equal(null);
      expect((await tenant.hook({ collection: "tasks", event: "afterCreate", url: `${receiver.url}/d` })).timeoutMs).to.equal(30000);
      const global = await tenant.hook({ event: "beforeRequest", url: `${receiver.url}/d` });
      expect(global.collection).to.equal(null);
      expect(global.timeoutMs).to.equal(5000);
    });

    it("400 and nothing written for what is not allowed", async () => {
      const good = { collection: "tasks", event: "beforeCreate", url: `${receiver.url}/x` };
      const port = receiver.host.split(":")[1];
      const cases: [string, object][] = [
        ["unknown event", { ...good, event: "beforeTea" }], ["no event", { collection: "tasks", url: good.url }], ["no url", { collection: "tasks", event: "beforeCreate" }],
        ["ftp", { ...good, url: "ftp://example.org/x" }], ["no URL", { ...good, url: "example" }], ["loopback elsewhere", { ...good, url: "http://127.0.0.1:1/x" }], ["localhost, not the entry", { ...good, url: `http://localhost:${port}/x` }],
        ["IPv6 loopback", { ...good, url: `http://[::1]:${port}/x` }], ["mapped IPv6", { ...good, url: `http://[::ffff:127.0.0.1]:${port}/x` }], ["private", { ...good, url: "http://10.0.0.1/x" }], ["private 2", { ...good, url: "http://192.168.1.1/x" }], ["private 3", { ...good, url: "http://172.16.0.1/" }],
        ["link-local", { ...good, url: "http://169.254.169.254/latest" }], ["multicast", { ...good, url: "http://224.0.0.1/" }], ["fc00::/7", { ...good, url: "http://[fd00::1]/" }], ["fe80", { ...good, url: "http://[fe80::1]/" }], ["ff02", { ...good, url: "http://[ff02::1]/" }], ["zero", { ...good, url: "http://0.0.0.0/" }],
        ["decimal loopback", { ...good, url: "http://2130706433/" }], ["failOpen on an after-event", { ...good, event: "afterCreate", failOpen: true }], ["timeout over", { ...good, timeoutMs: 30001 }], ["timeout zero", { ...good, timeoutMs: 0 }],
        ["unknown collection", { ...good, collection: "nothing" }], ["auth event elsewhere", { ...good, event: "beforeLogin" }], ["match on a collection event", { ...good, match: { methods: ["POST"] } }], ["unknown member", { ...good, nonsense: 1 }],
        ["enabled as text", { ...good, enabled: "yes" }], ["priority as text", { ...good, priority: "1" }],
        ...["Authorization", "cookie", "Set-Cookie", "PROXY-AUTHORIZATION"].map((name): [string, object] => [name, { ...good, forwardHeaders: `x-fine, ${name}` }]),
      ];
      for (const [name, body] of cases) {
        expect((await tenant.meta("POST", "/hooks", body)).status, name).to.equal(400);
      }
      expect((await tenant.meta("GET", "/hooks")).body.items).to.deep.equal([]);
      const kept = await tenant.hook(good);
      for (const [name, body] of cases.filter(([name]) => !name.startsWith("no "))) expect((await tenant.meta("PATCH", `/hooks/${kept.id}`, body)).status, `PATCH ${name}`).to.equal(400);
      expect((await tenant.meta("GET", `/hooks/${kept.id}`)).body).to.deep.equal({ ...kept, secret: null });
    });

    it("many saved at the same time are all saved", async () => {
      const made = await Promise.all(Array.from({ length: 12 }, () => hook("afterDelete")));
      expect(new Set(made.map(({ id }) => id)).size).to.equal(12);
      expect((await tenant.meta("GET", "/hooks")).body.items).to.have.length(12);
    });

    it("the allowlist is the tenant's own, and is asked again at every dispatch", async () => {
      const stranger = await backend.tenant("stranger");
      await stranger.collection({ name: "tasks", fields: [] });
      expect((await stranger.meta("POST", "/hooks", { collection: "tasks", event: "beforeList", url: receiver.url })).status).to.equal(400);
      const made = await hook("beforeList");
      await tenant.settings({ webhookAllowlist: [] });
      try {
        expect((await records("GET")).status).to.equal(502);
        expect(made.deliveries()).to.deep.equal([]);
        const test = await tenant.meta("POST", `/hooks/${made.id}/test`);
        expect(test.status).to.equal(200);
        expect(test.body.error).to.be.a("string");
      } finally {
        await tenant.settings({ webhookAllowlist: [receiver.host] });
      }
    });
  });

  describe("observability", () => {
    it("every call has an entry of metadata, by outcome; filters work", async () => {
      const made = await hook("beforeCreate");
      const outcomes: [Parameters<Receiver["answer"]>[1], string, number | null][] = [
        [{}, "allowed", 200], [{ body: { data: { body: { title: "x" } } } }, "modified", 200], [{ body: { continue: false, error: "a private reason" } }, "rejected", 200], [{ status: 503 }, "failed", 503],
      ];
      for (const [reply, outcome, status] of outcomes) {
        receiver.answer(made.path, reply);
        await backend.call("POST", "/api/collections/tasks", { token: ann.token, body: { title: "secret title" }, headers: { "x-request-id": `run-${outcome}` } });
        const entry = await eventually(async () => (await tenant.meta("GET", `/hook-log?hookId=${made.id}&requestId=run-${outcome}`)).body.items[0]);
        expect(entry).to.have.all.keys("id", "hookId", "event", "collection", "recordId", "requestId", "deliveryId", "attempt", "startedAt", "durationMs", "status", "outcome");
        expect(entry).to.include({ hookId: made.id, event: "beforeCreate", collection: "tasks", requestId: `run-${outcome}`, attempt: 1, status, outcome });
        const request = await eventually(async () => (await tenant.meta("GET", `/request-log?requestId=run-${outcome}`)).body.items[0]);
        expect(request.hookMs).to.be.a("number");
        expect(request.durationMs).to.be.at.least(0);
      }
      const log = await tenant.meta("GET", "/hook-log?limit=2");
      expect(log.body.items).to.have.length(2);
      expect(log.body.nextCursor).to.be.a("string");
      expect(log.body.items[0].startedAt >= log.body.items[1].startedAt).to.equal(true);
      const whole = await tenant.meta("GET", "/hook-log?limit=100");
      expect(whole.text).not.to.contain("private reason").and.not.contain("secret title");
    });

    it("after-hooks are logged as delivered, with the request's id", async () => {
      const made = await hook("afterCreate");
      await demand(201, records("POST", "", { title: "t" }, { "x-request-id": "after-1" }));
      await made.next();
      const entry = await eventually(async () => (await tenant.meta("GET", "/hook-log?requestId=after-1")).body.items[0]);
      expect(entry).to.include({ outcome: "delivered", attempt: 1, status: 200 });
    });

    it("a failing after-hook is tried again with the same delivery id", async () => {
      let calls = 0;
      const made = await hook("afterCreate", {}, () => ({ status: (calls += 1) === 1 ? 503 : 200 }));
      await demand(201, records("POST", "", { title: "t" }, { "x-request-id": "after-2" }));
      await made.next();
      const entry = await eventually(async () => (await tenant.meta("GET", "/hook-log?requestId=after-2")).body.items[0]);
      expect(entry).to.include({ outcome: "failed", attempt: 1, status: 503 });
      expect(made.deliveries()[0]!.headers["x-service-delivery-id"]).to.equal(entry.deliveryId);
    });

    it("Test sends a sample without changing a record and reports status, latency, signature and body", async () => {
      const made = await hook("beforeCreate", { secret: "known" }, { status: 207, body: { hello: 1 } });
      const { total } = (await records("GET", "?count=true")).body;
      const answer = await demand(200, tenant.meta("POST", `/hooks/${made.id}/test`));
      expect(answer.body).to.have.all.keys("status", "latencyMs", "signature", "body", "error");
      const delivery = await made.next();
      expect(answer.body).to.deep.include({ status: 207, signature: signature("known", delivery.raw), error: null });
      expect(answer.body.latencyMs).to.be.a("number");
      expect(JSON.stringify(answer.body.body)).to.contain("hello");
      expect((await records("GET", "?count=true")).body.total).to.equal(total);
    });
  });
});
