// Contract 10: everything in code, by the document's own words.
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import express from "express";
import { BatchFailed, NotFound, Unauthorized, ValidationFailed, type Envelope, type TenantHandle } from "../../lib/index.js";
import { send, startService, testPassword, type TestService } from "../support/service.js";

interface Task extends Record<string, unknown> {
  title: string;
  owner: string;
  done: boolean;
}

async function failure(promise: Promise<unknown>): Promise<Error & { status?: number }> {
  return await promise.then(() => { throw new Error("should have been refused"); }, (error: Error & { status?: number }) => error);
}

describe("the service in code", () => {
  let on: TestService;
  let acme: TenantHandle;
  let ann: string;
  let bob: string;

  before(async () => {
    on = await startService();
    await on.service.tenants.create({ slug: "acme", name: "Acme" });
    acme = on.service.tenant("acme");
    ann = (await acme.users.create({ username: "ann", password: testPassword })).id;
    bob = (await acme.users.create({ username: "bob", password: testPassword })).id;
    const own = "owner = @auth.id";
    await acme.collections.create({
      name: "tasks",
      fields: [{ name: "title", type: "TEXT", required: true }, { name: "owner", type: "TEXT" }, { name: "done", type: "BOOLEAN" }, { name: "scan", type: "FILE" }],
      listRule: own, viewRule: own, createRule: own, updateRule: own, deleteRule: own,
    });
  });
  after(() => on.close());

  it("tenants are listed, read, changed and removed", async () => {
    const made = await on.service.tenants.create({ slug: "gone" });
    expect(made).to.have.all.keys("id", "slug", "name", "createdAt", "updatedAt");
    expect((await on.service.tenants.update(made.id, { name: "Gone" })).name).to.equal("Gone");
    expect((await on.service.tenants.list()).map(({ slug }) => slug)).to.include.members(["acme", "gone"]);
    await on.service.tenants.delete(made.id);
    expect(await failure(on.service.tenants.get(made.id))).to.be.instanceOf(NotFound);
    expect(await failure(on.service.tenant("gone").get())).to.include({ status: 404 });
    expect(await failure(on.service.tenants.create({ slug: "Not A Slug" }))).to.be.instanceOf(ValidationFailed);
  });

  it("data names its caller: a user has the user's rights, a guest a guest's, the system no rules", async () => {
    const tasks = acme.as({ userId: ann }).collection<Task>("tasks");
    const made = await tasks.create({ title: "one", owner: ann });
    expect(made).to.include({ title: "one", owner: ann, done: null });
    expect(await tasks.get(made.id)).to.deep.equal(made);
    expect((await tasks.list({ sort: "title:asc", count: true })).total).to.equal(1);
    expect((await tasks.update(made.id, { done: true })).done).to.equal(true);
    expect(await failure(acme.as({ userId: bob }).collection("tasks").get(made.id))).to.include({ status: 404 });
    expect(await failure(acme.as({ userId: ann }).collection("tasks").create({ title: "x", owner: bob }))).to.include({ status: 403 });
    expect(await failure(acme.as("guest").collection("tasks").list())).to.include({ status: 401 });
    expect((await acme.as("system").collection<Task>("tasks").get(made.id)).id).to.equal(made.id);
    expect(await failure(acme.as("system").collection("tasks").create({}))).to.be.instanceOf(ValidationFailed);
    expect(await failure(tasks.update(made.id, { done: false }, { ifMatch: '"1"' }))).to.include({ status: 412 });
    await tasks.delete(made.id);
    expect(await failure(tasks.get(made.id))).to.be.instanceOf(NotFound);
    expect(await failure(acme.as({ userId: "nobody" }).collection("tasks").list())).to.include({ status: 404 });
    expect(await failure(acme.as("system").collection("nosuch").list())).to.include({ status: 404 });
  });

  it("a batch is all or nothing, and tells which request failed", async () => {
    const data = acme.as({ userId: ann });
    const error = await failure(data.batch([
      { method: "POST", collection: "tasks", body: { title: "a", owner: ann } },
      { method: "POST", collection: "tasks", body: { title: "b", owner: bob } },
    ]));
    expect(error).to.be.instanceOf(BatchFailed);
    expect(error).to.include({ index: 1, status: 403 });
    expect((await data.collection("tasks").list()).items).to.deep.equal([]);
    const [result] = await data.batch([{ method: "POST", collection: "tasks", body: { title: "a", owner: ann } }]);
    expect(result).to.include({ status: 201 });
  });

  it("files go in and out as streams", async () => {
    const data = acme.as({ userId: ann });
    const { id } = await data.collection("tasks").create({ title: "with a file", owner: ann });
    const stored = await data.files.upload("tasks", id, "scan", { name: "note.txt", stream: Readable.from([Buffer.from("hello")]) });
    expect(stored["scan"]).to.include({ name: "note.txt", size: 5 });
    const { stream, headers } = await data.files.read("tasks", id, "scan");
    expect((await buffer(stream)).toString()).to.equal("hello");
    expect(headers["X-Content-Type-Options"] ?? headers["x-content-type-options"]).to.equal("nosniff");
    expect(await failure(acme.as({ userId: bob }).files.read("tasks", id, "scan"))).to.include({ status: 404 });
    await data.files.delete("tasks", id, "scan");
    expect(await failure(data.files.read("tasks", id, "scan"))).to.include({ status: 404 });
  });

  it("subscribe is an async iterator under the caller's rules, which begins with the call", async () => {
    const mine = acme.as({ userId: ann }).collection<Task>("tasks").subscribe();
    const theirs = acme.as({ userId: bob }).collection<Task>("tasks").subscribe();
    const first = mine.next();
    const other = theirs.next();
    await acme.as("guest").collection("tasks").list().catch(() => undefined);
    const made = await acme.as("system").collection<Task>("tasks").create({ title: "seen", owner: ann });
    const forBob = await acme.as("system").collection<Task>("tasks").create({ title: "for bob", owner: bob });
    expect((await first).value).to.deep.include({ action: "create", record: made });
    expect((await other).value).to.deep.include({ action: "create", record: forBob });
    await mine.return?.();
    await theirs.return?.();
  });

  it("the tenant's management: collections, users, auth, keys, hooks, settings", async () => {
    expect((await acme.collections.list()).map(({ name }) => name)).to.include.members(["users", "tasks"]);
    expect(await failure(acme.collections.delete("users"))).to.include({ status: 400 });
    expect((await acme.settings.update({ selfRegistration: true })).selfRegistration).to.equal(true);
    const eve = await acme.auth.register({ username: "eve", password: testPassword });
    expect(eve).to.include({ username: "eve" });
    const pair = await acme.auth.login({ username: "eve", password: testPassword });
    expect(pair).to.have.all.keys("accessToken", "refreshToken", "tokenType", "expiresIn");
    expect((await acme.auth.refresh({ refreshToken: pair.refreshToken })).tokenType).to.equal("Bearer");
    expect(await acme.auth.me({ userId: eve.id })).to.not.have.property("role");
    await acme.auth.logout({ userId: eve.id });
    expect(await failure(acme.auth.login({ username: "eve", password: "wrong" }))).to.be.instanceOf(Unauthorized);
    const key = await acme.apiKeys.create({ name: "machine", userId: ann });
    expect(key.key).to.match(/^pk_[A-Za-z0-9_-]{43}$/);
    expect((await acme.apiKeys.list())[0]).to.not.have.property("key");
    await acme.apiKeys.revoke(key.id);
    expect((await acme.apiKeys.get(key.id)).status).to.equal("revoked");
    await acme.apiKeys.delete(key.id);
    expect(await failure(acme.hooks.create({ event: "beforeCreate", collection: "tasks", url: "http://127.0.0.1/" }))).to.include({ status: 400 });
    expect(await acme.hooks.list()).to.deep.equal([]);
  });

  it("hooks in process get the envelope and answer as a webhook does", async () => {
    const heard: Envelope[] = [];
    const off = [
      on.service.on("beforeCreate", { tenant: "acme", collection: "tasks" }, (envelope) => {
        heard.push(envelope);
        const body = envelope.data.body as { title?: string };
        if (body.title === "no") return { continue: false, error: { status: 422, message: "not that" } };
        return { data: { body: { ...body, title: `${body.title}!` } } };
      }),
      on.service.on("beforeCreate", { tenant: "other" }, () => ({ continue: false })),
    ];
    const made = await acme.as({ userId: ann }).collection<Task>("tasks").create({ title: "yes", owner: ann });
    expect(made.title).to.equal("yes!");
    expect(heard[0]!.service).to.include({ version: 1, event: "beforeCreate" });
    expect(heard[0]!.context).to.deep.include({ collection: "tasks", recordId: made.id, auth: { id: ann, role: "user" } });
    const refused = await failure(acme.as({ userId: ann }).collection("tasks").create({ title: "no", owner: ann }));
    expect(refused).to.include({ status: 422, message: "not that" });
    off.forEach((end) => end());
    expect((await acme.as({ userId: ann }).collection<Task>("tasks").create({ title: "no", owner: ann })).title).to.equal("no");
  });

  it("identify tells the caller of a host's own request, and requireUser lets users alone through", async () => {
    const app = express();
    app.get("/whoami", (req, res, next) => {
      on.service.identify(req).then(({ type, tenant, user, key }) => res.json({ type, tenant: tenant?.slug ?? null, user: user?.id ?? null, key: key?.name ?? null }), next);
    });
    app.get("/members", on.service.requireUser(), (req, res) => {
      res.json({ user: (req as { records?: { user: { id: string } } }).records?.user.id });
    });
    app.use((error: { status?: number }, _req: unknown, res: express.Response, _next: unknown) => {
      res.status(error.status ?? 500).json({});
    });
    const server = createServer(app);
    await once(server.listen(0, "127.0.0.1"), "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { accessToken } = await acme.auth.login({ username: "ann", password: testPassword });
    const { key } = await acme.apiKeys.create({ name: "robot", userId: bob });
    expect((await send(`${url}/whoami`, "GET", { token: accessToken })).body).to.deep.equal({ type: "user", tenant: "acme", user: ann, key: null });
    expect((await send(`${url}/whoami`, "GET", { token: key })).body).to.deep.equal({ type: "apiKey", tenant: "acme", user: bob, key: "robot" });
    expect((await send(`${url}/whoami`, "GET")).body).to.deep.equal({ type: "guest", tenant: null, user: null, key: null });
    expect((await send(`${url}/whoami`, "GET", { token: await on.superadminToken(), tenant: "acme" })).body).to.deep.equal({ type: "superadmin", tenant: "acme", user: null, key: null });
    expect((await send(`${url}/whoami`, "GET", { token: "nonsense" })).status).to.equal(401);
    expect((await send(`${url}/members`, "GET", { token: accessToken })).body).to.deep.equal({ user: ann });
    const guest = await send(`${url}/members`, "GET");
    expect([guest.status, guest.headers["www-authenticate"], guest.body]).to.deep.equal([401, "Bearer", { error: "Unauthorized" }]);
    server.closeAllConnections();
    server.close();
  });

  it("a second close is harmless, and afterwards requests are refused", async () => {
    const other = await startService();
    await Promise.all([other.service.close(), other.service.close()]);
    expect((await other.request("GET", "/api/collections/x", { tenant: "y" })).status).to.equal(503);
    await other.close();
  });
});
