// interface.md "Collection users" and contract 11: what users.test.ts leaves out.
import { expect } from "chai";
import { demand, startService, testPassword, type Answer, type TestService, type TestTenant, type TestUser } from "../support/service.js";

describe("users as a collection", () => {
  let on: TestService;
  let tenant: TestTenant;
  let alice: TestUser;
  let admin: string;
  const at = "/api/collections/users";
  const root = (method: string, path: string, body?: unknown): Promise<Answer> => on.request(method, `${path}${path.includes("?") ? "&" : "?"}tenant=acme`, { token: admin, body });
  const editor = (method: string, id: string, body: object) => on.meta(method, `/api/meta/tenants/${tenant.id}/users${id === "" ? "" : `/${id}`}`, body);
  const refusal = (answer: Answer, ...fields: string[]): void => {
    expect(answer.status, answer.text).to.equal(400);
    expect(answer.body.map((entry: { field: string }) => entry.field), answer.text).to.have.members(fields);
  };

  before(async () => {
    on = await startService();
    tenant = await on.createTenant("acme");
    admin = await on.superadminToken();
    alice = await on.signUp(tenant, "alice", { email: "alice@example.org" });
  });
  after(() => on.close());

  it("a create by the data plane answers 201 with exactly GET by id, and the account can sign in", async () => {
    const made = await demand(201, root("POST", at, { username: "new", email: "new@example.org", password: testPassword }));
    expect(made.body).to.have.all.keys("id", "createdAt", "updatedAt", "username", "email", "role", "emailVerified");
    expect(made.body).to.include({ username: "new", email: "new@example.org", role: "user", emailVerified: false });
    expect((await root("GET", `${at}/${made.body.id}`)).body).to.deep.equal(made.body);
    expect((await on.login(tenant, "new")).status).to.equal(200);
  });

  it("username and password are required on create; an empty password is a missing one; all faults at once", async () => {
    refusal(await root("POST", at, {}), "username", "password");
    refusal(await root("POST", at, { username: "x", password: "" }), "password");
    refusal(await root("POST", at, { username: "x", password: "short", email: "none", nope: 1 }), "password", "email", "nope");
    refusal(await root("POST", at, { username: null, password: null }), "username", "password");
    for (const password of [5, {}, [testPassword], true]) refusal(await root("POST", at, { username: "x", password }), "password");
  });

  it("a password has 16 to 1024 characters, counted as code points", async () => {
    for (const [index, password] of ["x".repeat(16), " ".repeat(16), "😀".repeat(16), "x".repeat(1024), "😀".repeat(1024)].entries()) {
      await demand(201, root("POST", at, { username: `length${index}`, password }));
      expect((await on.login(tenant, `length${index}`, password)).status).to.equal(200);
    }
    for (const password of ["x".repeat(15), "😀".repeat(15), "😀".repeat(8), "x".repeat(1025)]) refusal(await root("POST", at, { username: "toolong", password }), "password");
  });

  it("a username is unique, on create and on change, and stays after a refused change", async () => {
    refusal(await root("POST", at, { username: "alice", password: testPassword }), "username");
    const { body } = await demand(201, root("POST", at, { username: "unique", password: testPassword }));
    refusal(await root("PATCH", `${at}/${body.id}`, { username: "alice" }), "username");
    expect((await root("GET", `${at}/${body.id}`)).body.username).to.equal("unique");
    refusal(await root("PATCH", `${at}/${body.id}`, { username: null }), "username");
  });

  it("of twenty parallel creations of one username exactly one succeeds", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => root("POST", at, { username: "racer", password: testPassword })));
    expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
    for (const answer of answers.filter(({ status }) => status !== 201)) refusal(answer, "username");
  });

  it("e-mail addresses are not unique, and may be absent", async () => {
    for (const username of ["mail1", "mail2"]) await demand(201, root("POST", at, { username, password: testPassword, email: "shared@example.org" }));
    expect((await demand(201, root("POST", at, { username: "mail3", password: testPassword }))).body.email).to.equal(null);
  });

  it("a record that was read can be written back by the user", async () => {
    const { body } = await demand(200, on.request("GET", `${at}/${alice.id}`, { token: alice.token }));
    const answer = await demand(200, on.request("PATCH", `${at}/${alice.id}`, { token: alice.token, body }));
    expect({ ...answer.body, updatedAt: null }).to.deep.equal({ ...body, updatedAt: null });
    await demand(200, on.request("GET", "/api/auth/me", { token: alice.token }));
  });

  it("GET by id and list carry role, me does not", async () => {
    expect((await on.request("GET", `${at}/${alice.id}`, { token: alice.token })).body.role).to.equal("user");
    expect((await on.request("GET", at, { token: alice.token })).body.items).to.have.length(1);
    expect((await on.request("GET", at, { token: alice.token })).body.items[0].role).to.equal("user");
    expect((await on.request("GET", "/api/auth/me", { token: alice.token })).body).not.to.have.property("role");
  });

  it("a PATCH on the data plane keeps the role; the editor changes it, and rules see it", async () => {
    const { body } = await demand(201, editor("POST", "", { username: "boss", password: testPassword, role: "manager", emailVerified: true }));
    expect(body).to.include({ role: "manager", emailVerified: true });
    expect((await demand(200, root("PATCH", `${at}/${body.id}`, { role: "user", emailVerified: false, username: "boss2" }))).body).to.include({ role: "manager", emailVerified: true, username: "boss2" });
    expect((await demand(200, editor("PATCH", body.id, { role: "director" }))).body.role).to.equal("director");
    await on.createCollection(tenant, { name: "plans", fields: [], listRule: '@auth.role = "director" && @auth.emailVerified' });
    const token = (await on.login(tenant, "boss2")).body.accessToken;
    expect((await on.request("GET", "/api/collections/plans", { token })).status).to.equal(200);
    expect((await on.request("GET", "/api/collections/plans", { token: alice.token })).body.items ?? []).to.deep.equal([]);
  });

  it("emailVerified can be filtered and sorted by, and used in where", async () => {
    expect((await root("GET", `${at}?filter=emailVerified:eq:true&count=true`)).body.total).to.equal(1);
    expect((await root("GET", `${at}?sort=emailVerified:desc&limit=1`)).body.items[0].username).to.equal("boss2");
    expect((await root("GET", `${at}?where=emailVerified&count=true`)).body.total).to.equal(1);
    expect((await root("GET", `${at}?fields=username,emailVerified&limit=1`)).body.items[0]).to.have.all.keys("id", "username", "emailVerified");
  });

  it("of a changed credential only the user's own password is proof", async () => {
    const bob = await on.signUp(tenant, "bob");
    const answer = await on.request("PATCH", `${at}/${alice.id}`, { token: alice.token, body: { email: "new@example.org", oldPassword: "the password of another" } });
    refusal(answer, "oldPassword");
    expect((await on.request("PATCH", `${at}/${alice.id}`, { token: bob.token, body: { email: "x@example.org", oldPassword: bob.password } })).status).to.be.oneOf([403, 404]);
    const changed = await demand(200, on.request("PATCH", `${at}/${bob.id}`, { token: bob.token, body: { email: "bob@example.org", oldPassword: bob.password } }));
    expect(changed.body).to.include({ email: "bob@example.org", emailVerified: false });
    expect(changed.body).not.to.have.property("oldPassword");
    expect((await on.request("GET", "/api/auth/me", { token: bob.token })).status).to.equal(401);
  });

  it("oldPassword alone changes nothing, and is never stored", async () => {
    const { body: before } = await on.request("GET", `${at}/${alice.id}`, { token: alice.token });
    const answer = await demand(200, on.request("PATCH", `${at}/${alice.id}`, { token: alice.token, body: { oldPassword: "whatever it may be" } }));
    expect(answer.body).to.deep.equal(before);
  });

  it("a create by a guest or a user is 401 or 403 as the rule says, whatever the body", async () => {
    const body = { username: "intruder", password: testPassword };
    expect((await on.request("POST", at, { tenant: "acme", body })).status).to.equal(401);
    expect((await on.request("POST", at, { token: alice.token, body })).status).to.equal(403);
    expect((await on.request("DELETE", `${at}/${alice.id}`, { token: alice.token })).status).to.equal(403);
  });

  it("with an open create rule a user may create users, of role user", async () => {
    await demand(200, on.meta("PATCH", `/api/meta/tenants/${tenant.id}/collections/users`, { createRule: "@auth.id != null" }));
    const { status, body } = await on.request("POST", at, { token: alice.token, body: { username: "invited", password: testPassword, role: "admin" } });
    await demand(200, on.meta("PATCH", `/api/meta/tenants/${tenant.id}/collections/users`, { createRule: null }));
    expect([status, body.role]).to.deep.equal([201, "user"]);
  });

  it("the editor takes legacy hashes, and a login converts them", async () => {
    const base64 = (bytes: number): string => Buffer.alloc(bytes, 1).toString("base64");
    for (const [field, bad] of [
      ["passwordHash", { passwordHash: "x" }],
      ["passwordSalt", { passwordHash: base64(32), passwordSalt: "%%%" }],
      ["passwordSalt", { passwordHash: base64(32), passwordSalt: base64(7) }],
      ["passwordHash", { passwordHash: base64(31), passwordSalt: base64(16) }],
      ["passwordHash", { passwordHash: base64(33), passwordSalt: base64(16) }],
      ["passwordSalt", { passwordSalt: base64(16) }],
    ] as const) {
      const { status, body } = await editor("POST", "", { username: "legacy", ...bad });
      expect([status, body[0]?.field], JSON.stringify(bad)).to.deep.equal([400, field]);
    }
    const answer = await demand(201, editor("POST", "", { username: "legacy", passwordHash: Buffer.alloc(32, 1).toString("base64"), passwordSalt: Buffer.alloc(16, 2).toString("base64") }));
    expect(JSON.stringify(answer.body)).not.to.match(/passwordHash|passwordSalt/);
  });
});
