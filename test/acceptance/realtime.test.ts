// Acceptance: realtime over Server-Sent Events.
import { expect } from "chai";
import { openStream, post, type TestStream } from "../support/event-stream.js";
import { demand } from "../support/service.js";
import { startBackend, type Account, type Backend, type Tenant } from "./backend.js";

describe("acceptance: realtime", () => {
  let backend: Backend;
  let tenant: Tenant;
  let ann: Account;
  let bob: Account;
  const open: TestStream[] = [];
  before(async () => {
    backend = await startBackend();
    tenant = await backend.tenant("acme");
    ann = await tenant.account("ann");
    bob = await tenant.account("bob");
    const fields = [{ name: "title", type: "TEXT" }, { name: "owner", type: "RELATION", collection: "users" }];
    const own = "owner = @auth.id";
    await tenant.collection({ name: "tasks", fields, listRule: own, viewRule: own, createRule: own, updateRule: own, deleteRule: own });
    await tenant.collection({ name: "open", fields, listRule: "true", viewRule: "true", createRule: "true", updateRule: "true", deleteRule: "true" });
    await tenant.collection({ name: "quiet", fields, realtime: false, viewRule: "true" });
    await tenant.collection({ name: "closed", fields });
  });
  afterEach(() => open.splice(0).forEach((stream) => stream.close()));
  after(() => backend.stop());
  const connect = async () => {
    const stream = await openStream(backend.url);
    open.push(stream);
    return stream;
  };
  const bearer = (account: { token: string }) => `Bearer ${account.token}`;
  const write = (method: string, path: string, body: unknown, token: string) => backend.call(method, `/api/collections/${path}`, { body, token });
  const subscribed = async (account: { token: string }, subscriptions: string[]) => {
    const stream = await connect();
    const answer = await stream.subscribe(bearer(account), subscriptions);
    expect(answer).to.deep.equal({ status: 200, body: { subscriptions } });
    return stream;
  };

  it("connect: unauthenticated, text/event-stream, the first event carries a UUID", async () => {
    const stream = await connect();
    expect(stream.headers["content-type"]).to.match(/^text\/event-stream/);
    expect(stream.headers["cache-control"]).to.contain("no-store");
    expect(stream.headers["x-accel-buffering"]).to.equal("no");
    expect(stream.events[0]!.event).to.equal("connect");
    expect(Object.keys(stream.events[0]!.data)).to.deep.equal(["clientId"]);
    expect(stream.clientId).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
  });

  it("an invalid credential is not looked at on connect", async () => {
    const stream = await openStream(backend.url, { authorization: "Bearer junk" });
    open.push(stream);
    expect(stream.clientId).to.be.a("string");
  });

  it("create, update, delete: the collection's name, a change id, action and the record as GET by id", async () => {
    const stream = await subscribed(ann, ["tasks"]);
    const made = (await demand(201, write("POST", "tasks", { title: "one", owner: ann.id }, ann.token))).body;
    const created = await stream.next();
    expect([created.event, created.data]).to.deep.equal(["tasks", { action: "create", record: made }]);
    expect(created.id).to.be.a("string");
    const changed = (await demand(200, write("PATCH", `tasks/${made.id}`, { title: "two" }, ann.token))).body;
    expect((await stream.next()).data).to.deep.equal({ action: "update", record: changed });
    await demand(204, write("DELETE", `tasks/${made.id}`, undefined, ann.token));
    expect((await stream.next()).data).to.deep.equal({ action: "delete", record: changed });
  });

  it("only records that the subscriber's viewRule shows, for each of two subscribers", async () => {
    const [annas, bobs] = [await subscribed(ann, ["tasks", "open"]), await subscribed(bob, ["tasks", "open"])];
    const hers = (await demand(201, write("POST", "tasks", { title: "hers", owner: ann.id }, ann.token))).body;
    const his = (await demand(201, write("POST", "tasks", { title: "his", owner: bob.id }, bob.token))).body;
    await demand(201, write("POST", "open", { title: "end" }, ann.token));
    for (const [stream, record] of [[annas, hers], [bobs, his]] as const) {
      expect((await stream.next()).data.record).to.deep.equal(record);
      expect((await stream.next()).event).to.equal("open");
    }
  });

  it("one record: collection/id", async () => {
    const first = (await demand(201, write("POST", "open", { title: "a" }, ann.token))).body;
    const second = (await demand(201, write("POST", "open", { title: "b" }, ann.token))).body;
    const stream = await subscribed(ann, [`open/${second.id}`]);
    await write("PATCH", `open/${first.id}`, { title: "a2" }, ann.token);
    await write("PATCH", `open/${second.id}`, { title: "b2" }, ann.token);
    expect((await stream.next()).data.record).to.include({ id: second.id, title: "b2" });
  });

  it("a subscribe replaces the former set; an empty set is 200 and silence", async () => {
    const stream = await subscribed(ann, ["tasks"]);
    expect(await stream.subscribe(bearer(ann), [])).to.deep.equal({ status: 200, body: { subscriptions: [] } });
    await demand(201, write("POST", "tasks", { title: "unseen", owner: ann.id }, ann.token));
    expect((await stream.subscribe(bearer(ann), ["open"])).status).to.equal(200);
    await demand(201, write("POST", "open", { title: "seen" }, ann.token));
    expect((await stream.next()).data.record).to.include({ title: "seen" });
  });

  describe("refused subscribes", () => {
    it("no or bad credential 401, unknown clientId 404, another user's stream 403", async () => {
      const stream = await subscribed(ann, ["tasks"]);
      for (const credential of [undefined, "Bearer junk", "Bearer pk_junk"]) expect((await stream.subscribe(credential, ["tasks"])).status).to.equal(401);
      expect((await post(backend.url, bearer(ann), { clientId: "00000000-0000-4000-8000-000000000000", subscriptions: [] })).status).to.equal(404);
      expect((await stream.subscribe(bearer(bob), ["tasks"])).status).to.equal(403);
      expect((await stream.subscribe(bearer(ann), ["tasks"])).status).to.equal(200);
    });

    it("unknown collection 404, users 400, realtime off 400", async () => {
      const stream = await connect();
      for (const [name, status] of [["nothing", 404], ["users", 400], [`users/${ann.id}`, 400], ["quiet", 400]] as const) {
        const answer = await stream.subscribe(bearer(ann), [name]);
        expect(answer.status, name).to.equal(status);
        expect(answer.body).to.have.all.keys("error");
      }
    });

    it("wrong shapes 400", async () => {
      const stream = await connect();
      const { clientId } = stream;
      for (const body of [{}, { clientId }, { clientId, subscriptions: "tasks" }, { clientId, subscriptions: [1] }, { clientId: 7, subscriptions: [] }, { subscriptions: [] }, { clientId, subscriptions: Array.from({ length: 101 }, () => "tasks") }, { clientId, subscriptions: [], since: 7 }, []]) {
        expect([400, 404], JSON.stringify(body).slice(0, 80)).to.include((await post(backend.url, bearer(ann), body as never)).status);
      }
      expect((await post(backend.url, bearer(ann), "{")).status).to.equal(400);
      expect((await stream.subscribe(bearer(ann), Array.from({ length: 100 }, () => "tasks"))).status).to.equal(200);
    });
  });

  describe("since", () => {
    it("replays what was missed, in order, once, and goes on live", async () => {
      const first = await subscribed(ann, ["tasks"]);
      const make = async (title: string, owner = ann) => (await demand(201, write("POST", "tasks", { title, owner: owner.id }, owner.token))).body;
      await make("seen");
      const { id: since } = await first.next();
      first.close();
      await make("missed 1");
      await make("bob's", bob);
      await make("missed 2");
      const second = await connect();
      expect((await second.subscribe(bearer(ann), ["tasks"], { since: since! })).status).to.equal(200);
      await make("live");
      const got = [await second.next(), await second.next(), await second.next()];
      expect(got.map(({ data }) => data.record?.["title"])).to.deep.equal(["missed 1", "missed 2", "live"]);
    });

    it("an unknown since: an event resync", async () => {
      const stream = await connect();
      expect((await stream.subscribe(bearer(ann), ["tasks"], { since: "nothing" })).status).to.equal(200);
      expect((await stream.next()).event).to.equal("resync");
    });
  });

  describe("ends", () => {
    it("subscribe again with a refreshed token keeps the stream", async () => {
      const stream = await subscribed(bob, ["open"]);
      const pair = (await demand(200, backend.call("POST", "/api/auth/refresh", { body: { refreshToken: bob.refreshToken } }))).body;
      expect((await stream.subscribe(`Bearer ${pair.accessToken}`, ["open"])).status).to.equal(200);
      await demand(201, write("POST", "open", { title: "on" }, ann.token));
      expect((await stream.next()).data.record).to.include({ title: "on" });
    });

    it("password change, email change, user deleted, user made inactive: closed", async () => {
      const { password } = await import("./backend.js");
      const ends: [string, (account: Account) => Promise<unknown>][] = [
        ["password", ({ id, token }) => write("PATCH", `users/${id}`, { password: "another long password", oldPassword: password }, token)],
        ["email", ({ id, token }) => write("PATCH", `users/${id}`, { email: "x@example.org", oldPassword: password }, token)],
        ["deleted", ({ id }) => backend.call("DELETE", `/api/collections/users/${id}`, { token: backend.adminToken, tenant: "acme" })],
        ["inactive", ({ id }) => tenant.meta("PATCH", `/users/${id}`, { active: false })],
      ];
      for (const [name, end] of ends) {
        const account = await tenant.account(`ending-${name}`);
        const stream = await subscribed(account, ["open"]);
        const answer = (await end(account)) as { status: number; text: string };
        expect(answer.status, `${name}: ${answer.text}`).to.be.within(200, 204);
        await stream.ended;
        expect((await backend.call("GET", "/api/auth/me", { token: account.token })).status, name).to.equal(401);
      }
    });

    it("a collection that is closed or removed delivers nothing more", async () => {
      await tenant.collection({ name: "passing", fields: [{ name: "title", type: "TEXT" }], viewRule: "true", createRule: "true" });
      const stream = await subscribed(ann, ["passing", "open"]);
      await demand(200, tenant.meta("PATCH", "/collections/passing", { viewRule: null }));
      await demand(201, write("POST", "passing", { title: "hidden" }, ann.token));
      await demand(201, write("POST", "open", { title: "shown" }, ann.token));
      expect((await stream.next()).data.record).to.include({ title: "shown" });
    });
  });

  it("a batch's and a file's changes are delivered, users' never", async () => {
    const stream = await subscribed(ann, ["open"]);
    await demand(200, backend.call("POST", "/api/batch", { token: ann.token, body: { requests: [{ method: "POST", collection: "open", body: { title: "b1" } }, { method: "POST", collection: "open", body: { title: "b2" } }] } }));
    expect([(await stream.next()).data.record?.["title"], (await stream.next()).data.record?.["title"]]).to.deep.equal(["b1", "b2"]);
    await tenant.account("silent");
    await demand(201, write("POST", "open", { title: "after" }, ann.token));
    expect((await stream.next()).data.record).to.include({ title: "after" });
  });

  it("a superadmin may subscribe for the tenant that he names, without rules", async () => {
    const stream = await connect();
    const response = await backend.call("POST", "/api/realtime/subscribe", { token: backend.adminToken, tenant: "acme", body: { clientId: stream.clientId, subscriptions: ["closed"] } });
    expect(response.status, response.text).to.equal(200);
    const record = (await demand(201, backend.call("POST", "/api/collections/closed", { token: backend.adminToken, tenant: "acme", body: { title: "by root" } }))).body;
    expect((await stream.next()).data).to.deep.equal({ action: "create", record });
  });
});
