// security.md 3.8 over HTTP: the built-in collection.
import { expect } from "chai";
import { demand, startService, testPassword, type TestService, type TestTenant, type TestUser } from "../support/service.js";
import { same } from "./same.js";

const secretNames = ["password", "oldPassword", "passwordHash", "passwordSalt", "generation", "resetHash", "verifyHash", "revokedFamilies"];

/** Every member's name, at any depth. */
function names(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Array.isArray(value) ? value.flatMap(names) : Object.entries(value).flatMap(([name, inner]) => [name, ...names(inner)]);
}

describe("collection users over HTTP", () => {
  let service: TestService;
  let acme: TestTenant;
  let alice: TestUser;
  let bob: TestUser;
  let key: string;
  let bypassing: string;

  before(async () => {
    service = await startService();
    acme = await service.createTenant("acme");
    alice = await service.signUp(acme, "alice", { email: "alice@example.org" });
    bob = await service.signUp(acme, "bob");
    const create = async (more: object): Promise<string> => (await demand(201, service.meta("POST", `/api/meta/tenants/${acme.id}/api-keys`, { name: "k", userId: alice.id, ...more }))).body.key;
    key = await create({});
    bypassing = await create({ bypassRules: true });
  });
  after(() => service.close());

  const path = (id: string): string => `/api/collections/users/${id}`;
  const patch = (id: string, body: unknown, token: string | undefined) => service.request("PATCH", path(id), { body, token, tenant: "acme" });
  const rules = (changes: object) => demand(200, service.meta("PATCH", `/api/meta/tenants/${acme.id}/collections/users`, changes));
  const token = async (user: TestUser, password = user.password): Promise<string> => (await demand(200, service.login(acme, user.username, password))).body.accessToken;
  const open = { listRule: "@auth.id != null", viewRule: "@auth.id != null", updateRule: "@auth.id != null" };
  const own = { listRule: "id = @auth.id", viewRule: "id = @auth.id", updateRule: "id = @auth.id" };

  it("124 no answer and no hook carries a secret", async () => {
    const told: unknown[] = [];
    const off = (["beforeCreate", "afterCreate", "beforeUpdate", "afterUpdate", "beforeView", "beforeList", "beforeRequest"] as const)
      .map((event) => service.service.on(event, {}, (envelope) => void told.push(envelope)));
    const made = await demand(201, service.request("POST", "/api/collections/users", { token: bypassing, body: { username: "carol", password: testPassword } }));
    const answers = [
      made,
      await service.request("GET", path(made.body.id), { token: bypassing }),
      await service.request("GET", "/api/collections/users", { token: bypassing }),
      await patch(made.body.id, { password: "another long password" }, bypassing),
      await service.request("GET", "/api/auth/me", { token: alice.token }),
      await service.meta("GET", `/api/meta/tenants/${acme.id}/users`),
      await patch(alice.id, { password: "another long password", oldPassword: "wrong horse battery" }, alice.token),
    ];
    off.forEach((end) => end());
    for (const { body, status } of answers) {
      expect(names(body).filter((name) => secretNames.includes(name)), JSON.stringify(body)).to.deep.equal([]);
      expect(status).to.be.below(500);
    }
    expect(told.length).to.be.above(5);
    expect(names(told).filter((name) => secretNames.includes(name))).to.deep.equal([]);
    expect(JSON.stringify(told)).not.to.contain(testPassword).and.not.contain("another long password");
  });

  it("125 role and emailVerified in a body are ignored", async () => {
    for (const emailVerified of [true, null, 0]) {
      const answer = await demand(200, patch(alice.id, { role: "admin", emailVerified, id: bob.id, createdAt: "2000-01-01T00:00:00.000Z" }, alice.token));
      expect(answer.body).to.include({ id: alice.id, role: "user", emailVerified: false });
    }
    const made = await demand(201, service.request("POST", "/api/collections/users", { token: bypassing, body: { username: "dora", password: testPassword, role: "admin", emailVerified: true } }));
    expect(made.body).to.include({ role: "user", emailVerified: false });
  });

  it("126 a change of the own password: without, with a wrong, with an empty old one 400, with the right one 200 and all tokens end", async () => {
    const user = await service.signUp(acme, "eve");
    const next = "another long password";
    for (const oldPassword of [undefined, "wrong horse battery", "", 5]) {
      const answer = await patch(user.id, { password: next, oldPassword }, user.token);
      expect([answer.status, answer.body[0].field], String(oldPassword)).to.deep.equal([400, "oldPassword"]);
    }
    const short = await patch(user.id, { password: "x".repeat(15), oldPassword: user.password }, user.token);
    expect([short.status, short.body[0].field]).to.deep.equal([400, "password"]);
    await demand(200, patch(user.id, { password: next, oldPassword: user.password }, user.token));
    expect((await service.request("GET", "/api/auth/me", { token: user.token })).status).to.equal(401);
    expect((await service.request("POST", "/api/auth/refresh", { body: { refreshToken: user.refreshToken } })).status).to.equal(401);
    expect((await service.login(acme, "eve")).status).to.equal(401);
    await token(user, next);
    expect((await patch(user.id, { password: "", username: "eve2" }, await token(user, next))).status).to.equal(200);
  });

  it("127 the own address as it stands needs no proof, another spelling does", async () => {
    await demand(200, patch(alice.id, { email: "alice@example.org" }, alice.token));
    expect((await patch(alice.id, { email: "Alice@example.org" }, alice.token)).status).to.equal(400);
    await demand(200, service.request("GET", "/api/auth/me", { token: alice.token }));
  });

  it("128 and 112 with an open update rule others may change other fields, but neither e-mail nor password", async () => {
    await rules(open);
    for (const body of [{ password: "another long password" }, { email: "new@example.org" }, { password: "another long password", oldPassword: testPassword }]) {
      for (const credential of [alice.token, key]) expect((await patch(bob.id, body, credential)).status).to.equal(403);
    }
    await demand(200, patch(bob.id, { username: "robert", password: "", email: null }, alice.token));
    await demand(200, patch(bob.id, { username: "bob" }, key));
    await rules(own);
  });

  it("a guest is anyone else too: 403, where the update rule lets guests in", async () => {
    await rules({ ...open, updateRule: "true" });
    const guest = (id: string, body: object) => service.request("PATCH", path(id), { tenant: "acme", body });
    for (const body of [{ password: "another long password" }, { password: "another long password", oldPassword: testPassword }, { email: "guest@example.org" }]) {
      for (const id of [bob.id, "no-such-user"]) expect((await guest(id, body)).status, JSON.stringify(body)).to.equal(403);
    }
    await rules(own);
    expect((await guest(bob.id, { password: "another long password" })).status).to.equal(401);
  });

  it("110 and 129 superadmin and bypassing key change credentials without proof; the sessions end", async () => {
    const user = await service.signUp(acme, "fay", { email: "fay@example.org", emailVerified: true });
    await demand(200, patch(user.id, { password: "another long password" }, bypassing));
    expect((await service.request("GET", "/api/auth/me", { token: user.token })).status).to.equal(401);
    const fresh = await token(user, "another long password");
    const answer = await demand(200, patch(user.id, { email: "new@example.org" }, await service.superadminToken()));
    expect(answer.body).to.include({ email: "new@example.org", emailVerified: false });
    expect((await service.request("GET", "/api/auth/me", { token: fresh })).status).to.equal(401);
  });

  it("150 hidden columns can be neither filtered nor sorted by, nor read by a rule", async () => {
    for (const name of [...secretNames, "_id", "tenantId", "active", "nosuch"]) {
      for (const query of [`filter=${name}:eq:x`, `sort=${name}:asc`, `where=${name} = "x"`]) {
        expect((await service.request("GET", `/api/collections/users?${query.replaceAll(" ", "%20")}`, { token: alice.token })).status, query).to.equal(400);
      }
      expect((await service.meta("PATCH", `/api/meta/tenants/${acme.id}/collections/users`, { viewRule: `${name} = "x"` })).status, name).to.equal(400);
    }
  });

  it("133 a deleted user is gone at once, the records stay, the name is free", async () => {
    const user = await service.signUp(acme, "gus");
    await demand(204, service.request("DELETE", path(user.id), { token: bypassing }));
    same(await service.request("GET", path(user.id), { token: bypassing }), await service.request("GET", path("00000000-0000-7000-8000-000000000000"), { token: bypassing }));
    expect((await service.login(acme, "gus")).status).to.equal(401);
    expect((await service.request("GET", "/api/auth/me", { token: user.token })).status).to.equal(401);
    await service.signUp(acme, "gus");
  });

  it("134 the collection and its core fields stay; the name stays unique", async () => {
    const url = `/api/meta/tenants/${acme.id}/collections/users`;
    const { body } = await service.meta("GET", url);
    for (const name of ["username", "email", "role", "password"]) {
      expect((await service.meta("PATCH", url, { fields: body.fields.filter((field: { name: string }) => field.name !== name) })).status, name).to.equal(400);
      expect((await service.meta("PATCH", url, { fields: body.fields.map((field: { name: string }) => (field.name === name ? { ...field, type: "NUMBER" } : field)) })).status, name).to.equal(400);
    }
    expect((await service.meta("DELETE", url)).status).to.equal(400);
    await service.meta("PATCH", url, { indexes: [] });
    const taken = await service.request("POST", "/api/collections/users", { token: bypassing, body: { username: "alice", password: testPassword } });
    expect([taken.status, taken.body[0].field]).to.deep.equal([400, "username"]);
  });

  it("a deactivated user is an unknown user everywhere, and his old tokens do not come back", async () => {
    const user = await service.signUp(acme, "hal");
    const set = (active: boolean) => demand(200, service.meta("PATCH", `/api/meta/tenants/${acme.id}/users/${user.id}`, { active }));
    await set(false);
    same(await service.login(acme, "hal"), await service.login(acme, "nobody"));
    expect((await service.request("GET", "/api/auth/me", { token: user.token })).status).to.equal(401);
    await set(true);
    expect((await service.request("GET", "/api/auth/me", { token: user.token })).status).to.equal(401);
    await token(user);
  });

  it("a change of the own credentials answers 429 while no slot is free, with nothing written", async () => {
    const held: (() => void)[] = [];
    let hold = false;
    const { cheapHasher } = await import("../support/service.js");
    const busy = await startService({
      authentication: { hashing: { concurrency: 1, timeout: 20 } },
      hasher: { ...cheapHasher, verify: async (stored, password) => { if (hold) await new Promise<void>((resolve) => held.push(resolve)); return cheapHasher.verify(stored, password); } },
    });
    try {
      const tenant = await busy.createTenant();
      const user = await busy.signUp(tenant, "alice");
      hold = true;
      const slow = busy.login(tenant, "alice");
      while (held.length === 0) await new Promise((resolve) => setImmediate(resolve));
      const answer = await busy.request("PATCH", path(user.id), { token: user.token, body: { password: "another long password", oldPassword: user.password } });
      expect([answer.status, answer.headers["retry-after"]]).to.deep.equal([429, "1"]);
      hold = false;
      held.forEach((go) => go());
      await slow;
      await demand(200, busy.login(tenant, "alice"));
    } finally {
      await busy.close();
    }
  });
});
