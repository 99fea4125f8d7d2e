// security.md 3.1 to 3.3 and 3.5 over HTTP.
import { createHmac } from "node:crypto";
import { expect } from "chai";
import { openDatabases } from "./scan.js";
import { cheapHasher, startService, testPassword, type Answer, type TestService, type TestTenant, type TestUser } from "../support/service.js";
import { same } from "./same.js";

describe("auth routes", () => {
  let service: TestService;
  let acme: TestTenant;
  let other: TestTenant;
  let alice: TestUser;
  let bea: TestUser;
  const counts = { hash: 0, verify: 0 };

  before(async () => {
    service = await startService({
      hasher: {
        ...cheapHasher,
        hash: (password) => { counts.hash += 1; return cheapHasher.hash(password); },
        verify: (stored, password) => { counts.verify += 1; return cheapHasher.verify(stored, password); },
      },
    });
    acme = await service.createTenant("acme");
    other = await service.createTenant("other");
    await service.createCollection(acme, { name: "signed", fields: [{ name: "title", type: "TEXT" }], listRule: "@auth.id != null", viewRule: "@auth.id != null" });
    await service.createCollection(acme, { name: "pub", fields: [{ name: "title", type: "TEXT" }], listRule: "true", viewRule: "true" });
    await service.createCollection(other, { name: "onlyB", fields: [{ name: "title", type: "TEXT" }], listRule: "true" });
    alice = await service.signUp(acme, "alice");
    bea = await service.signUp(other, "bea");
  });
  after(() => service.close());

  const settings = (tenant: TestTenant, changes: object) => service.meta("PATCH", `/api/meta/tenants/${tenant.id}/settings`, changes);
  const post = (path: string, body: unknown, token?: string) => service.request("POST", path, { body, token });
  const me = (token: string | undefined, headers: Record<string, string> = {}) => service.request("GET", "/api/auth/me", { token, headers });

  it("001 a credential reaches its own tenant only; another tenant's collection looks like none", async () => {
    const foreign = await service.request("GET", "/api/collections/onlyB", { token: alice.token });
    same(foreign, await service.request("GET", "/api/collections/nosuch", { token: alice.token }));
    expect(foreign.status).to.equal(404);
    expect((await service.request("GET", "/api/auth/me", { token: alice.token, tenant: "other" })).status).to.equal(403);
    expect((await service.request("GET", "/api/auth/me", { token: alice.token, tenant: "acme" })).status).to.equal(200);
  });

  it("020 no credential, a malformed one and a foreign scheme: 401 with JSON and WWW-Authenticate", async () => {
    for (const authorization of [undefined, "Bearer", "Bearer ", "Basic x", alice.token, `Bearer ${alice.token}x`]) {
      const answer = await service.request("GET", "/api/collections/signed", { tenant: "acme", headers: authorization === undefined ? {} : { authorization } });
      expect(answer.status, String(authorization)).to.equal(401);
      expect(answer.body).to.deep.equal({ error: "Unauthorized" });
      expect(answer.headers["www-authenticate"]).to.equal("Bearer");
    }
  });

  it("a credential that is present but invalid never becomes a guest", async () => {
    expect((await service.request("GET", "/api/collections/pub", { tenant: "acme" })).status).to.equal(200);
    expect((await service.request("GET", "/api/collections/pub", { tenant: "acme", token: "garbage" })).status).to.equal(401);
  });

  it("022 and 024 tampered, unsigned and algorithm-switched tokens: 401", async () => {
    const [head = "", body = "", signature = ""] = alice.token.split(".");
    const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const claims = JSON.parse(Buffer.from(body, "base64url").toString()) as object;
    const wrong = [
      ...["none", "None", "nOnE"].flatMap((alg) => [`${encode({ alg })}.${body}.`, `${encode({ alg })}.${body}.${signature}`]),
      `${head}.${body}.`,
      `${head}.${body}.${signature.slice(0, -1)}${signature.endsWith("A") ? "B" : "A"}`,
      `${head}.${encode({ ...claims, sub: bea.id })}.${signature}`,
      `${head}.${body}.${createHmac("sha256", Buffer.from("a".repeat(64), "hex")).update(`${head}.${body}`).digest("base64url")}`,
    ];
    for (const token of wrong) expect((await me(token)).status, token.slice(0, 40)).to.equal(401);
    expect((await me(alice.token)).status).to.equal(200);
  });

  it("028 a token in the query, a cookie or the body is no credential", async () => {
    for (const attempt of [
      service.request("GET", `/api/collections/signed?access_token=${alice.token}`, { tenant: "acme" }),
      service.request("GET", "/api/auth/me", { headers: { cookie: `token=${alice.token}; access_token=${alice.token}` } }),
      service.request("POST", "/api/auth/logout", { body: { token: alice.token, accessToken: alice.token } }),
    ]) expect([400, 401]).to.include((await attempt).status);
    expect((await me(alice.token)).status).to.equal(200);
  });

  it("029 after its expiry a token is worth nothing", async () => {
    const short = await startService({ accessTokenTtl: 60 });
    try {
      const tenant = await short.createTenant("acme");
      const user = await short.signUp(tenant, "alice");
      const { body } = await short.login(tenant, "alice");
      expect(body.expiresIn).to.equal(60);
      expect((await short.request("GET", "/api/auth/me", { token: user.token })).status).to.equal(200);
      short.clock.advance(60_000);
      for (const token of [user.token, body.accessToken]) expect((await short.request("GET", "/api/auth/me", { token })).status).to.equal(401);
      expect((await short.request("POST", "/api/auth/refresh", { body: { refreshToken: body.refreshToken } })).status).to.equal(200);
    } finally {
      await short.close();
    }
  });

  it("030 a deleted user's tokens and keys end at once, the key is listed as revoked, the name is free again", async () => {
    const carol = await service.signUp(acme, "carol");
    const { body: key } = await service.meta("POST", `/api/meta/tenants/${acme.id}/api-keys`, { name: "carol's", userId: carol.id });
    expect((await me(key.key)).status).to.equal(200);
    expect((await service.meta("DELETE", `/api/meta/tenants/${acme.id}/users/${carol.id}`)).status).to.equal(204);
    for (const token of [carol.token, key.key]) expect((await me(token)).status).to.equal(401);
    expect((await post("/api/auth/refresh", { refreshToken: carol.refreshToken })).status).to.equal(401);
    const { body: keys } = await service.meta("GET", `/api/meta/tenants/${acme.id}/api-keys`);
    expect(keys.items.find((one: { id: string }) => one.id === key.id)).to.include({ status: "revoked" });
    expect((await service.signUp(acme, "carol")).id).not.to.equal(carol.id);
  });

  it("033 and 084 logout ends every session, with scope session one; a second one gives 401", async () => {
    const pairs = await Promise.all([1, 2, 3].map(async () => (await service.login(acme, "alice")).body));
    expect((await post("/api/auth/logout", { scope: "session" }, pairs[0].accessToken)).status).to.equal(204);
    expect((await me(pairs[0].accessToken)).status).to.equal(401);
    expect((await me(pairs[1].accessToken)).status).to.equal(200);
    const answer = await service.request("POST", "/api/auth/logout", { token: pairs[1].accessToken });
    expect([answer.status, answer.text]).to.deep.equal([204, ""]);
    for (const pair of pairs) {
      expect((await me(pair.accessToken)).status).to.equal(401);
      expect((await post("/api/auth/refresh", { refreshToken: pair.refreshToken })).status).to.equal(401);
    }
    expect((await service.request("POST", "/api/auth/logout", { token: pairs[1].accessToken })).status).to.equal(401);
    alice = { ...alice, token: (await service.login(acme, "alice")).body.accessToken };
  });

  it("040 login answers exactly the token pair, never to be cached", async () => {
    const answer = await service.login(acme, "alice");
    expect(answer.status).to.equal(200);
    expect(answer.body).to.have.all.keys("accessToken", "refreshToken", "tokenType", "expiresIn");
    expect(answer.headers["cache-control"]).to.equal("no-store");
  });

  it("042 and 044 every failed login is the same, and costs one verify", async () => {
    const attempts: object[] = [
      { tenant: "acme", username: "alice", password: "wrong horse battery" },
      { tenant: "acme", username: "nobody", password: testPassword },
      { tenant: "acme", username: "bea", password: testPassword },
      { tenant: "acme", username: "alice", password: "" },
      { tenant: "acme", username: "alice" },
      { tenant: "acme", username: ["alice"], password: testPassword },
      { tenant: "acme", username: { $ne: null }, password: { $ne: null } },
      { tenant: "nosuch", username: "alice", password: testPassword },
      { tenant: { slug: "acme" }, username: "alice", password: testPassword },
      { username: "alice", password: testPassword },
      {},
    ];
    let first: Answer | undefined;
    for (const body of attempts) {
      const before = counts.verify;
      const answer = await post("/api/auth/login", body);
      expect(counts.verify - before, JSON.stringify(body)).to.equal(1);
      expect(answer.status).to.equal(401);
      expect(answer.body).to.deep.equal({ error: "Invalid credentials" });
      same(answer, (first ??= answer));
    }
  });

  it("the tenant of a login comes from header, query or body; no credential is looked at", async () => {
    const credentials = { username: "alice", password: testPassword };
    for (const attempt of [
      service.request("POST", "/api/auth/login", { tenant: "acme", body: credentials }),
      service.request("POST", "/api/auth/login?tenant=acme", { body: credentials }),
      service.request("POST", "/api/auth/login", { token: "garbage", body: { ...credentials, tenant: "acme" } }),
    ]) expect((await attempt).status).to.equal(200);
  });

  it("075 and 077 registration: refused while off with no hash spent; on it works although the create rule is No access", async () => {
    const hashes = counts.hash;
    const body = { tenant: "acme", username: "dora", password: testPassword, email: "dora@example.org" };
    const refused = await post("/api/auth/register", body);
    expect([refused.status, refused.body]).to.deep.equal([403, { error: "Registration is disabled" }]);
    same(refused, await post("/api/auth/register", { ...body, tenant: "nosuch" }));
    expect(counts.hash).to.equal(hashes);
    await settings(acme, { selfRegistration: true });
    const answer = await post("/api/auth/register", body);
    expect(answer.status).to.equal(201);
    expect(answer.body).to.have.all.keys("id", "createdAt", "updatedAt", "username", "email", "role", "emailVerified");
    const { body: pair } = await service.login(acme, "dora");
    const viewed = await service.request("GET", `/api/collections/users/${answer.body.id}`, { token: pair.accessToken });
    expect(answer.body).to.deep.equal(viewed.body);
    expect(answer.headers["etag"]).to.equal(viewed.headers["etag"]);
    expect((await service.request("POST", "/api/collections/users", { token: pair.accessToken, body: { username: "eve", password: testPassword } })).status).to.equal(403);
  });

  it("049 and 078 a short password and a taken name are told by their fields", async () => {
    const short = await post("/api/auth/register", { tenant: "acme", username: "fay", password: "x".repeat(15) });
    expect([short.status, short.body.map(({ field }: { field: string }) => field)]).to.deep.equal([400, ["password"]]);
    const answers = await Promise.all([...Array(40)].map(() => post("/api/auth/register", { tenant: "acme", username: "gus", password: testPassword })));
    expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
    for (const { status, body } of answers) if (status !== 201) expect(body).to.deep.equal([{ field: "username", message: "is taken by another user" }]);
  });

  it("custom fields are allowed at registration and validated, relations too", async () => {
    const { body: users } = await service.meta("GET", `/api/meta/tenants/${acme.id}/collections/users`);
    await service.meta("PATCH", `/api/meta/tenants/${acme.id}/collections/users`, { fields: [...users.fields, { name: "nick", type: "TEXT", maxLength: 5 }, { name: "likes", type: "RELATION", collection: "pub" }] });
    const body = { tenant: "acme", username: "hal", password: testPassword };
    const long = await post("/api/auth/register", { ...body, nick: "much too long" });
    expect([long.status, long.body[0].field]).to.deep.equal([400, "nick"]);
    const astray = await post("/api/auth/register", { ...body, likes: alice.id });
    expect([astray.status, astray.body[0].field]).to.deep.equal([400, "likes"]);
    const good = await post("/api/auth/register", { ...body, nick: "hal" });
    expect([good.status, good.body.nick]).to.deep.equal([201, "hal"]);
    await service.meta("PATCH", `/api/meta/tenants/${acme.id}/collections/users`, { fields: [...users.fields, { name: "photos", type: "FILE", multiple: true }] });
    const withFiles = await post("/api/auth/register", { ...body, username: "kim" });
    expect(withFiles.status).to.equal(201);
    const { body: pair } = await service.login(acme, "kim");
    expect((await service.request("GET", `/api/collections/users/${withFiles.body.id}`, { token: pair.accessToken })).body).to.deep.equal(withFiles.body);
  });

  it("register hooks fire and no create hooks; a rejection is the hook's", async () => {
    const fired: string[] = [];
    const off = [
      ...(["beforeCreate", "afterCreate", "afterRegister"] as const).map((event) => service.service.on(event, { tenant: "acme", collection: "users" }, () => void fired.push(event))),
      service.service.on("beforeRegister", { tenant: "acme" }, (envelope) => {
        fired.push("beforeRegister");
        expect(JSON.stringify(envelope)).not.to.contain(testPassword);
        expect((envelope.data.body as { password: string }).password).to.equal("***");
        return (envelope.data.body as { username: string }).username === "ida" ? undefined : { continue: false, error: { status: 451, message: "not here" } };
      }),
    ];
    expect((await post("/api/auth/register", { tenant: "acme", username: "ida", password: testPassword })).status).to.equal(201);
    const refused = await post("/api/auth/register", { tenant: "acme", username: "jim", password: testPassword });
    expect([refused.status, refused.body.message]).to.deep.equal([451, "not here"]);
    expect(fired.filter((event) => event.startsWith("before"))).to.deep.equal(["beforeRegister", "beforeRegister"]);
    off.forEach((end) => end());
  });

  it("080 refresh: anything wrong is one 401, never a 500", async () => {
    const { body: pair } = await service.login(acme, "alice");
    for (const refreshToken of ["garbage", pair.accessToken, "", null, 5, { a: 1 }, [pair.refreshToken], "x".repeat(10_000), undefined]) {
      const answer = await post("/api/auth/refresh", { refreshToken });
      expect([answer.status, answer.body], String(refreshToken)).to.deep.equal([401, { error: "Unauthorized" }]);
    }
    const next = await post("/api/auth/refresh", { refreshToken: pair.refreshToken });
    expect(next.body).to.have.all.keys("accessToken", "refreshToken", "tokenType", "expiresIn");
    expect((await post("/api/auth/refresh", { refreshToken: pair.refreshToken })).status).to.equal(401);
  });

  it("085 and 086 me: the own record without role, whatever the rules; guests and the superadmin get 401", async () => {
    await service.meta("PATCH", `/api/meta/tenants/${acme.id}/collections/users`, { listRule: null, viewRule: null });
    const answer = await me(alice.token);
    expect(answer.body).to.include({ id: alice.id, username: "alice" }).and.not.have.any.keys("role", "password", "passwordHash", "passwordSalt");
    const refused = await me(undefined);
    expect([refused.status, refused.headers["www-authenticate"]]).to.deep.equal([401, "Bearer"]);
    same(refused, await me(await service.superadminToken()));
    same(refused, await me(await service.superadminToken(), { "x-tenant": "acme" }));
    await service.meta("PATCH", `/api/meta/tenants/${acme.id}/collections/users`, { listRule: "id = @auth.id", viewRule: "id = @auth.id" });
  });

  it("malformed bodies, wrong types and wrong methods have their statuses, and the next request works", async () => {
    for (const path of ["register", "login", "refresh", "issue-token"]) {
      const json = { "content-type": "application/json" };
      for (const body of ["{", "[]", "null", "5", '"text"', '{"a":1e400}', `${"[".repeat(3000)}`, '{"__proto__":{"admin":true}}', '{"username":"a\\u0000b"}']) {
        expect((await service.request("POST", `/api/auth/${path}`, { body, headers: json })).status, `${path} ${body.slice(0, 20)}`).to.equal(400);
      }
      expect((await service.request("POST", `/api/auth/${path}`, { body: "a=b", headers: { "content-type": "application/x-www-form-urlencoded" } })).status).to.equal(415);
      expect((await service.request("GET", `/api/auth/${path}`)).status).to.equal(405);
    }
    expect((await service.login(acme, "alice")).status).to.equal(200);
  });

  it("a scan finds no password and no token in databases and logs", async () => {
    const { body: pair } = await service.login(acme, "alice");
    const stored = await openDatabases(service.folder);
    for (const secret of [testPassword, pair.refreshToken, pair.accessToken]) {
      expect(stored.includes(Buffer.from(secret)), "stored").to.equal(false);
      expect(JSON.stringify(service.logged)).not.to.contain(secret);
    }
  });
});

describe("hashing slots over HTTP", () => {
  it("047 and 054 while all slots are busy: 429 with Retry-After, the same for known and unknown, and no more computations than slots", async () => {
    let running = 0;
    let most = 0;
    const held: (() => void)[] = [];
    let hold = false;
    const service = await startService({
      authentication: { hashing: { concurrency: 2, timeout: 50 } },
      hasher: {
        ...cheapHasher,
        verify: async (stored, password) => {
          running += 1;
          most = Math.max(most, running);
          if (hold) await new Promise<void>((resolve) => held.push(resolve));
          running -= 1;
          return cheapHasher.verify(stored, password);
        },
      },
    });
    try {
      const tenant = await service.createTenant("acme");
      await service.signUp(tenant, "alice");
      hold = true;
      const slow = [service.login(tenant, "alice"), service.login(tenant, "alice")];
      while (held.length < 2) await new Promise((resolve) => setImmediate(resolve));
      const known = await service.login(tenant, "alice");
      const unknown = await service.login(tenant, "nobody");
      expect([known.status, known.body, known.headers["retry-after"]]).to.deep.equal([429, { error: "Too many requests" }, "1"]);
      same(known, unknown);
      expect((await service.request("GET", "/health")).status).to.equal(200);
      hold = false;
      held.forEach((go) => go());
      expect((await Promise.all(slow)).map(({ status }) => status)).to.deep.equal([200, 200]);
      const flood = await Promise.all([...Array(64)].map(() => service.login(tenant, "alice")));
      for (const { status } of flood) expect([200, 429]).to.include(status);
      expect(most).to.equal(2);
    } finally {
      await service.close();
    }
  });
});
