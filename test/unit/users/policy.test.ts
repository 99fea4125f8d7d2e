import { expect } from "chai";
import type { Call, Caller } from "../../../lib/core/call.js";
import type { JsonObject } from "../../../lib/core/record.js";
import { ConditionMissed, type Row } from "../../../lib/storage/storage.js";
import { countingHasher, failure, openWorld, password, type World } from "../auth/world.js";

const next = "another long password";

describe("policy of users", () => {
  let world: World;
  let alice: Row;
  let bob: Row;
  const counted = countingHasher();
  beforeEach(async () => {
    world = await openWorld({ hasher: counted.hasher });
    await world.createTenant();
    alice = await world.signUp("alice", { email: "alice@example.org" });
    bob = await world.signUp("bob");
  });
  afterEach(() => world.close());

  const userCaller = (row: Row): Caller => ({ type: "user", user: row.record, familyId: null, expiresAt: null });
  const keyCaller = (row: Row, bypassRules: boolean): Caller => ({ type: "apiKey", user: row.record, keyId: "k", keyName: "k", bypassRules, bypassHooks: false, expiresAt: null });

  async function authorize(caller: Caller, row: Row, input: JsonObject) {
    const context = await world.context();
    const call: Call = { tenant: context.tenant, caller, request: world.origin.request, meter: { hookMs: 0 } };
    const { body, secrets } = world.users.policy.split(input);
    await world.users.policy.authorize(context, call, row, body, secrets);
    return { body, secrets };
  }

  /** What the record pipeline does with it. */
  async function change(caller: Caller, row: Row, input: JsonObject): Promise<Row> {
    const { body, secrets } = await authorize(caller, row, input);
    const columns = await world.users.policy.updateColumns(row, body, secrets);
    const { rows } = await (await world.context()).store.write({
      operations: [{ type: "update", table: "c_users", id: row.id, ...columns, set: { ...body, ...columns.set } }],
    });
    return rows[0]!;
  }

  it("125 takes role, emailVerified and secrets out, and leaves hidden names to validation", () => {
    const { body, secrets } = world.users.policy.split({ username: "x", role: "admin", emailVerified: true, password, oldPassword: "o", passwordHash: "h", active: false });
    expect(body).to.deep.equal({ username: "x", passwordHash: "h", active: false });
    expect(secrets).to.deep.equal({ password, oldPassword: "o" });
    expect(world.users.policy.split({ username: "x" }).secrets).to.deep.equal({});
  });

  it("an empty password is missing on create and no change on update", () => {
    const { check } = world.users.policy;
    for (const blank of [{}, { password: "" }, { password: null }]) {
      expect(check(blank, "create")).to.deep.equal([{ field: "password", message: "is required" }]);
      expect(check(blank, "update")).to.deep.equal([]);
    }
    expect(check({ password: "short" }, "update").map(({ field }) => field)).to.deep.equal(["password"]);
    expect(check({ password: 5 }, "update")).to.have.length(1);
  });

  it("126 the user himself proves the change: missing, wrong, empty are 400, the right one changes it", async () => {
    for (const input of [{ password: next }, { password: next, oldPassword: "" }, { password: next, oldPassword: 5 }, { password: next, oldPassword: "wrong horse battery" }, { email: "new@example.org" }, { email: null }, { email: "" }] as readonly JsonObject[]) {
      for (const caller of [userCaller(alice), keyCaller(alice, false)]) {
        const error = await failure(authorize(caller, alice, input));
        expect(error.status, JSON.stringify(input)).to.equal(400);
        expect((error.body as { field: string }[])[0]!.field).to.equal("oldPassword");
      }
    }
    await change(userCaller(alice), alice, { password: next, oldPassword: password });
    expect(await failure(world.login("alice"))).to.include({ status: 401 });
    await world.login("alice", next);
  });

  it("a new password that is too short is told before the old one is checked", async () => {
    const before = counted.counts.verify;
    expect(await failure(authorize(userCaller(alice), alice, { password: "short", oldPassword: password }))).to.deep.include({ status: 400 });
    expect(counted.counts.verify).to.equal(before);
  });

  it("127 the same address needs no proof, a differing one does", async () => {
    await change(userCaller(alice), alice, { email: "alice@example.org" });
    expect((await world.row(alice.id))!.hidden["generation"]).to.equal(1);
    expect(await failure(authorize(userCaller(alice), alice, { email: "Alice@example.org" }))).to.include({ status: 400 });
    await change(userCaller(bob), bob, { email: null });
    await change(userCaller(bob), bob, { email: "" });
  });

  it("128 and 112 anyone else gets 403, a key without bypassRules too; other fields are not his matter", async () => {
    for (const caller of [userCaller(bob), keyCaller(bob, false), { type: "guest" } as const]) {
      for (const input of [{ password: next }, { password: next, oldPassword: password }, { email: "new@example.org" }] as readonly JsonObject[]) {
        expect(await failure(authorize(caller, alice, input))).to.include({ status: 403 });
      }
      await authorize(caller, alice, { username: "alicia", email: "alice@example.org" });
    }
  });

  it("110 and 129 superadmin and bypassing keys need no proof; e-mail: unverified, one-time tokens dead, tokens revoked", async () => {
    const pair = await world.login("alice");
    const pending = { resetHash: "r", resetExpires: 1, verifyHash: "v", verifyExpires: 1 };
    await world.patch(alice.id, { set: { emailVerified: true }, setHidden: pending });
    const changed = await change({ type: "superadmin", id: "superadmin" }, (await world.row(alice.id))!, { email: "new@example.org" });
    expect(changed.record).to.include({ email: "new@example.org", emailVerified: false });
    for (const name of Object.keys(pending)) expect(changed.hidden[name] ?? null, name).to.equal(null);
    expect(await failure(world.caller(pair.accessToken))).to.include({ status: 401 });
    await world.patch(alice.id, { set: { emailVerified: true }, setHidden: pending });
    const again = await world.login("alice");
    const second = await change(keyCaller(bob, true), (await world.row(alice.id))!, { password: next });
    expect(second.record["emailVerified"]).to.equal(true);
    expect(second.hidden["resetHash"] ?? null).to.equal(null);
    expect(second.hidden["verifyHash"]).to.equal("v");
    expect(await failure(world.caller(again.accessToken))).to.include({ status: 401 });
  });

  it("a write that is built again hashes once, and a proof does not outlive the password it was made with", async () => {
    const { secrets } = await authorize(userCaller(alice), alice, { password: next, oldPassword: password });
    const hashes = counted.counts.hash;
    const one = await world.users.policy.updateColumns(alice, {}, secrets);
    const two = await world.users.policy.updateColumns(alice, {}, secrets);
    expect(one.setHidden["passwordHash"]).to.equal(two.setHidden["passwordHash"]);
    expect(counted.counts.hash).to.equal(hashes + 1);
    await change({ type: "superadmin", id: "superadmin" }, alice, { password: "set by the superadmin" });
    const { store } = await world.context();
    const late = await store.write({ operations: [{ type: "update", table: "c_users", id: alice.id, ...one }] }).catch((error: unknown) => error);
    expect(late).to.be.instanceOf(ConditionMissed);
    const error = await failure(world.users.policy.updateColumns((await world.row(alice.id))!, {}, secrets));
    expect(error.status).to.equal(400);
    await world.login("alice", "set by the superadmin");
  });

  it("an address written back as it was read does not undo a change made meanwhile", async () => {
    const { body, secrets } = await authorize(userCaller(bob), alice, { username: "alicia", email: "alice@example.org" });
    await change({ type: "superadmin", id: "superadmin" }, alice, { email: "new@example.org" });
    const columns = await world.users.policy.updateColumns((await world.row(alice.id))!, body, secrets);
    expect(columns).to.deep.equal({ set: { email: "new@example.org" }, setHidden: {}, increment: {}, hiddenIs: {} });
  });

  it("a removed user takes sessions along, and the API keys are revoked", async () => {
    const context = await world.context();
    await world.login("alice");
    const key = await world.apiKeys.create(context, { name: "machine", userId: alice.id });
    await context.store.write({ operations: [{ type: "remove", table: "c_users", id: alice.id }, ...(await world.users.policy.removeOperations(context, alice.id))] });
    expect(await world.apiKeys.get(context, key.id)).to.include({ status: "revoked" });
    expect(await failure(world.caller(key.key))).to.deep.include({ status: 401, rejection: "revoked" });
    expect(await context.store.table("refresh_families").list({ filter: { op: "all", filters: [] }, limit: 10 })).to.deep.equal([]);
  });
});
