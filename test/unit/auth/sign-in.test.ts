import { expect } from "chai";
import { always } from "../../../lib/storage/filter.js";
import { createArgon2Hasher } from "../../../lib/hasher/argon2.js";
import { cheap, countingHasher, failure, openWorld, password, type World } from "./world.js";

describe("sign-in", () => {
  let world: World;
  const counted = countingHasher();
  beforeEach(async () => {
    world = await openWorld({ hasher: counted.hasher });
    await world.createTenant();
  });
  afterEach(() => world.close());

  it("040 login answers exactly the token pair", async () => {
    const row = await world.signUp("alice");
    const pair = await world.login("alice");
    expect(pair).to.have.all.keys("accessToken", "refreshToken", "tokenType", "expiresIn");
    expect(pair.tokenType).to.equal("Bearer");
    expect(pair.expiresIn).to.equal(900);
    const { call } = await world.caller(pair.accessToken);
    expect(call.caller).to.deep.include({ type: "user" });
    expect(call.caller.type === "user" && call.caller.user.id).to.equal(row.id);
  });

  it("042 and 044 wrong password, unknown user, other tenant, unknown tenant, inactive, empty: one verify each, the same 401", async () => {
    await world.createTenant("other");
    await world.signUp("alice");
    const locked = await world.signUp("locked");
    await world.signUp("bea", {}, "other");
    await world.patch(locked.id, { setHidden: { active: false } });
    await world.login("alice");
    const acme = await world.context();
    const attempts: [Parameters<typeof world.auth.login>[0], Record<string, never>][] = [
      [acme, { username: "alice", password: "wrong horse battery" }],
      [acme, { username: "nobody", password }],
      [acme, { username: "locked", password }],
      [acme, { username: "bea", password }],
      [acme, { username: "alice", password: "" }],
      [acme, { username: "alice" }],
      [acme, { username: { toString: "alice" }, password }],
      [acme, { username: "alice", password: ["x"] }],
      [acme, { username: "alice", password: "x".repeat(5000) }],
      [undefined, { username: "alice", password }],
    ] as never;
    for (const [context, input] of attempts) {
      const before = counted.counts.verify;
      const error = await failure(world.auth.login(context, world.origin, input));
      expect(error, JSON.stringify(input)).to.deep.include({ status: 401, body: { error: "Invalid credentials" }, headers: { "WWW-Authenticate": "Bearer" } });
      expect(counted.counts.verify - before, JSON.stringify(input)).to.equal(1);
      expect(counted.counts.verified.at(-1)).to.contain("$m=64,t=1,p=1$");
    }
  });

  it("043 an unverified user is told so only with the right password, where it is required", async () => {
    await world.signUp("alice");
    await world.set({ emailVerification: { enabled: true, requireForLogin: true } });
    expect(await failure(world.login("alice", "wrong horse battery"))).to.include({ status: 401 });
    expect(await failure(world.login("alice"))).to.deep.include({ status: 403, body: { error: "Email not verified" } });
    await world.set({ emailVerification: { enabled: false } });
    expect((await world.login("alice")).tokenType).to.equal("Bearer");
  });

  it("051 a hash with other parameters is upgraded once, tokens stay valid", async () => {
    const row = await world.signUp("alice");
    const old = await createArgon2Hasher({ ...cheap, iterations: 2 }).hash(password);
    await world.patch(row.id, { setHidden: { passwordHash: old } });
    const first = await world.login("alice");
    const upgraded = (await world.row(row.id))!.hidden["passwordHash"];
    expect(upgraded).to.contain("t=1").and.not.equal(old);
    await world.login("alice");
    expect((await world.row(row.id))!.hidden["passwordHash"]).to.equal(upgraded);
    await world.caller(first.accessToken);
  });

  it("a hash from before release 0.47.0 signs in and is converted", async function () {
    this.timeout(30_000);
    const row = await world.signUp("alice");
    const salt = Buffer.from("sixteen bytes...");
    const { hashRaw } = await import("@node-rs/argon2");
    const raw = await hashRaw(password, { algorithm: 2, memoryCost: 81_920, timeCost: 6, parallelism: 1, outputLen: 32, salt });
    await world.patch(row.id, { setHidden: { passwordHash: raw.toString("base64"), passwordSalt: salt.toString("base64") } });
    expect(await failure(world.login("alice", "wrong horse battery"))).to.include({ status: 401 });
    await world.login("alice");
    const { hidden } = (await world.row(row.id))!;
    expect(hidden["passwordHash"]).to.match(/^\$argon2id\$/);
    expect(hidden["passwordSalt"] ?? null).to.equal(null);
    await world.login("alice");
  });

  it("007 passwords of one tenant are worth nothing in another", async () => {
    await world.createTenant("other");
    await world.signUp("alice");
    await world.signUp("alice", { password: "another long password" }, "other");
    expect(await failure(world.login("alice", password, "other"))).to.include({ status: 401 });
    expect(await failure(world.login("alice", "another long password"))).to.include({ status: 401 });
    await world.login("alice", "another long password", "other");
  });

  it("070 a beforeLogin hook may name the user that signs in, who must be active in this tenant", async () => {
    await world.createTenant("other");
    const alice = await world.signUp("alice");
    const bea = await world.signUp("bea", {}, "other");
    world.noted.answers.set("beforeLogin", (subject) => ({ body: subject.body, issueTokenFor: alice.id }));
    const pair = await world.login("whoever", "whatever it may be");
    const { call } = await world.caller(pair.accessToken);
    expect(call.caller.type === "user" && call.caller.user.id).to.equal(alice.id);
    expect(world.noted.asked.filter(({ event }) => event === "afterLogin").map(({ subject }) => subject.recordId)).to.deep.equal([alice.id]);
    for (const id of [bea.id, "nobody"]) {
      world.noted.answers.set("beforeLogin", (subject) => ({ body: subject.body, issueTokenFor: id }));
      expect(await failure(world.login("alice"))).to.include({ status: 401 });
    }
    await world.patch(alice.id, { setHidden: { active: false } });
    world.noted.answers.set("beforeLogin", (subject) => ({ body: subject.body, issueTokenFor: alice.id }));
    expect(await failure(world.login("alice"))).to.include({ status: 401 });
  });

  it("207 no secret reaches a hook", async () => {
    await world.signUp("alice", { email: "alice@example.org" });
    const pair = await world.login("alice");
    await world.auth.refresh(world.origin, { refreshToken: pair.refreshToken });
    const told = JSON.stringify(world.noted.asked);
    expect(world.noted.asked.map(({ event }) => event)).to.deep.equal([
      "beforeRequest", "beforeRegister", "afterRegister",
      "beforeRequest", "beforeLogin", "afterLogin",
      "beforeRequest", "beforeRefresh", "afterRefresh",
    ]);
    expect(told).to.contain('"password":"***"').and.not.contain(password).and.not.contain(pair.refreshToken).and.not.contain("argon2");
  });

  it("a user has at most 100 sessions: the oldest ends", async () => {
    await world.signUp("alice");
    const first = await world.login("alice");
    const second = await world.login("alice");
    for (let index = 0; index < 99; index += 1) await world.login("alice");
    expect(await failure(world.auth.refresh(world.origin, { refreshToken: first.refreshToken }))).to.include({ status: 401 });
    await world.auth.refresh(world.origin, { refreshToken: second.refreshToken });
  });

  it("of too many sessions those that have expired end first", async () => {
    await world.signUp("alice");
    const old = await world.login("alice");
    for (let index = 0; index < 60; index += 1) await world.login("alice");
    world.clock.time += 20 * 86_400_000;
    const kept = await world.auth.refresh(world.origin, { refreshToken: old.refreshToken });
    world.clock.time += 15 * 86_400_000;
    for (let index = 0; index < 60; index += 1) await world.login("alice");
    const table = (await world.context()).store.table("refresh_families");
    expect(await table.count(always)).to.equal(61);
    await world.auth.refresh(world.origin, { refreshToken: kept.refreshToken });
  });
});

describe("hashing slots at sign-in", () => {
  it("047 and 075 no slot: the same 429 for known and unknown; registration off: 403 without a hash", async () => {
    const waiting: (() => void)[] = [];
    const { hasher: inner } = countingHasher();
    let slow = false;
    const world = await openWorld({
      slots: { size: 1, wait: 30 },
      hasher: { ...inner, verify: (stored, text) => (slow ? new Promise((resolve) => waiting.push(() => resolve(false))) : inner.verify(stored, text)) },
    });
    try {
      await world.createTenant();
      await world.signUp("alice");
      await world.login("alice");
      slow = true;
      const first = failure(world.login("alice"));
      while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
      for (const username of ["alice", "nobody"]) {
        expect(await failure(world.login(username))).to.deep.include({ status: 429, body: { error: "Too many requests" }, headers: { "Retry-After": "1" } });
      }
      expect(await failure(world.signUp("bob"))).to.include({ status: 429 });
      expect(await failure(world.signUp("alice"))).to.deep.include({ status: 400 });
      await world.set({ selfRegistration: false });
      expect(await failure(world.auth.register(await world.context(), world.origin, { username: "bob", password }))).to.deep.include({ status: 403, body: { error: "Registration is disabled" } });
      waiting.forEach((go) => go());
      expect(await first).to.include({ status: 401 });
    } finally {
      await world.close();
    }
  });
});
