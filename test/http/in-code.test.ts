// Contract 10: everything works in code as over HTTP, always in the name of a caller.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text as readText } from "node:stream/consumers";
import { expect } from "chai";
import { BadRequest, createRecordsService, type RecordsService, type TenantHandle } from "../../lib/index.js";
import { cheapHasher, demand, startService, testPassword, type TestService } from "../support/service.js";

interface Note extends Record<string, unknown> {
  title: string;
  owner: string | null;
}

describe("in code", () => {
  let on: TestService;
  let records: RecordsService;
  let acme: TenantHandle;
  let alice: string;
  let bob: string;

  before(async () => {
    on = await startService({ host: (app) => {
      const mount = process.env["TEST_MOUNT"] ?? "";
      app.get(`${mount}/own/who`, async (req, res) => {
        try {
          res.json(await records.identify(req));
        } catch (error) {
          const { status, message } = error as { status: number; message: string };
          res.status(status).json({ error: message });
        }
      });
      app.get(`${mount}/own/users`, (req, res, next) => records.requireUser()(req, res, next), (_req, res) => void res.json({ passed: true }));
    } });
    records = on.service;
    await records.tenants.create({ slug: "acme", name: "Acme" });
    acme = records.tenant("acme");
    alice = (await acme.users.create({ username: "alice", password: testPassword, email: "alice@example.org" })).id;
    bob = (await acme.users.create({ username: "bob", password: testPassword })).id;
    const own = "owner = @auth.id";
    await acme.collections.create({
      name: "notes", fields: [{ name: "title", type: "TEXT", required: true }, { name: "owner", type: "TEXT" }, { name: "file", type: "FILE" }],
      listRule: own, viewRule: own, createRule: own, updateRule: own, deleteRule: own,
    });
  });
  after(() => on.close());

  /** The error that a call ends with. */
  async function failure(call: Promise<unknown>): Promise<{ status: number; body: unknown; message: string; name: string }> {
    try {
      await call;
    } catch (error) {
      expect(error).to.be.instanceOf(Error);
      return error as never;
    }
    throw new Error("it should have failed");
  }

  describe("data names its caller", () => {
    it("a caller that names nobody is refused with 400, before anything is asked", async () => {
      for (const who of [undefined, null, "root", "superadmin", {}, { userId: 5 }, ["guest"]]) {
        expect(() => acme.as(who as never), JSON.stringify(who)).to.throw().that.includes({ status: 400 });
        expect((await failure(acme.auth.me(who as never))).status, JSON.stringify(who)).to.equal(400);
      }
    });

    it("as a user: the rules of that user", async () => {
      const notes = acme.as({ userId: alice }).collection<Note>("notes");
      const made = await notes.create({ title: "x", owner: alice });
      expect(made).to.include({ title: "x", owner: alice, file: null });
      expect(await notes.get(made.id)).to.deep.equal(made);
      expect((await notes.update(made.id, { title: "y" })).title).to.equal("y");
      expect((await notes.list({ filter: "title:eq:y", count: true })).total).to.equal(1);
      const { body } = await demand(200, on.meta("GET", `/api/collections/notes/${made.id}?tenant=acme`));
      expect(body).to.deep.equal(await notes.get(made.id));
      const others = acme.as({ userId: bob }).collection<Note>("notes");
      expect((await failure(others.get(made.id))).status).to.equal(404);
      expect((await failure(others.update(made.id, { title: "z" }))).status).to.equal(404);
      expect((await failure(others.delete(made.id))).status).to.equal(404);
      expect((await others.list()).items).to.deep.equal([]);
      expect((await failure(others.create({ title: "x", owner: alice }))).status).to.equal(403);
      await notes.delete(made.id);
      expect((await failure(notes.get(made.id))).status).to.equal(404);
    });

    it("as a guest: what anybody may", async () => {
      const notes = acme.as("guest").collection<Note>("notes");
      for (const call of [notes.list(), notes.get("x"), notes.create({ title: "x" }), notes.update("x", {}), notes.delete("x")]) expect((await failure(call)).status).to.equal(401);
    });

    it("as the system: no rules, but validation and hooks", async () => {
      const notes = acme.as("system").collection<Note>("notes");
      const error = await failure(notes.create({ nope: 1 } as never));
      expect(error.status).to.equal(400);
      expect((error.body as { field: string }[]).map(({ field }) => field)).to.have.members(["title", "nope"]);
      const heard: unknown[] = [];
      const end = records.on("beforeCreate", { tenant: "acme", collection: "notes" }, (envelope) => {
        heard.push(envelope.context.auth);
        return { data: { body: { ...(envelope.data.body as object), title: "rewritten" } } };
      });
      const made = await notes.create({ title: "x", owner: "nobody" });
      end();
      expect(made.title).to.equal("rewritten");
      expect(heard).to.have.length(1);
      expect((await notes.list({ filter: "owner:eq:nobody" })).items).to.have.length(1);
    });

    it("there is no default caller, and none that is not one of the three", async () => {
      for (const who of [undefined, null, "admin", {}, { userId: 5 }, "user"]) {
        let thrown: unknown;
        try {
          await acme.as(who as never).collection("notes").list();
        } catch (error) {
          thrown = error;
        }
        expect(thrown, JSON.stringify(who)).to.be.instanceOf(Error);
      }
      expect(acme).not.to.have.property("collection");
    });

    it("an unknown or inactive user is no caller: 404, the same for both", async () => {
      const error = await failure(acme.as({ userId: "01890000-0000-7000-8000-000000000000" }).collection("notes").list());
      expect([error.status, error.message]).to.deep.equal([404, "User not found"]);
      const { id } = await acme.users.create({ username: "away", password: testPassword, active: false });
      expect((await failure(acme.as({ userId: id }).collection("notes").list())).message).to.equal(error.message);
    });

    it("list takes the HTTP parameters by name, and refuses what HTTP refuses", async () => {
      const notes = acme.as("system").collection<Note>("notes");
      const page = await notes.list({ limit: 1, sort: "title:desc", where: 'title ~ "re"', fields: "title" });
      expect(page).to.include({ limit: 1, offset: 0 });
      expect(Object.keys(page.items[0]!)).to.have.members(["id", "title"]);
      for (const bad of [{ limit: "abc" }, { sort: "nope:asc" }, { filter: "title:ne:x" }, { where: "(" }, { cursor: "x" }, { nope: 1 }]) expect((await failure(notes.list(bad as never))).status, JSON.stringify(bad)).to.equal(400);
    });

    it("unknown tenants and collections are 404", async () => {
      expect((await failure(records.tenant("nosuch").as("system").collection("notes").list())).status).to.equal(404);
      expect((await failure(records.tenant("nosuch").collections.list())).status).to.equal(404);
      expect((await failure(acme.as("system").collection("nosuch").list())).status).to.equal(404);
    });

    it("input of a wrong type is 400 or 404, as over HTTP, and never a TypeError", async () => {
      const { files, ...data } = acme.as("system");
      const notes = data.collection<Note>("notes");
      const { id } = await notes.create({ title: "typed", owner: alice });
      for (const wrong of [undefined, null, 5, {}, ["a", "b"], [id]] as never[]) {
        const shown = JSON.stringify(wrong);
        for (const call of [
          () => notes.get(wrong), () => notes.update(wrong, { title: "x" }), () => notes.delete(wrong), () => files.read("notes", wrong, "file"),
          () => acme.users.get(wrong), () => acme.users.delete(wrong), () => acme.apiKeys.get(wrong), () => acme.apiKeys.revoke(wrong),
        ]) expect((await failure(call())).status, `${String(call)} ${shown}`).to.equal(404);
      }
      for (const wrong of [undefined, null, 5, "x", []] as never[]) {
        const shown = JSON.stringify(wrong);
        for (const call of [
          () => notes.create(wrong), () => notes.update(id, wrong), () => acme.users.create(wrong), () => acme.users.update(alice, wrong),
          () => acme.auth.login(wrong), () => acme.auth.refresh(wrong), () => acme.auth.register(wrong), () => acme.apiKeys.create(wrong), () => acme.restore(wrong),
        ]) expect((await failure(call())).status, `${String(call)} ${shown}`).to.equal(400);
      }
      for (const wrong of [{ where: 5 }, { fields: ["title"] }, { expand: {} }, { filter: 5 }, { sort: [] }, { cursor: 5 }, { limit: {} }, 5, "x", []] as never[]) {
        expect((await failure(notes.list(wrong))).status, JSON.stringify(wrong)).to.equal(400);
      }
      const page = await notes.list({ limit: 100 });
      expect(await notes.list({ limit: 100, cursor: null, where: null } as never)).to.deep.equal(page);
      await notes.update(id, { title: "y" }, null as never);
      expect((await failure(notes.update(id, { title: "y" }, { ifMatch: 5 } as never))).status).to.equal(400);
      await notes.delete(id);
    });

    it("ifUnchanged and ifMatch guard update and delete", async () => {
      const notes = acme.as("system").collection<Note>("notes");
      const first = await notes.create({ title: "x", owner: alice });
      const read = await notes.get(first.id);
      const second = await notes.update(first.id, { title: "y" }, { ifUnchanged: read });
      for (const old of [first, read]) {
        expect(await failure(notes.update(first.id, { title: "z" }, { ifUnchanged: old }))).to.include({ status: 412, name: "PreconditionFailed" });
        expect((await failure(notes.delete(first.id, { ifUnchanged: old }))).status).to.equal(412);
      }
      expect(await failure(notes.update(first.id, {}, { ifUnchanged: { ...second } }))).to.include({ status: 400 });
      const { headers } = await on.meta("GET", `/api/collections/notes/${first.id}?tenant=acme`);
      const third = await notes.update(first.id, { title: "z" }, { ifMatch: headers.etag! });
      await notes.delete(first.id, { ifUnchanged: third });
    });

    it("batch: all or nothing", async () => {
      const data = acme.as({ userId: alice });
      const results = await data.batch([{ method: "POST", collection: "notes", body: { title: "b1", owner: alice } }, { method: "POST", collection: "notes", body: { title: "b2", owner: alice } }]);
      expect(results.map(({ status }) => status)).to.deep.equal([201, 201]);
      const error = await failure(data.batch([{ method: "POST", collection: "notes", body: { title: "b3", owner: alice } }, { method: "POST", collection: "notes", body: { title: "b4", owner: bob } }]));
      expect([error.status, (error as unknown as { index: number }).index]).to.deep.equal([403, 1]);
      expect((await data.collection<Note>("notes").list({ filter: "title:eq:b3" })).items).to.deep.equal([]);
    });

    it("the instance's request log is what the meta API lists", async () => {
      await demand(404, on.request("GET", "/api/collections/notes", { tenant: "nobody", headers: { "x-request-id": "of-nobody" } }));
      const { items } = await records.requestLog.list({ requestId: "of-nobody" });
      expect(items.map(({ status, caller }) => [status, caller.type])).to.deep.equal([[404, "guest"]]);
      expect((await demand(200, on.meta("GET", "/api/meta/request-log?requestId=of-nobody"))).body.items).to.deep.equal(items);
      expect((await failure(records.requestLog.list({ limit: "x" }))).status).to.equal(400);
    });

    it("files: upload, read, delete under the rules", async () => {
      const data = acme.as({ userId: alice });
      const { id } = await data.collection<Note>("notes").create({ title: "f", owner: alice });
      const stored = await data.files.upload("notes", id, "file", { name: "a.txt", stream: Readable.from(["con", "tent"]) });
      expect(stored["file"]).to.include({ name: "a.txt", size: 7 });
      expect(await readText((await data.files.read("notes", id, "file")).stream)).to.equal("content");
      expect((await failure(acme.as({ userId: bob }).files.read("notes", id, "file"))).status).to.equal(404);
      expect((await failure(acme.as("guest").files.delete("notes", id, "file"))).status).to.equal(401);
      await data.files.delete("notes", id, "file");
      expect((await failure(data.files.read("notes", id, "file"))).status).to.equal(404);
    });

    it("subscribe: an async iterator of what the caller may see", async () => {
      const system = acme.as("system").collection<Note>("notes");
      const events = acme.as({ userId: alice }).collection<Note>("notes").subscribe();
      const first = events.next();
      await system.create({ title: "bob's", owner: bob });
      const mine = await system.create({ title: "mine", owner: alice });
      const { value } = await first;
      expect([value!.action, value!.record!.id]).to.deep.equal(["create", mine.id]);
      await system.delete(mine.id);
      const removed = (await events.next()).value!;
      expect([removed.action, removed.record!.id]).to.deep.equal(["delete", mine.id]);
      await events.return!();
      expect((await events.next()).done).to.equal(true);
      const refused = acme.as("system").collection("users").subscribe();
      expect((await failure(refused.next())).status).to.equal(400);
      expect(await refused.return?.()).to.include({ done: true });
    });
  });

  describe("management", () => {
    it("tenants: create, get, list, update, delete", async () => {
      const made = await records.tenants.create({ slug: "temporary" });
      expect(await records.tenants.get(made.id)).to.deep.equal(made);
      expect((await records.tenants.list()).map(({ slug }) => slug)).to.include.members(["acme", "temporary"]);
      expect((await records.tenants.update(made.id, { name: "New" })).name).to.equal("New");
      expect(await records.tenant("temporary").get()).to.include({ id: made.id });
      await records.tenants.delete(made.id);
      expect((await failure(records.tenants.get(made.id))).status).to.equal(404);
      expect((await failure(records.tenants.create({ slug: "acme" }))).status).to.equal(400);
      expect((await failure(records.tenants.create({ slug: "A!" }))).status).to.equal(400);
    });

    it("collections and settings: as over HTTP", async () => {
      const made = await acme.collections.create({ name: "things", fields: [{ name: "n", type: "NUMBER" }] });
      expect(made).to.include({ name: "things", listRule: null });
      expect((await demand(200, on.meta("GET", `/api/meta/tenants/${(await acme.get()).id}/collections/things`))).body).to.deep.equal(made);
      expect((await acme.collections.update("things", { listRule: "true" })).listRule).to.equal("true");
      expect((await acme.collections.list()).map(({ name }) => name)).to.include.members(["users", "notes", "things"]);
      await acme.collections.delete("things");
      expect((await failure(acme.collections.get("things"))).status).to.equal(404);
      expect((await failure(acme.collections.create({ name: "1" }))).status).to.equal(400);
      expect((await acme.settings.update({ selfRegistration: true })).selfRegistration).to.equal(true);
      expect((await acme.settings.get()).selfRegistration).to.equal(true);
    });

    it("auth: register, login, refresh, me, logout", async () => {
      const made = await acme.auth.register({ username: "carol", password: testPassword });
      expect(made).to.include({ username: "carol", role: "user" });
      const pair = await acme.auth.login({ username: "carol", password: testPassword });
      expect(pair).to.have.all.keys("accessToken", "refreshToken", "tokenType", "expiresIn");
      expect((await on.request("GET", "/api/auth/me", { token: pair.accessToken })).body.username).to.equal("carol");
      const next = await acme.auth.refresh({ refreshToken: pair.refreshToken });
      expect(await acme.auth.me({ userId: made.id })).not.to.have.property("role");
      await acme.auth.logout({ userId: made.id });
      expect((await failure(acme.auth.refresh({ refreshToken: next.refreshToken }))).status).to.equal(401);
      expect((await failure(acme.auth.login({ username: "carol", password: "wrong password of hers" }))).status).to.equal(401);
    });

    it("API keys and hooks: made, listed, ended", async () => {
      const made = await acme.apiKeys.create({ name: "machine", userId: alice });
      expect(made.key).to.match(/^pk_[A-Za-z0-9_-]{43}$/);
      expect(JSON.stringify(await acme.apiKeys.list())).to.contain(made.id).and.not.contain(made.key);
      await demand(200, on.request("GET", "/api/auth/me", { token: made.key }));
      await acme.apiKeys.revoke(made.id);
      expect((await on.request("GET", "/api/auth/me", { token: made.key })).status).to.equal(401);
      await acme.apiKeys.delete(made.id);
      const hook = await acme.hooks.create({ event: "afterCreate", collection: "notes", url: "https://hooks.example.org/x" }).catch((error: { status: number }) => error);
      if ("id" in hook) await acme.hooks.delete(hook.id as string);
      else expect(hook.status).to.equal(400);
    });

    it("errors are classes with status and a message, and say no more than over HTTP", async () => {
      const error = await failure(acme.as("guest").collection("notes").list());
      expect(error).to.include({ status: 401, name: "Unauthorized" });
      expect(error.body).to.deep.equal({ error: "Unauthorized" });
    });
  });

  describe("identify and requireUser", () => {
    it("tell who made a request of the host's own", async () => {
      const { accessToken } = await acme.auth.login({ username: "alice", password: testPassword });
      const { key } = await acme.apiKeys.create({ name: "machine", userId: alice });
      const who = async (token?: string, tenant?: string) => (await on.request("GET", "/own/who", { token, tenant })).body;
      const user = await who(accessToken);
      expect([user.type, user.tenant.slug, user.user.id, user.key ?? null]).to.deep.equal(["user", "acme", alice, null]);
      const machine = await who(key);
      expect([machine.type, machine.user.id, machine.key.name]).to.deep.equal(["apiKey", alice, "machine"]);
      expect(JSON.stringify([user, machine])).not.to.match(/password|Hash/i);
      expect(await who()).to.include({ type: "guest" });
      expect(await who(await on.superadminToken())).to.include({ type: "superadmin" });
      expect((await on.request("GET", "/own/who", { token: "garbage" })).status).to.equal(401);
      expect((await on.request("GET", "/own/users", { token: accessToken })).body).to.deep.equal({ passed: true });
      for (const token of [undefined, "garbage"]) {
        const answer = await on.request("GET", "/own/users", { token });
        expect([answer.status, answer.body, answer.headers["www-authenticate"]]).to.deep.equal([401, { error: "Unauthorized" }, "Bearer"]);
      }
    });
  });

  it("on(): handlers answer as webhooks do, by priority; the function that is returned ends them", async () => {
    const order: string[] = [];
    const ends = [
      records.on("beforeUpdate", { tenant: "acme" }, () => void order.push("late"), 10),
      records.on("beforeUpdate", { collection: "notes" }, () => void order.push("early"), -10),
      records.on("beforeUpdate", {}, () => ({ continue: false, error: { status: 409, message: "not now" } }), 20),
    ];
    const notes = acme.as("system").collection<Note>("notes");
    const { id } = await notes.create({ title: "h" });
    const error = await failure(notes.update(id, { title: "i" }));
    expect([error.status, order]).to.deep.equal([409, ["early", "late"]]);
    ends.forEach((end) => end());
    expect((await notes.update(id, { title: "i" })).title).to.equal("i");
    expect(() => records.on("nosuch" as never, {}, () => undefined)).to.throw(BadRequest);
  });

  it("createSetupToken resolves to token and expiresAt, 30 minutes from now", async () => {
    const { token, expiresAt } = await records.createSetupToken();
    expect(token).to.be.a("string").with.length.above(20);
    expect(Math.abs(Date.parse(expiresAt) - on.clock.now() - 30 * 60_000)).to.be.below(60_000);
  });

  it("close twice is harmless, at once or later; what comes afterwards is refused clearly", async () => {
    const folder = await mkdtemp(join(tmpdir(), "records-close-"));
    const quiet = () => undefined;
    const service = createRecordsService({ storage: folder, hasher: cheapHasher, logger: { debug: quiet, info: quiet, warn: quiet, error: quiet } });
    await service.ready();
    await service.ready();
    await service.tenants.create({ slug: "acme" });
    const events = service.tenant("acme").as("system").collection("users");
    await Promise.all([service.close(), service.close()]);
    await service.close();
    expect((await failure(events.list())).status).to.equal(503);
    const unused = createRecordsService({ storage: join(folder, "never"), hasher: cheapHasher, logger: { debug: quiet, info: quiet, warn: quiet, error: quiet } });
    await unused.close();
    await rm(folder, { recursive: true, force: true });
  });
});
