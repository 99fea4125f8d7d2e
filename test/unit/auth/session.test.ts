import { expect } from "chai";
import type { Call } from "../../../lib/core/call.js";
import { failure, openWorld, type World } from "./world.js";

describe("signed-in users", () => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld();
    await world.createTenant();
  });
  afterEach(() => world.close());

  const as = async (caller: Call["caller"]): Promise<Call> => ({ tenant: (await world.context()).tenant, caller, request: world.origin.request, meter: { hookMs: 0 } });

  async function signedIn(username: string) {
    const row = await world.signUp(username);
    return { row, ...(await world.caller((await world.login(username)).accessToken)) };
  }

  it("085 me is the caller's own record without role, by token, key and issued token", async () => {
    const { row, context, call } = await signedIn("alice");
    const { role: _role, ...expected } = row.record;
    expect(await world.auth.me(context, call)).to.deep.equal(expected);
    const { key } = await world.apiKeys.create(context, { name: "machine", userId: row.id });
    expect(await world.auth.me(context, (await world.caller(key)).call)).to.deep.equal(expected);
    await world.set({ tokenIssuers: [row.id] });
    const bob = await world.signUp("bob");
    const { accessToken } = await world.auth.issueToken(await world.context(), call, { userId: bob.id });
    const issued = await world.caller(accessToken);
    expect(await world.auth.me(issued.context, issued.call)).to.include({ id: bob.id, username: "bob" }).and.not.have.any.keys("role", "passwordHash", "passwordSalt");
  });

  it("060 and 086 guests and the superadmin get 401 at me, logout and issue-token", async () => {
    const context = await world.context();
    for (const caller of [{ type: "guest" }, { type: "superadmin", id: "superadmin" }] as const) {
      const call = await as(caller);
      for (const attempt of [world.auth.me(context, call), world.auth.logout(context, call), world.auth.issueToken(context, call, { userId: "x" })]) {
        expect(await failure(attempt)).to.deep.include({ status: 401, body: { error: "Unauthorized" }, headers: { "WWW-Authenticate": "Bearer" } });
      }
    }
  });

  it("061 who is not among the token issuers gets 403, an empty list lets nobody", async () => {
    const { row, context, call } = await signedIn("alice");
    expect(await failure(world.auth.issueToken(context, call, { userId: row.id }))).to.deep.include({ status: 403, body: { error: "Forbidden" } });
    await world.set({ tokenIssuers: ["somebody else"] });
    expect(await failure(world.auth.issueToken(await world.context(), call, { userId: row.id }))).to.include({ status: 403 });
  });

  it("062 a userId that is missing, blank or no text gives 400", async () => {
    const { row, call } = await signedIn("ivan");
    await world.set({ tokenIssuers: [row.id] });
    for (const input of [{}, { userId: "" }, { userId: "  " }, { userId: null }, { userId: 5 }, { userId: {} }, { userId: [row.id] }]) {
      const error = await failure(world.auth.issueToken(await world.context(), call, input as never));
      expect(error.status, JSON.stringify(input)).to.equal(400);
      expect((error.body as { field: string }[])[0]!.field).to.equal("userId");
    }
  });

  it("063 a target that is unknown, inactive or of another tenant gives the same 404", async () => {
    const { row, call } = await signedIn("ivan");
    await world.set({ tokenIssuers: [row.id] });
    await world.createTenant("other");
    const bea = await world.signUp("bea", {}, "other");
    const locked = await world.signUp("locked");
    await world.patch(locked.id, { setHidden: { active: false } });
    for (const userId of ["nobody", bea.id, locked.id]) {
      expect(await failure(world.auth.issueToken(await world.context(), call, { userId }))).to.deep.include({ status: 404, body: { error: "User not found" } });
    }
  });

  it("064 and 066 tokens for another user and for oneself; afterLogin fires once with the target's id", async () => {
    const { row, call } = await signedIn("ivan");
    const alice = await world.signUp("alice");
    await world.set({ tokenIssuers: [row.id] });
    for (const target of [alice, row]) {
      world.noted.asked.length = 0;
      const pair = await world.auth.issueToken(await world.context(), call, { userId: target.id });
      expect(pair).to.have.all.keys("accessToken", "refreshToken", "tokenType", "expiresIn");
      expect(world.noted.asked.map(({ event, subject }) => [event, subject.recordId])).to.deep.equal([["beforeRequest", null], ["afterLogin", target.id]]);
      const next = await world.auth.refresh(world.origin, { refreshToken: pair.refreshToken });
      const { call: issued } = await world.caller(next.accessToken);
      expect(issued.caller.type === "user" && issued.caller.user.id).to.equal(target.id);
    }
  });

  it("030 and deactivation: tokens of a user that is gone or inactive end at once", async () => {
    const { row, context } = await signedIn("alice");
    const pair = await world.login("alice");
    await world.patch(row.id, { setHidden: { active: false } });
    expect(await failure(world.caller(pair.accessToken))).to.include({ status: 401, rejection: "revoked" });
    expect(await failure(world.auth.refresh(world.origin, { refreshToken: pair.refreshToken }))).to.include({ status: 401 });
    await world.patch(row.id, { setHidden: { active: true } });
    await world.caller(pair.accessToken);
    await context.store.write({ operations: [{ type: "remove", table: "c_users", id: row.id }, ...(await world.users.policy.removeOperations(context, row.id))] });
    expect(await failure(world.caller(pair.accessToken))).to.include({ status: 401 });
    expect(await failure(world.auth.refresh(world.origin, { refreshToken: pair.refreshToken }))).to.include({ status: 401 });
  });

  it("tokens of a tenant that is removed end at once", async () => {
    const { context } = await signedIn("alice");
    const pair = await world.login("alice");
    await world.tenants.remove(context.tenant.id);
    expect(await failure(world.authenticator.authenticate(`Bearer ${pair.accessToken}`, "127.0.0.1"))).to.include({ status: 401 });
    expect(await failure(world.auth.refresh(world.origin, { refreshToken: pair.refreshToken }))).to.include({ status: 401 });
  });

  it("a key at logout revokes the user's tokens and stays", async () => {
    const { row, context } = await signedIn("alice");
    const pair = await world.login("alice");
    const { key } = await world.apiKeys.create(context, { name: "machine", userId: row.id });
    const { call } = await world.caller(key);
    expect(await failure(world.auth.logout(context, call, { scope: "session" }))).to.include({ status: 400 });
    await world.auth.logout(context, call);
    expect(await failure(world.caller(pair.accessToken))).to.include({ status: 401 });
    await world.caller(key);
  });

  it("020 anything that is no bearer credential is refused, nothing at all is a guest", async () => {
    expect(await world.authenticator.authenticate(undefined, "127.0.0.1")).to.equal(undefined);
    const { accessToken } = await (async () => { await world.signUp("alice"); return await world.login("alice"); })();
    for (const header of ["", "Bearer", "Bearer ", "Basic x", accessToken, `Basic ${accessToken}`, `Bearer${accessToken}`, `Bearer ${accessToken} x`, "Bearer pk_", `Bearer pk_${"x".repeat(43)}`, `Bearer ${"x".repeat(100_000)}`, "Bearer \u00e9.\u00e9.\u00e9"]) {
      expect(await failure(world.authenticator.authenticate(header, "127.0.0.1")), header.slice(0, 30)).to.deep.include({ status: 401, body: { error: "Unauthorized" }, rejection: "unknown" });
    }
    expect((await world.authenticator.authenticate(`bearer ${accessToken}`, "127.0.0.1"))?.caller.type).to.equal("user");
  });
});
