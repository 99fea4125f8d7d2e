// Realtime over the whole service: what an event holds, and every way in which a credential ends its streams.
import { expect } from "chai";
import { openStream, until, type TestStream } from "../support/event-stream.js";
import { demand, startService, testPassword, type TestService, type TestTenant, type TestUser } from "../support/service.js";

describe("realtime over HTTP", () => {
  let service: TestService;
  let tenant: TestTenant;
  let alice: TestUser;
  let bob: TestUser;
  const streams: TestStream[] = [];
  let names = 0;

  async function open(token: string, subscriptions: string[] = ["tasks"], headers = {}): Promise<TestStream> {
    const stream = await openStream(service.url, headers);
    streams.push(stream);
    expect(await stream.subscribe(`Bearer ${token}`, subscriptions)).to.deep.equal({ status: 200, body: { subscriptions } });
    return stream;
  }

  async function probe(...staying: TestStream[]): Promise<void> {
    const { body } = await demand(201, service.request("POST", "/api/collections/tasks", { token: bob.token, body: { title: "probe" } }));
    for (const stream of staying) {
      let event = await stream.next();
      while (event.data.record?.id !== body.id) event = await stream.next();
    }
  }

  async function createKey(userId: string, more = {}): Promise<{ id: string; key: string }> {
    return (await demand(201, service.meta("POST", `/api/meta/tenants/${tenant.id}/api-keys`, { name: "test", userId, ...more }))).body;
  }

  const signUp = (): Promise<TestUser> => service.signUp(tenant, `user${(names += 1)}`, { email: `user${names}@example.com` });

  before(async () => {
    service = await startService({ accessTokenTtl: 600 });
    tenant = await service.createTenant();
    await service.createCollection(tenant, {
      name: "tasks", viewRule: "true", createRule: "@auth.id != null", updateRule: "true", deleteRule: "true",
      fields: [{ name: "title", type: "TEXT" }, { name: "owner", type: "TEXT" }, { name: "file", type: "FILE" }],
    });
    alice = await service.signUp(tenant, "alice", { email: "alice@example.com" });
    bob = await service.signUp(tenant, "bob");
  });
  afterEach(() => {
    for (const stream of streams.splice(0)) stream.close();
  });
  after(() => service.close());

  it("181 a stream without a subscribe gets nothing but the connect event", async () => {
    const silent = await openStream(service.url, { authorization: "Bearer of nobody" });
    streams.push(silent);
    await probe(await open(alice.token));
    expect(silent.events).to.have.length(1);
  });

  it("190 an event's record is what GET by id gives, with the links of files", async () => {
    const stream = await open(alice.token);
    const form = new FormData();
    form.set("title", "with a file");
    form.set("file", new Blob(["hello"]), "hello.txt");
    const created = (await (await fetch(`${service.url}/api/collections/tasks`, { method: "POST", headers: { authorization: `Bearer ${alice.token}` }, body: form })).json()) as { id: string };
    const path = `/api/collections/tasks/${created.id}`;
    expect((await stream.next()).data).to.deep.equal({ action: "create", record: (await service.request("GET", path, { token: alice.token })).body });
    await demand(204, service.request("DELETE", `${path}/files/file`, { token: alice.token }));
    const changed = await stream.next();
    expect(changed.data).to.deep.equal({ action: "update", record: (await service.request("GET", path, { token: alice.token })).body });
    await demand(204, service.request("DELETE", path, { token: alice.token }));
    expect((await stream.next()).data).to.deep.equal({ action: "delete", record: changed.data.record });
  });

  it("135 and 198 users are never told, to nobody", async () => {
    const key = await createKey(alice.id, { bypassRules: true });
    for (const token of [alice.token, key.key]) {
      const stream = await openStream(service.url);
      streams.push(stream);
      for (const [entry, status] of [["users", 400], [`users/${alice.id}`, 400], ["Users", 404], ["%75sers", 404], ["users ", 404]] as const) {
        expect((await stream.subscribe(`Bearer ${token}`, ["tasks", entry])).status, entry).to.equal(status);
      }
    }
    expect((await demand(400, service.meta("PATCH", `/api/meta/tenants/${tenant.id}/collections/users`, { realtime: true }))).status).to.equal(400);
  });

  it("185 guests and whoever holds no valid credential are refused with the same 401", async () => {
    const stream = await openStream(service.url);
    streams.push(stream);
    const gone = await createKey(alice.id);
    await demand(204, service.meta("POST", `/api/meta/tenants/${tenant.id}/api-keys/${gone.id}/revoke`));
    const elsewhere = await createKey(alice.id, { allowedCidrs: ["10.0.0.0/8"] });
    const attempts: Record<string, string>[] = [{}, { "x-tenant": tenant.slug }, { cookie: "a=b" }, { authorization: "Bearer x" }, { authorization: `Bearer ${alice.token}x` }, { authorization: `Bearer ${gone.key}` }, { authorization: `Bearer ${elsewhere.key}` }];
    for (const headers of attempts) {
      const answer = await service.request("POST", "/api/realtime/subscribe", { headers, body: { clientId: stream.clientId, subscriptions: ["tasks"] } });
      expect(answer.status, JSON.stringify(headers)).to.equal(401);
      expect(answer.headers["www-authenticate"]).to.equal("Bearer");
      expect(answer.body).to.deep.equal({ error: "Unauthorized" });
    }
  });

  it("202 garbage is 400 and does no harm", async () => {
    const stream = await open(alice.token);
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const send = (body: string | Buffer, type = "application/json") =>
      service.request("POST", "/api/realtime/subscribe", { token: alice.token, body, headers: { "content-type": type } });
    for (const body of [Buffer.from([0, 255, 1, 254]), "{", "null", "[]", '"text"', deep, `{"clientId":${JSON.stringify(stream.clientId)},"subscriptions":${deep}}`, '{"__proto__":{"clientId":"x"}}']) {
      expect((await send(body)).status).to.equal(400);
    }
    expect((await send("a=b", "application/x-www-form-urlencoded")).status).to.equal(415);
    await probe(stream);
  });

  it("the superadmin listens to the tenant that he names, whatever the rules", async () => {
    await service.createCollection(tenant, { name: "hidden", fields: [{ name: "title", type: "TEXT" }] });
    const stream = await openStream(service.url);
    streams.push(stream);
    const subscribe = (headers: Record<string, string>) => service.superadminToken().then((token) =>
      service.request("POST", "/api/realtime/subscribe", { token, headers, body: { clientId: stream.clientId, subscriptions: ["hidden"] } }));
    expect((await subscribe({})).status).to.equal(404);
    expect((await subscribe({ "x-tenant": tenant.slug })).status).to.equal(200);
    await demand(201, service.request("POST", "/api/collections/hidden", { token: await service.superadminToken(), tenant: tenant.slug, body: { title: "seen" } }));
    expect((await stream.next()).data.record?.["title"]).to.equal("seen");
  });

  describe("195 the user's streams close, and those of others stay:", () => {
    const ways: { name: string; end: (user: TestUser) => Promise<unknown> }[] = [
      { name: "logout", end: (user) => demand(204, service.request("POST", "/api/auth/logout", { token: user.token })) },
      { name: "change of the password", end: (user) => demand(200, service.request("PATCH", `/api/collections/users/${user.id}`, { token: user.token, body: { password: "another long password", oldPassword: testPassword } })) },
      { name: "change of the e-mail address", end: (user) => demand(200, service.request("PATCH", `/api/collections/users/${user.id}`, { token: user.token, body: { email: "new@example.com", oldPassword: testPassword } })) },
      {
        name: "change of the password by a bypassing key",
        async end(user) {
          const key = await createKey(bob.id, { bypassRules: true });
          await demand(200, service.request("PATCH", `/api/collections/users/${user.id}`, { token: key.key, body: { password: "another long password" } }));
        },
      },
      { name: "change of the password by the superadmin", end: (user) => demand(200, service.meta("PATCH", `/api/meta/tenants/${tenant.id}/users/${user.id}`, { password: "another long password" })) },
      { name: "deactivation", end: (user) => demand(200, service.meta("PATCH", `/api/meta/tenants/${tenant.id}/users/${user.id}`, { active: false })) },
      { name: "removal", end: (user) => demand(204, service.meta("DELETE", `/api/meta/tenants/${tenant.id}/users/${user.id}`)) },
      {
        name: "reset of the password",
        async end(user) {
          await demand(200, service.meta("PATCH", `/api/meta/tenants/${tenant.id}/settings`, { passwordReset: { enabled: true, linkUrl: "https://app.test/reset?token={token}" } }));
          const before = service.mails.length;
          await demand(200, service.request("POST", "/api/auth/password/forgot", { body: { tenant: tenant.slug, email: `${user.username}@example.com` } }));
          await until(() => service.mails.length > before);
          const token = decodeURIComponent(/token=([^\s"&<]+)/.exec(JSON.stringify(service.mails.at(-1)))![1]!.replace(/\\n.*$/, ""));
          await demand(204, service.request("POST", "/api/auth/password/reset", { body: { token, password: "another long password" } }));
        },
      },
    ];
    for (const { name, end } of ways) {
      it(name, async () => {
        const user = await signUp();
        const key = await createKey(user.id);
        const [token, keyed, other] = [await open(user.token), await open(key.key), await open(alice.token)];
        await end(user);
        await Promise.all([token.ended, keyed.ended]);
        await probe(other);
      });
    }
  });

  it("033 logout of a session closes the streams of that session only", async () => {
    const user = await signUp();
    const second = (await demand(200, service.login(tenant, user.username))).body as { accessToken: string };
    const [first, other] = [await open(user.token), await open(second.accessToken)];
    await demand(204, service.request("POST", "/api/auth/logout", { token: user.token, body: { scope: "session" } }));
    await first.ended;
    await probe(other);
  });

  it("193 revoking or deleting a key or changing its ranges closes its streams; 194 the ranges count for a new subscribe", async () => {
    const [revoked, deleted, moved, stays] = [await createKey(alice.id), await createKey(alice.id), await createKey(alice.id), await createKey(alice.id)];
    const opened = [await open(revoked.key), await open(deleted.key), await open(moved.key)];
    const other = await open(stays.key);
    const path = `/api/meta/tenants/${tenant.id}/api-keys`;
    await demand(204, service.meta("POST", `${path}/${revoked.id}/revoke`));
    await demand(204, service.meta("DELETE", `${path}/${deleted.id}`));
    await demand(204, service.meta("PATCH", `${path}/${moved.id}`, { allowedCidrs: ["10.0.0.0/8"] }));
    await Promise.all(opened.map((stream) => stream.ended));
    const stream = await openStream(service.url);
    streams.push(stream);
    expect((await stream.subscribe(`Bearer ${moved.key}`, ["tasks"])).status).to.equal(401);
    await probe(other);
  });

  it("a tenant that is removed takes its streams with it; 187 its stream was no stream for others", async () => {
    const gone = await service.createTenant();
    await service.createCollection(gone, { name: "tasks", viewRule: "true", fields: [{ name: "title", type: "TEXT" }] });
    const user = await service.signUp(gone, "carol");
    const [its, other] = [await open(user.token), await open(alice.token)];
    expect((await its.subscribe(`Bearer ${alice.token}`, ["tasks"])).status).to.equal(404);
    await demand(204, service.meta("DELETE", `/api/meta/tenants/${gone.id}`));
    await its.ended;
    await probe(other);
  });

  it("hooks and rules see the change that was written, and a refused one is never told", async () => {
    const end = service.service.on("beforeCreate", { tenant: tenant.slug, collection: "tasks" }, ({ data }) => {
      const body = data.body as Record<string, string>;
      return body["title"] === "refused" ? { continue: false } : { data: { body: { ...body, title: `hooked ${body["title"]}` } } };
    });
    const stream = await open(alice.token);
    await demand(400, service.request("POST", "/api/collections/tasks", { token: alice.token, body: { title: "refused" } }));
    await demand(201, service.request("POST", "/api/collections/tasks", { token: alice.token, body: { title: "told" } }));
    expect((await stream.next()).data.record?.["title"]).to.equal("hooked told");
    end();
  });

  it("two services over one store tell each other's changes, and end each other's streams", async () => {
    const second = await startService({ folder: service.folder });
    const user = await signUp();
    const stream = await openStream(second.url);
    streams.push(stream);
    expect((await stream.subscribe(`Bearer ${user.token}`, ["tasks"])).status).to.equal(200);
    await probe(stream);
    await demand(204, service.request("POST", "/api/auth/logout", { token: user.token }));
    await stream.ended;
    await second.close();
  });

  it("close() of the service ends the streams; headers that the host has set stay", async () => {
    const hosted = await startService({
      host(app) {
        app.use((req, res, next) => {
          res.setHeader("Access-Control-Allow-Origin", "*");
          next();
        });
      },
    });
    const stream = await openStream(hosted.url);
    expect(stream.headers["access-control-allow-origin"]).to.equal("*");
    await hosted.close();
    await stream.ended;
  });

  // Last: what was signed in before is at its end then.
  describe("as time passes", () => {
    it("193 a key's expiry closes its streams", async () => {
      const key = await createKey(alice.id, { expiresAt: new Date(service.clock.now() + 5_000).toISOString() });
      const [short, other] = [await open(key.key), await open(alice.token)];
      service.clock.advance(5_000);
      await short.ended;
      await probe(other);
    });

    it("191 a refreshed token renews the stream; the old expiry passes without effect; another user may not", async () => {
      const user = await signUp();
      const [renewed, left] = [await open(user.token), await open(user.token)];
      service.clock.advance(300_000);
      const pair = (await demand(200, service.request("POST", "/api/auth/refresh", { body: { refreshToken: user.refreshToken } }))).body as { accessToken: string };
      expect((await renewed.subscribe(`Bearer ${pair.accessToken}`, ["tasks"])).status).to.equal(200);
      const other = (await demand(200, service.login(tenant, "bob"))).body as { accessToken: string };
      expect((await renewed.subscribe(`Bearer ${other.accessToken}`, ["tasks"])).status).to.equal(403);
      service.clock.advance(301_000);
      await left.ended;
      bob = { ...bob, token: other.accessToken };
      await probe(renewed);
    });

    it("the superadmin who is replaced loses his streams", async () => {
      const stream = await openStream(service.url);
      streams.push(stream);
      const admin = (await demand(200, service.request("POST", "/api/admin/token", { body: { username: "root", password: testPassword } }))).body as { accessToken: string };
      const answer = await service.request("POST", "/api/realtime/subscribe", { token: admin.accessToken, tenant: tenant.slug, body: { clientId: stream.clientId, subscriptions: ["tasks"] } });
      expect(answer.status).to.equal(200);
      const other = await open(bob.token);
      const { token } = await service.service.createSetupToken();
      await demand(201, service.request("POST", "/api/admin/setup", { body: { token, username: "next", password: testPassword } }));
      await stream.ended;
      await probe(other);
    });
  });
});
