import { expect } from "chai";
import { usersTable } from "../../../lib/collections/collection.js";
import { always } from "../../../lib/storage/filter.js";
import { countingHasher, failure, openWorld, password, type World } from "./world.js";

describe("register", () => {
  let world: World;
  const counted = countingHasher();
  beforeEach(async () => {
    world = await openWorld({ hasher: counted.hasher });
    await world.createTenant();
  });
  afterEach(() => world.close());

  it("075 is refused while it is off, and for an unknown tenant, with nothing written and no hash spent", async () => {
    const hashes = counted.counts.hash;
    for (const context of [await world.context(), undefined]) {
      expect(await failure(world.auth.register(context, world.origin, { username: "alice", password }))).to.deep.include({ status: 403, body: { error: "Registration is disabled" } });
    }
    expect(counted.counts.hash).to.equal(hashes);
    expect(await (await world.context()).store.table(usersTable).count(always)).to.equal(0);
    expect(world.noted.asked.map(({ event }) => event)).to.deep.equal(["beforeRequest"]);
  });

  it("makes an account with role user, unverified, and no secret in its record", async () => {
    const row = await world.signUp("alice", { email: "alice@example.org", role: "admin", emailVerified: true, id: "mine", tenant: "acme", oldPassword: "x" });
    expect(row.record).to.deep.equal({
      id: row.id, createdAt: row.record.createdAt, updatedAt: row.record.updatedAt,
      username: "alice", email: "alice@example.org", role: "user", emailVerified: false,
    });
    expect(row.text).not.to.match(/hash|salt|password/i);
  });

  it("049 a password has 16 to 1024 code points", async () => {
    for (const [text, valid] of [["x".repeat(15), false], [" ".repeat(16), true], ["😀".repeat(8), false], ["😀".repeat(16), true], ["😀".repeat(1024), true], ["x".repeat(1025), false]] as const) {
      const attempt = world.signUp(`user${text.length}${valid}`, { password: text });
      if (valid) await attempt;
      else expect(((await failure(attempt)).body as { field: string }[]).map(({ field }) => field)).to.deep.equal(["password"]);
    }
    for (const text of [undefined, null, "", 5, ["x".repeat(16)], "\ud800".repeat(16)]) {
      const error = await failure(world.signUp("alice", { password: text as never }));
      expect(error.status, String(text)).to.equal(400);
    }
  });

  it("tells everything wrong at once, unknown members too, before a hash is spent", async () => {
    await world.set({ selfRegistration: true });
    const hashes = counted.counts.hash;
    const error = await failure(world.auth.register(await world.context(), world.origin, { email: "nonsense", password: "short", passwordHash: "x", wild: 1 }));
    expect((error.body as { field: string }[]).map(({ field }) => field)).to.have.members(["username", "email", "password", "passwordHash", "wild"]);
    expect(counted.counts.hash).to.equal(hashes);
  });

  it("078 a taken username is told by its field", async () => {
    await world.signUp("alice");
    const attempts = await Promise.allSettled([...Array(40)].map(() => world.signUp("bob")));
    expect(attempts.filter(({ status }) => status === "fulfilled")).to.have.length(1);
    for (const attempt of attempts) {
      if (attempt.status === "rejected") expect(attempt.reason.body).to.deep.equal([{ field: "username", message: "is taken by another user" }]);
    }
    expect(await failure(world.signUp("alice"))).to.deep.include({ status: 400, body: [{ field: "username", message: "is taken by another user" }] });
    expect(await (await world.context()).store.table(usersTable).count(always)).to.equal(2);
  });

  it("a beforeRegister hook rewrites the account, but no secret", async () => {
    world.noted.answers.set("beforeRegister", () => ({ body: { username: "carol", password: "chosen by the hook", role: "admin" } }));
    const row = await world.signUp("alice");
    expect(row.record).to.deep.include({ username: "carol", role: "user" });
    await world.login("carol");
    expect(await failure(world.login("carol", "chosen by the hook"))).to.include({ status: 401 });
  });

  it("013 the same username in two tenants", async () => {
    await world.createTenant("other");
    await world.signUp("alice");
    await world.signUp("alice", {}, "other");
  });
});
