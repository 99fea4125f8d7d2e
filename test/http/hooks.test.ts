// Hooks over HTTP: which event fires where, what clients get, the meta routes, and what a crash leaves.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { hookEvents } from "../../lib/hooks/definition.js";
import { file, form } from "../support/multipart.js";
import { demand, startService, testPassword, type Answer, type RequestOptions, type TestService, type TestTenant, type TestUser } from "../support/service.js";
import { empty, json, startReceiver, type Receiver } from "../unit/hooks/support.js";

interface Fired {
  readonly event: string;
  readonly collection: string;
}

describe("hooks over HTTP", () => {
  let on: TestService;
  let receiver: Receiver;
  let tenant: TestTenant;
  let issuer: TestUser;

  before(async () => {
    on = await startService();
    receiver = await startReceiver();
    tenant = await on.createTenant("acme");
    issuer = await on.signUp(tenant, "issuer");
    const fields = [{ name: "title", type: "TEXT" }, { name: "cover", type: "FILE" }];
    const open = { listRule: "true", viewRule: "true", createRule: "true", updateRule: "true", deleteRule: "true" };
    await on.createCollection(tenant, { name: "tasks", fields, ...open });
    await on.createCollection(tenant, { name: "quiet", fields: [{ name: "title", type: "TEXT" }], ...open });
    await demand(200, settings({ webhookAllowlist: [receiver.host], selfRegistration: true, tokenIssuers: [issuer.id] }));
  });
  after(async () => {
    await on.close();
    await receiver.close();
  });
  beforeEach(() => {
    receiver.answer = empty();
    receiver.received.length = 0;
  });
  afterEach(async () => {
    for (const hook of (await on.meta("GET", base("/hooks"))).body.items) await demand(204, on.meta("DELETE", base(`/hooks/${hook.id}`)));
  });

  const base = (path: string): string => `/api/meta/tenants/${tenant.id}${path}`;
  const settings = (body: object) => on.meta("PATCH", base("/settings"), body);
  const add = async (input: object): Promise<Answer["body"]> => (await demand(201, on.meta("POST", base("/hooks"), { url: receiver.url, ...input }))).body;
  const ask = (method: string, path: string, options: RequestOptions = {}) => on.request(method, path, options.token === undefined ? { tenant: "acme", ...options } : options);
  const created = async (title = "a"): Promise<Answer["body"]> => (await demand(201, ask("POST", "/api/collections/tasks", { body: { title } }))).body;

  /** Waits until no hook has a delivery left to send; those of hooks that were removed are dropped when they are due. */
  async function delivered(): Promise<void> {
    const hooks = new Set((await demand(200, on.meta("GET", base("/hooks")))).body.items.map(({ id }: { id: string }) => id));
    for (const state of ["pending", "waiting"]) {
      const left = async (): Promise<boolean> => (await demand(200, on.meta("GET", base(`/deliveries?state=${state}`)))).body.items.some(({ hookId }: { hookId: string }) => hooks.has(hookId));
      while (await left()) await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  describe("which event fires where", () => {
    const authEvents = ["beforeRegister", "afterRegister", "beforeLogin", "afterLogin", "beforeRefresh", "afterRefresh"];

    /** A hook on every event of tasks and users, and beforeRequest. */
    async function everywhere(): Promise<void> {
      for (const event of hookEvents) {
        if (event === "beforeRequest") await add({ event });
        else if (authEvents.includes(event)) await add({ event, collection: "users" });
        else for (const collection of ["tasks", "users"]) await add({ event, collection });
      }
    }
    async function firedBy(run: () => Promise<unknown>): Promise<string[]> {
      await delivered();
      receiver.received.length = 0;
      await run();
      await delivered();
      const fired = receiver.received.map(({ envelope }): Fired => ({ event: envelope.service.event, collection: envelope.context.collection }));
      return fired.map(({ event, collection }) => `${event} ${collection}`);
    }

    it("is as the interface says, for every kind of request", async () => {
      const record = await created();
      const upload = () => form(file("cover", "hello", "a.txt"));
      await demand(200, ask("PATCH", `/api/collections/tasks/${record.id}`, upload()));
      const spare = await created("spare");
      const user = await on.signUp(tenant, "someone");
      await everywhere();
      const at = (path: string): string => `/api/collections/tasks${path}`;

      const table: [string, () => Promise<unknown>, string[]][] = [
        ["list", () => demand(200, ask("GET", at(""))), ["beforeRequest tasks", "beforeList tasks"]],
        ["view", () => demand(200, ask("GET", at(`/${record.id}`))), ["beforeRequest tasks", "beforeView tasks"]],
        ["create", () => created(), ["beforeRequest tasks", "beforeCreate tasks", "afterCreate tasks"]],
        ["update", () => demand(200, ask("PATCH", at(`/${record.id}`), { body: { title: "b" } })), ["beforeRequest tasks", "beforeUpdate tasks", "afterUpdate tasks"]],
        ["delete", () => demand(204, ask("DELETE", at(`/${spare.id}`))), ["beforeRequest tasks", "beforeDelete tasks", "afterDelete tasks"]],
        ["download", () => demand(200, ask("GET", at(`/${record.id}/files/cover`))), []],
        ["a collection without hooks", () => demand(201, ask("POST", "/api/collections/quiet", { body: { title: "q" } })), ["beforeRequest quiet"]],
        ["register", () => demand(201, ask("POST", "/api/auth/register", { body: { tenant: "acme", username: "fresh", password: testPassword } })), ["beforeRequest users", "beforeRegister users", "afterRegister users"]],
        ["login", () => demand(200, on.login(tenant, "someone")), ["beforeRequest users", "beforeLogin users", "afterLogin users"]],
        ["refresh", () => demand(200, ask("POST", "/api/auth/refresh", { body: { refreshToken: user.refreshToken } })), ["beforeRequest users", "beforeRefresh users", "afterRefresh users"]],
        ["me", () => demand(200, ask("GET", "/api/auth/me", { token: user.token })), ["beforeRequest users"]],
        ["issue-token", () => demand(200, ask("POST", "/api/auth/issue-token", { token: issuer.token, body: { userId: user.id } })), ["beforeRequest users", "afterLogin users"]],
        ["logout", () => demand(204, ask("POST", "/api/auth/logout", { token: user.token })), ["beforeRequest users"]],
        ["an unknown collection", () => demand(404, ask("GET", "/api/collections/nowhere")), []],
        ["health", () => demand(200, ask("GET", "/health")), []],
        ["file delete", () => demand(204, ask("DELETE", at(`/${record.id}/files/cover`))), []],
      ];
      for (const [name, run, events] of table) expect((await firedBy(run)).sort(), name).to.deep.equal([...events].sort());
    });

    it("creation through the admin editor fires create events and no register events", async () => {
      await everywhere();
      const fired = await firedBy(() => demand(201, on.meta("POST", base("/users"), { username: "edited", password: testPassword })));
      expect(fired).to.include.members(["beforeCreate users", "afterCreate users"]);
      expect(fired.join()).not.to.contain("Register");
    });

    it("a login that is refused fires no after-event, and a rule that flatly denies reaches no event hook", async () => {
      await on.createCollection(tenant, { name: "closed", fields: [{ name: "title", type: "TEXT" }] });
      await everywhere();
      await add({ event: "beforeCreate", collection: "closed" });
      expect(await firedBy(() => demand(401, ask("POST", "/api/auth/login", { body: { tenant: "acme", username: "issuer", password: "wrong password here" } })))).to.deep.equal(["beforeRequest users", "beforeLogin users"]);
      expect(await firedBy(() => demand(403, ask("POST", "/api/collections/closed", { token: issuer.token, body: { title: "x" } })))).to.deep.equal(["beforeRequest closed"]);
    });

    it("beforeRequest fires before registration also where that is off", async () => {
      await add({ event: "beforeRequest" });
      await demand(200, settings({ selfRegistration: false }));
      const refused = await firedBy(() => demand(403, ask("POST", "/api/auth/register", { body: { tenant: "acme", username: "early", password: testPassword } })));
      await demand(200, settings({ selfRegistration: true }));
      expect(refused).to.deep.equal(["beforeRequest users"]);
    });

    it("file routes run beforeRequest only where Also guard file routes is on, and never an event of the collection", async () => {
      const record = await created();
      const { body, headers } = form(file("cover", "hello", "a.txt"));
      await demand(200, ask("PATCH", `/api/collections/tasks/${record.id}`, { body, headers }));
      await everywhere();
      await demand(200, settings({ guardFileRoutes: true }));
      const path = `/api/collections/tasks/${record.id}/files/cover`;
      try {
        expect(await firedBy(() => demand(200, ask("GET", path)))).to.deep.equal(["beforeRequest tasks"]);
        receiver.answer = json({ continue: false, error: { status: 418, message: "no" } });
        expect((await ask("GET", path)).body).to.deep.equal({ status: 418, message: "no" });
        receiver.answer = empty();
        expect(await firedBy(() => demand(204, ask("DELETE", path)))).to.deep.equal(["beforeRequest tasks"]);
      } finally {
        await demand(200, settings({ guardFileRoutes: false }));
      }
    });

    it("a key that bypasses rules still fires hooks; one that bypasses hooks fires none anywhere", async () => {
      const record = await created();
      await everywhere();
      const key = async (flags: object): Promise<string> => (await demand(201, on.meta("POST", base("/api-keys"), { name: "k", userId: issuer.id, ...flags }))).body.key;
      const rules = await key({ bypassRules: true });
      const hooks = await key({ bypassHooks: true });
      const all = (token: string) => async () => {
        await demand(200, ask("GET", "/api/collections/tasks", { token }));
        await demand(200, ask("GET", `/api/collections/tasks/${record.id}`, { token }));
        await demand(201, ask("POST", "/api/collections/tasks", { token, body: { title: "x" } }));
        await demand(200, ask("PATCH", `/api/collections/tasks/${record.id}`, { token, body: { title: "y" } }));
        await demand(200, ask("GET", "/api/auth/me", { token }));
        await demand(200, ask("POST", "/api/auth/issue-token", { token, body: { userId: issuer.id } }));
      };
      expect(await firedBy(all(hooks))).to.deep.equal([]);
      expect((await firedBy(all(rules))).length).to.equal(13);
    });
  });

  describe("what a client gets", () => {
    it("a hook's refusal: its status and its error object, without hook-protocol fields", async () => {
      await add({ event: "beforeCreate", collection: "tasks" });
      receiver.answer = json({ continue: false, error: { status: 422, message: "not today", detail: { a: 1 } } });
      const answer = await ask("POST", "/api/collections/tasks", { body: { title: "x" } });
      expect(answer.status).to.equal(422);
      expect(answer.body).to.deep.equal({ status: 422, message: "not today", detail: { a: 1 } });
    });

    it("a refusal with 401 carries WWW-Authenticate like every 401", async () => {
      await add({ event: "beforeCreate", collection: "tasks" });
      receiver.answer = json({ continue: false, error: { status: 401, message: "sign in" } });
      const answer = await ask("POST", "/api/collections/tasks", { body: { title: "x" } });
      expect([answer.status, answer.headers["www-authenticate"]]).to.deep.equal([401, "Bearer"]);
    });

    it("a hook's body in place of its own, validated like a client's", async () => {
      await add({ event: "beforeCreate", collection: "tasks" });
      receiver.answer = json({ data: { body: { title: "rewritten" } } });
      expect((await created("x")).title).to.equal("rewritten");
      receiver.answer = json({ data: { body: { title: 7, nope: 1 } } });
      const answer = await ask("POST", "/api/collections/tasks", { body: { title: "x" } });
      expect(answer.status).to.equal(400);
      expect(answer.body.map(({ field }: { field: string }) => field).sort()).to.deep.equal(["nope", "title"]);
    });

    it("recordId in beforeCreate is the id of the record that is made", async () => {
      await add({ event: "beforeCreate", collection: "tasks" });
      const record = await created();
      const { envelope } = receiver.received[0]!;
      expect(envelope.context.recordId).to.equal(record.id);
      expect(envelope.data).to.deep.equal({ body: { id: record.id, title: "a" }, record: null });
    });

    it("502 where the hook cannot be asked, and nothing is written", async () => {
      await add({ event: "beforeCreate", collection: "tasks" });
      receiver.answer = (_received, _response, request) => void request.socket.resetAndDestroy();
      const before = (await demand(200, ask("GET", "/api/collections/tasks?count=true"))).body.total;
      expect((await ask("POST", "/api/collections/tasks", { body: { title: "x" } })).status).to.equal(502);
      expect((await demand(200, ask("GET", "/api/collections/tasks?count=true"))).body.total).to.equal(before);
    });

    it("after-hooks that fail or hang change neither the answer nor when it comes", async () => {
      await add({ event: "afterCreate", collection: "tasks" });
      receiver.answer = () => undefined;
      const record = await created();
      await receiver.count(1);
      expect(receiver.received[0]?.envelope.data.record).to.include({ id: record.id, title: "a" });
      receiver.received.length = 0;
      receiver.answer = empty(500);
      await created();
      await receiver.count(1);
    });

    it("a beforeRegister hook can rewrite the account, but not its password, role or verification", async () => {
      await add({ event: "beforeRegister" });
      receiver.answer = json({ data: { body: { username: "renamed", password: "another password!", role: "admin", emailVerified: true } } });
      const { body } = await demand(201, ask("POST", "/api/auth/register", { body: { tenant: "acme", username: "asked", password: testPassword } }));
      expect(body).to.include({ username: "renamed", emailVerified: false });
      receiver.answer = empty();
      await demand(200, on.login(tenant, "renamed"));
      expect((await on.login(tenant, "renamed", "another password!")).status).to.equal(401);
    });

    it("an address that a beforeUpdate hook sets needs the proof that a client's needs", async () => {
      const at = "/api/collections/users";
      const user = await on.signUp(tenant, "moved");
      const read = () => on.request("GET", `${at}/${user.id}`, { token: user.token });
      await add({ event: "beforeUpdate", collection: "users" });
      receiver.answer = json({ data: { body: { email: "hook@example.org" } } });
      const bare = await on.request("PATCH", `${at}/${user.id}`, { token: user.token, body: {} });
      expect([bare.status, bare.body[0]?.field]).to.deep.equal([400, "oldPassword"]);
      await demand(200, on.meta("PATCH", base("/collections/users"), { updateRule: "@auth.id != null" }));
      expect((await on.request("PATCH", `${at}/${user.id}`, { token: issuer.token, body: {} })).status).to.equal(403);
      await demand(200, on.meta("PATCH", base("/collections/users"), { updateRule: "id = @auth.id" }));
      expect((await read()).body.email).to.equal(null);
      const proven = await demand(200, on.request("PATCH", `${at}/${user.id}`, { token: user.token, body: { oldPassword: user.password } }));
      expect(proven.body).to.include({ email: "hook@example.org", emailVerified: false });
    });

    it("beforeLogin with issueTokenFor signs the user in; the answer is a token pair and nothing else", async () => {
      await add({ event: "beforeLogin" });
      receiver.answer = json({ continue: false, issueTokenFor: { userId: issuer.id } });
      const { body } = await demand(200, ask("POST", "/api/auth/login", { body: { tenant: "acme", username: "whoever", password: "whatever it may be" } }));
      expect(body).to.have.all.keys("accessToken", "refreshToken", "tokenType", "expiresIn");
      expect((await demand(200, ask("GET", "/api/auth/me", { token: body.accessToken }))).body.id).to.equal(issuer.id);
    });

    it("handlers in process stand in the same chain", async () => {
      await add({ event: "beforeCreate", collection: "tasks", priority: 1 });
      receiver.answer = ({ envelope }, response) => json({ data: { body: { title: `${(envelope.data.body as { title: string }).title} web` } } })(undefined as never, response);
      const off = on.service.on("beforeCreate", { tenant: "acme", collection: "tasks" }, ({ data }) => ({ data: { body: { title: `${(data.body as { title: string }).title} local` } } }));
      expect((await created("a")).title).to.equal("a local web");
      off();
      expect((await created("a")).title).to.equal("a web");
    });

    it("no password, hash or token of anybody reaches a hook or the logs", async () => {
      for (const event of ["beforeRequest", "beforeRegister", "afterRegister", "beforeLogin", "afterLogin", "beforeRefresh", "afterRefresh"]) await add({ event });
      for (const event of ["beforeCreate", "afterCreate", "beforeUpdate", "afterUpdate", "beforeDelete", "afterDelete"]) await add({ event, collection: "users" });
      const secret = "A very secret password 123";
      await demand(201, ask("POST", "/api/auth/register", { body: { tenant: "acme", username: "hidden", password: secret } }));
      const pair = (await demand(200, ask("POST", "/api/auth/login", { body: { tenant: "acme", username: "hidden", password: secret } }))).body;
      const next = (await demand(200, ask("POST", "/api/auth/refresh", { body: { refreshToken: pair.refreshToken } }))).body;
      const me = (await demand(200, ask("GET", "/api/auth/me", { token: next.accessToken }))).body;
      await demand(200, ask("PATCH", `/api/collections/users/${me.id}`, { token: next.accessToken, body: { oldPassword: secret, password: `${secret}4` } }));
      await delivered();
      const seen = receiver.received.map(({ raw }) => raw.toString()).join("\n");
      expect(receiver.received.length).to.be.greaterThan(9);
      const logs = JSON.stringify([(await on.meta("GET", base("/hook-log?limit=100"))).body, (await on.meta("GET", base("/request-log?limit=100"))).body, on.logged]);
      for (const hidden of [secret, encodeURIComponent(secret), Buffer.from(secret).toString("base64"), pair.refreshToken, next.accessToken, next.refreshToken, "passwordHash", "$cheap$"]) {
        expect(seen, hidden).not.to.contain(hidden);
        expect(logs, hidden).not.to.contain(hidden);
      }
    });
  });

  describe("meta routes", () => {
    it("are for the superadmin alone", async () => {
      const hook = await add({ event: "beforeList", collection: "tasks" });
      const routes: [string, string][] = [
        ["GET", "/hooks"], ["POST", "/hooks"], ["GET", `/hooks/${hook.id}`], ["PATCH", `/hooks/${hook.id}`], ["DELETE", `/hooks/${hook.id}`],
        ["POST", `/hooks/${hook.id}/test`], ["GET", "/deliveries"], ["GET", "/hook-log"], ["POST", `/hook-log/${hook.id}/redeliver`],
      ];
      for (const [method, path] of routes) {
        for (const token of [undefined, issuer.token]) {
          expect((await on.request(method, base(path), { token, ...(method === "POST" || method === "PATCH" ? { body: {} } : {}) })).status, `${method} ${path}`).to.be.oneOf([401, 403]);
        }
      }
      expect((await on.meta("GET", base(`/hooks/${hook.id}`))).status).to.equal(200);
    });

    it("create, read, list, change and delete; the secret is shown once", async () => {
      const hook = await add({ event: "beforeList", collection: "tasks", headers: { "X-Key": "mine" } });
      expect(hook.secret).to.be.a("string");
      const read = (await demand(200, on.meta("GET", base(`/hooks/${hook.id}`)))).body;
      expect(read).to.deep.include({ secret: null, headers: { "X-Key": "***" }, priority: 0, enabled: true });
      expect((await demand(200, on.meta("GET", base("/hooks")))).body.items).to.deep.equal([read]);
      expect((await demand(200, on.meta("PATCH", base(`/hooks/${hook.id}`), { priority: 3 }))).body).to.include({ priority: 3, secret: null });
      expect((await on.meta("POST", base("/hooks"), { event: "beforeList", collection: "tasks", url: receiver.url, forwardHeaders: "Cookie" })).body).to.deep.equal([{ field: "forwardHeaders", message: "Cookie can never be forwarded: it carries credentials" }]);
      expect((await on.meta("GET", base("/hooks/nope"))).status).to.equal(404);
      await demand(204, on.meta("DELETE", base(`/hooks/${hook.id}`)));
      expect((await on.meta("GET", base(`/hooks/${hook.id}`))).status).to.equal(404);
    });

    it("Test sends a sample, changes nothing and reports; a refused address is 200 with an error", async () => {
      const hook = await add({ event: "beforeCreate", collection: "tasks" });
      receiver.answer = json({ continue: false });
      const before = (await demand(200, ask("GET", "/api/collections/tasks?count=true"))).body.total;
      const { body } = await demand(200, on.meta("POST", base(`/hooks/${hook.id}/test`)));
      expect(body).to.have.all.keys("status", "latencyMs", "signature", "body", "error");
      expect(body).to.include({ status: 200, body: '{"continue":false}', error: null, signature: receiver.received[0]!.headers["x-service-signature"] });
      expect((await demand(200, ask("GET", "/api/collections/tasks?count=true"))).body.total).to.equal(before);
      await demand(200, settings({ webhookAllowlist: [] }));
      const refused = (await demand(200, on.meta("POST", base(`/hooks/${hook.id}/test`)))).body;
      await demand(200, settings({ webhookAllowlist: [receiver.host] }));
      expect(refused).to.include({ status: null, body: null });
      expect(refused.error).to.contain("refused");
      expect(receiver.received).to.have.length(1);
    });

    it("every blocking call and attempt stands in the log, by request id; hook time apart in the request log", async () => {
      await add({ event: "beforeCreate", collection: "tasks" });
      await add({ event: "afterCreate", collection: "tasks" });
      await demand(201, ask("POST", "/api/collections/tasks", { body: { title: "x" }, headers: { "x-request-id": "logged-1" } }));
      await delivered();
      const { items } = (await demand(200, on.meta("GET", base("/hook-log?requestId=logged-1")))).body;
      expect(items.map(({ event, outcome, status, attempt }: Record<string, unknown>) => [event, outcome, status, attempt])).to.deep.equal([["afterCreate", "delivered", 200, 1], ["beforeCreate", "allowed", 200, 1]]);
      expect(items[0]).to.have.all.keys("id", "hookId", "event", "collection", "recordId", "requestId", "deliveryId", "attempt", "startedAt", "durationMs", "status", "outcome");
      const [request] = (await demand(200, on.meta("GET", base("/request-log?requestId=logged-1")))).body.items;
      expect(request.hookMs).to.be.greaterThan(0).and.at.most(request.durationMs + 1);
    });

    it("a dead delivery is listed, and sent again by hand with the id of its log entry", async () => {
      const hook = await add({ event: "afterCreate", collection: "tasks" });
      receiver.answer = empty(410);
      const record = await created();
      await delivered();
      const [dead] = (await demand(200, on.meta("GET", base("/deliveries")))).body.items;
      expect(dead).to.include({ hookId: hook.id, recordId: record.id, state: "dead", attempt: 1 });
      const [entry] = (await demand(200, on.meta("GET", base(`/hook-log?hookId=${hook.id}`)))).body.items;
      expect(entry).to.include({ outcome: "failed", status: 410, deliveryId: dead.id });
      receiver.answer = empty();
      expect((await demand(202, on.meta("POST", base(`/hook-log/${entry.id}/redeliver`)))).body).to.deep.equal({ deliveryId: dead.id });
      await delivered();
      expect(receiver.received.map(({ headers }) => headers["x-service-delivery-id"])).to.deep.equal([dead.id, dead.id]);
      expect((await on.meta("POST", base(`/hook-log/${entry.id}/redeliver`))).status).to.equal(409);
      expect((await on.meta("POST", base("/hook-log/nope/redeliver"))).status).to.equal(404);
      expect((await on.meta("GET", base("/deliveries?state=nope"))).status).to.equal(400);
      expect((await on.meta("GET", base("/deliveries?limit=x"))).status).to.equal(400);
    });
  });

  describe("a process that is killed", () => {
    it("kill -9 between write and delivery loses no after-hook", async function () {
      this.timeout(60_000);
      const folder = await mkdtemp(join(tmpdir(), "hooks-kill-"));
      const first = await startService({ folder });
      const acme = await first.createTenant("acme");
      await first.createCollection(acme, { name: "tasks", fields: [{ name: "title", type: "TEXT" }] });
      await demand(200, first.meta("PATCH", `/api/meta/tenants/${acme.id}/settings`, { webhookAllowlist: [receiver.host] }));
      await demand(201, first.meta("POST", `/api/meta/tenants/${acme.id}/hooks`, { event: "afterCreate", collection: "tasks", url: receiver.url }));
      await first.close();

      // Takes deliveries and never answers, so that the child dies with some begun and the rest untouched.
      receiver.answer = () => undefined;
      const child = spawn(process.execPath, ["--import", "tsx", fileURLToPath(new URL("../support/hook-writer.ts", import.meta.url)), folder, "20"], { stdio: ["ignore", "pipe", "inherit"] });
      let written = "";
      child.stdout.on("data", (chunk: Buffer) => { written += chunk.toString(); });
      while (!written.includes("\n")) await once(child.stdout, "data");
      await receiver.count(1);
      child.kill("SIGKILL");
      await once(child, "exit");
      const ids = JSON.parse(written) as string[];
      expect(ids).to.have.length(20);

      receiver.received.length = 0;
      receiver.answer = empty();
      // Leases of the dead process are over by this clock.
      const second = await startService({ folder, clock: { now: () => Date.now() + 10_000 } });
      await receiver.count(20);
      expect(receiver.received.map(({ envelope }) => envelope.context.recordId).sort()).to.deep.equal([...ids].sort());
      await second.close();
      await rm(folder, { recursive: true, force: true });
    });
  });

  it("the secret of a hook stands in no answer, no log and no delivery", async () => {
    const secret = "marker-of-a-hook-secret";
    expect((await add({ event: "afterCreate", collection: "tasks", secret })).secret).to.equal(null);
    await created();
    await delivered();
    const answers = JSON.stringify([(await on.meta("GET", base("/hook-log"))).body, (await on.meta("GET", base("/hooks"))).body, (await on.meta("GET", base("/deliveries"))).body, on.logged]);
    expect(answers).not.to.contain(secret);
    expect(receiver.received.map(({ raw }) => raw.toString()).join()).not.to.contain(secret);
  });
});
