// security.md 3.7 over HTTP.
import { expect } from "chai";
import { demand, startService, testPassword, type Answer, type TestService, type TestTenant, type TestUser } from "../support/service.js";
import { same } from "./same.js";
import { openDatabases } from "./scan.js";

describe("API keys over HTTP", () => {
  let service: TestService;
  let acme: TestTenant;
  let alice: TestUser;
  let bob: TestUser;

  before(async () => {
    service = await startService();
    acme = await service.createTenant("acme");
    await service.createTenant("other");
    alice = await service.signUp(acme, "alice");
    bob = await service.signUp(acme, "bob");
    const fields = [{ name: "title", type: "TEXT" }, { name: "owner", type: "TEXT" }];
    const all = (rule: string | null) => ({ listRule: rule, viewRule: rule, createRule: rule, updateRule: rule, deleteRule: rule });
    await service.createCollection(acme, { name: "pub", fields, ...all("true") });
    await service.createCollection(acme, { name: "signed", fields, ...all("@auth.id != null") });
    await service.createCollection(acme, { name: "own", fields, ...all("owner = @auth.id") });
    await service.createCollection(acme, { name: "none", fields });
  });
  after(() => service.close());

  const keysUrl = (id = ""): string => `/api/meta/tenants/${acme.id}/api-keys${id === "" ? "" : `/${id}`}`;
  const create = async (more: object = {}): Promise<{ id: string; key: string }> => (await demand(201, service.meta("POST", keysUrl(), { name: "machine", userId: alice.id, ...more }))).body;
  const me = (token: string, localAddress?: string) => service.request("GET", "/api/auth/me", { token, ...(localAddress === undefined ? {} : { localAddress }) });

  it("105 the key is shown once; list and entry never have it, and only its hash is stored", async () => {
    const answer = await demand(201, service.meta("POST", keysUrl(), { name: "shown once", userId: alice.id }));
    const { key, ...entry } = answer.body;
    expect(key).to.match(/^pk_[A-Za-z0-9_-]{43}$/);
    expect(entry).to.have.all.keys("id", "name", "prefix", "userId", "expiresAt", "bypassRules", "bypassHooks", "allowedCidrs", "lastUsedAt", "status", "createdAt", "revokedAt");
    const list = await service.meta("GET", keysUrl());
    expect(list.body.items).to.deep.include(entry);
    expect(list.text).not.to.contain(key.slice(11));
    expect((await service.meta("GET", keysUrl(entry.id))).body).to.deep.equal(entry);
    await me(key);
    expect((await openDatabases(service.folder)).includes(Buffer.from(key.slice(11)))).to.equal(false);
    expect(JSON.stringify(service.logged)).not.to.contain(key.slice(11));
  });

  it("106 a plain key does exactly what its user's token does", async () => {
    const { key } = await create();
    for (const collection of ["pub", "signed", "own", "none", "nosuch", "users"]) {
      const run = async (token: string): Promise<unknown[]> => {
        const at = `/api/collections/${collection}`;
        const made = await service.request("POST", at, { token, body: collection === "users" ? { username: "x", password: testPassword } : { title: "t", owner: alice.id } });
        const id = made.body?.id ?? "00000000-0000-7000-8000-000000000000";
        const steps: Answer[] = [made];
        steps.push(await service.request("GET", `${at}/${id}`, { token }));
        steps.push(await service.request("PATCH", `${at}/${id}`, { token, body: { title: "u" } }));
        steps.push(await service.request("GET", at, { token }));
        steps.push(await service.request("DELETE", `${at}/${id}`, { token }));
        return steps.map(({ status }) => status);
      };
      expect(await run(key), collection).to.deep.equal(await run(alice.token));
    }
    same(await me(key), await me(alice.token));
  });

  it("107 bypassRules: own and none are open, unknown stays 404, admin and other tenants stay shut", async () => {
    const { key } = await create({ bypassRules: true });
    for (const collection of ["none", "own"]) {
      const at = `/api/collections/${collection}`;
      const made = await demand(201, service.request("POST", at, { token: key, body: { title: "t", owner: bob.id } }));
      await demand(200, service.request("GET", `${at}/${made.body.id}`, { token: key }));
      await demand(200, service.request("PATCH", `${at}/${made.body.id}`, { token: key, body: { title: "u" } }));
      expect((await demand(200, service.request("GET", at, { token: key }))).body.items).to.have.length(1);
      await demand(204, service.request("DELETE", `${at}/${made.body.id}`, { token: key }));
    }
    await demand(404, service.request("GET", "/api/collections/nosuch", { token: key }));
    await demand(403, service.request("GET", "/api/collections/pub", { token: key, tenant: "other" }));
    for (const path of ["/api/meta/tenants", keysUrl(), "/api/admin/me"]) expect([401, 403]).to.include((await service.request("GET", path, { token: key })).status);
  });

  it("111 bypassHooks: no hook runs, rules apply; bypassRules alone still fires them", async () => {
    const fired: string[] = [];
    const off = (["beforeRequest", "beforeCreate", "afterCreate", "beforeList", "beforeLogin"] as const).map((event) => service.service.on(event, { tenant: "acme" }, () => void fired.push(event)));
    const [plain, rules, hooks, both] = [await create(), await create({ bypassRules: true }), await create({ bypassHooks: true }), await create({ bypassRules: true, bypassHooks: true })];
    const run = async (token: string): Promise<[number, number, string[]]> => {
      fired.length = 0;
      await me(token);
      const open = await service.request("POST", "/api/collections/pub", { token, body: { title: "t" } });
      const shut = await service.request("GET", "/api/collections/none", { token });
      // After-handlers run beside the request: the next one comes after them.
      await new Promise((resolve) => setImmediate(resolve));
      return [open.status, shut.status, [...new Set(fired)]];
    };
    expect(await run(plain.key)).to.deep.equal([201, 403, ["beforeRequest", "beforeCreate", "afterCreate"]]);
    expect(await run(rules.key)).to.deep.equal([201, 200, ["beforeRequest", "beforeCreate", "afterCreate", "beforeList"]]);
    expect(await run(hooks.key)).to.deep.equal([201, 403, []]);
    expect(await run(both.key)).to.deep.equal([201, 200, []]);
    fired.length = 0;
    await demand(200, service.request("POST", "/api/auth/login", { token: hooks.key, body: { tenant: "acme", username: "alice", password: testPassword } }));
    expect(fired).to.deep.equal([]);
    const { body: pair } = await service.login(acme, "alice");
    fired.length = 0;
    await demand(200, service.request("POST", "/api/auth/refresh", { token: hooks.key, body: { refreshToken: pair.refreshToken } }));
    await demand(401, service.request("POST", "/api/auth/login", { token: hooks.key, body: { tenant: "other", username: "alice", password: testPassword } }));
    expect(fired).to.deep.equal([]);
    await demand(200, service.request("POST", "/api/auth/login", { token: plain.key, body: { tenant: "acme", username: "alice", password: testPassword } }));
    expect(fired).to.deep.equal(["beforeRequest", "beforeLogin"]);
    off.forEach((end) => end());
  });

  it("116 and 117 the TCP peer decides, whatever the headers and the host's trust proxy say", async () => {
    const { key } = await create({ allowedCidrs: ["127.0.0.1/32"] });
    expect((await me(key)).status).to.equal(200);
    const refused = await me(key, "127.0.0.2");
    expect(refused.status).to.equal(401);
    service.app.set("trust proxy", true);
    for (const name of ["x-forwarded-for", "x-real-ip", "forwarded"]) {
      const headers = { [name]: name === "forwarded" ? "for=127.0.0.1" : "127.0.0.1" };
      same(refused, await service.request("GET", "/api/auth/me", { token: key, headers, localAddress: "127.0.0.2" }));
      const inside = { [name]: name === "forwarded" ? "for=10.0.0.1" : "10.0.0.1" };
      expect((await service.request("GET", "/api/auth/me", { token: key, headers: inside })).status).to.equal(200);
    }
    service.app.set("trust proxy", false);
  });

  it("118 to 120 ranges are masked, bare addresses get their length, an empty list lifts; odd entries are 400 and nothing is written", async () => {
    const { id, key } = await create();
    const update = (allowedCidrs: unknown) => service.meta("PATCH", keysUrl(id), { allowedCidrs });
    const stored = async (): Promise<string[]> => (await service.meta("GET", keysUrl(id))).body.allowedCidrs;
    const answer = await update(["10.1.2.3/8", "10.0.0.1", "fd00::1"]);
    expect([answer.status, answer.text]).to.deep.equal([204, ""]);
    expect(await stored()).to.deep.equal(["10.0.0.0/8", "10.0.0.1/32", "fd00::1/128"]);
    for (const entry of ["10/8", "010.0.0.1", "0x7f.0.0.1", "10.0.0.0/33", "fe80::1%eth0", "localhost", "*", "", 5, null, {}]) {
      expect((await update(["127.0.0.1", entry])).status, String(entry)).to.equal(400);
    }
    expect(await stored()).to.have.length(3);
    expect((await me(key)).status).to.equal(401);
    await demand(204, update([]));
    expect((await me(key)).status).to.equal(200);
  });

  it("121 PATCH naming anything else is 400, and nothing is written", async () => {
    const { id } = await create({ allowedCidrs: ["127.0.0.1"] });
    for (const name of ["name", "userId", "expiresAt", "bypassRules", "bypassHooks", "status", "key"]) {
      for (const body of [{ [name]: null }, { [name]: "x", allowedCidrs: [] }, { allowedCidrs: [], [name]: true }]) {
        expect((await service.meta("PATCH", keysUrl(id), body)).status, JSON.stringify(body)).to.equal(400);
      }
    }
    expect((await service.meta("PATCH", keysUrl(id), {})).status).to.equal(400);
    expect((await service.meta("GET", keysUrl(id))).body).to.deep.include({ name: "machine", allowedCidrs: ["127.0.0.1/32"] });
  });

  it("122 and 123 unknown, expired, revoked, deleted and source-rejected keys look the same; the log tells them apart", async () => {
    const [expired, revoked, deleted, source] = [
      await create({ name: "expired", expiresAt: new Date(service.clock.now() + 60_000).toISOString() }), await create({ name: "revoked" }), await create({ name: "deleted" }), await create({ name: "source", allowedCidrs: ["10.0.0.0/8"] }),
    ];
    for (const { key } of [expired, revoked, deleted]) await demand(200, me(key));
    service.clock.advance(60_000);
    await demand(204, service.meta("POST", `${keysUrl(revoked.id)}/revoke`));
    await demand(204, service.meta("POST", `${keysUrl(revoked.id)}/revoke`));
    await demand(204, service.meta("DELETE", keysUrl(deleted.id)));
    const unknown = await me(`pk_${"A".repeat(43)}`);
    expect([unknown.status, unknown.body, unknown.headers["www-authenticate"]]).to.deep.equal([401, { error: "Unauthorized" }, "Bearer"]);
    for (const key of [expired.key, revoked.key, deleted.key, source.key, `${source.key}x`, "pk_", "pk_x"]) same(unknown, await me(key));
    const { body } = await service.meta("GET", `/api/meta/tenants/${acme.id}/request-log?limit=100`);
    const reasons = body.items.filter((entry: { rejection: string | null }) => entry.rejection !== null).map(({ rejection, caller }: { rejection: string; caller: { keyName: string | null } }) => `${caller.keyName} ${rejection}`);
    expect(reasons).to.include.members(["expired expired", "revoked revoked", "source source"]);
    expect((await service.meta("GET", keysUrl())).body.items.map(({ id }: { id: string }) => id)).to.include(revoked.id).and.not.include(deleted.id);
  });

  it("last used is told, at most once a minute", async () => {
    const { id, key } = await create();
    const lastUsed = async (): Promise<string | null> => (await service.meta("GET", keysUrl(id))).body.lastUsedAt;
    expect(await lastUsed()).to.equal(null);
    await demand(200, me(key));
    // Written beside the request: the write of the next key comes after it.
    await create();
    const first = await lastUsed();
    expect(first).to.be.a("string");
    await demand(200, me(key));
    await create();
    expect(await lastUsed()).to.equal(first);
    service.clock.advance(60_001);
    await demand(200, me(key));
    await create();
    expect(await lastUsed()).to.not.equal(first);
  });

  it("a user of another tenant, an unknown one and the superadmin can not be bound; unknown keys are 404", async () => {
    for (const userId of ["superadmin", "00000000-0000-7000-8000-000000000000", "", null, 5]) {
      const answer = await service.meta("POST", keysUrl(), { name: "k", userId });
      expect([answer.status, answer.body[0].field], String(userId)).to.deep.equal([400, "userId"]);
    }
    for (const [method, path] of [["GET", keysUrl("nosuch")], ["DELETE", keysUrl("nosuch")], ["POST", `${keysUrl("nosuch")}/revoke`]] as const) await demand(404, service.meta(method, path));
    await demand(404, service.meta("PATCH", keysUrl("nosuch"), { allowedCidrs: [] }));
  });
});
