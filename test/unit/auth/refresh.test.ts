import { expect } from "chai";
import { familiesTable } from "../../../lib/auth/families.js";
import { always } from "../../../lib/storage/filter.js";
import { failure, openWorld, type World } from "./world.js";

describe("refresh tokens", () => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld();
    await world.createTenant();
    await world.signUp("alice");
  });
  afterEach(() => world.close());

  const refresh = (refreshToken: unknown) => world.auth.refresh(world.origin, { refreshToken } as never);

  it("a token gives a new pair, once", async () => {
    const first = await world.login("alice");
    const second = await refresh(first.refreshToken);
    expect(second.refreshToken).not.to.equal(first.refreshToken);
    await world.caller(second.accessToken);
    expect(await failure(refresh(first.refreshToken))).to.deep.include({ status: 401, body: { error: "Unauthorized" } });
    await refresh(second.refreshToken);
  });

  it("080 anything else is 401", async () => {
    const { refreshToken, accessToken } = await world.login("alice");
    const forged = `${refreshToken.slice(0, 60)}${refreshToken[60] === "A" ? "B" : "A"}${refreshToken.slice(61)}`;
    for (const wrong of [undefined, null, "", 5, {}, [], "garbage", accessToken, forged, `${refreshToken}=`, ` ${refreshToken}`, refreshToken.slice(0, -1), "A".repeat(107), "x".repeat(100_000)]) {
      expect(await failure(refresh(wrong)), String(wrong).slice(0, 40)).to.deep.include({ status: 401, body: { error: "Unauthorized" } });
    }
    await refresh(refreshToken);
  });

  it("reuse within 10 s is only refused, later it revokes the family with its access tokens", async () => {
    const other = await world.login("alice");
    const first = await world.login("alice");
    const second = await refresh(first.refreshToken);
    world.clock.time += 10_000;
    expect(await failure(refresh(first.refreshToken))).to.include({ status: 401 });
    await world.caller(second.accessToken);
    world.clock.time += 1;
    expect(await failure(refresh(first.refreshToken))).to.include({ status: 401 });
    expect(await failure(world.caller(second.accessToken))).to.deep.include({ status: 401, rejection: "revoked" });
    expect(await failure(refresh(second.refreshToken))).to.include({ status: 401 });
    await world.caller(other.accessToken);
    await refresh(other.refreshToken);
  });

  it("a token spent several rotations ago revokes too, but not within its 10 s", async () => {
    const first = await world.login("alice");
    let last = await refresh(first.refreshToken);
    world.clock.time += 4_000;
    for (let round = 0; round < 3; round += 1) last = await refresh(last.refreshToken);
    expect(await failure(refresh(first.refreshToken))).to.include({ status: 401 });
    last = await refresh(last.refreshToken);
    world.clock.time += 7_000;
    last = await refresh(last.refreshToken);
    expect(await failure(refresh(first.refreshToken))).to.include({ status: 401 });
    expect(await failure(refresh(last.refreshToken))).to.include({ status: 401 });
    expect(await failure(world.caller(last.accessToken))).to.include({ status: 401 });
  });

  it("ends after its lifetime, which each rotation renews", async () => {
    let pair = await world.login("alice");
    world.clock.time += 29 * 86_400_000;
    pair = await refresh(pair.refreshToken);
    world.clock.time += 29 * 86_400_000;
    pair = await refresh(pair.refreshToken);
    world.clock.time += 30 * 86_400_000;
    expect(await failure(refresh(pair.refreshToken))).to.include({ status: 401 });
  });

  it("084 logout ends access and refresh tokens of every session; a second one is refused", async () => {
    const one = await world.login("alice");
    const two = await world.login("alice");
    const { context, call } = await world.caller(one.accessToken);
    await world.auth.logout(context, call);
    for (const pair of [one, two]) {
      expect(await failure(world.caller(pair.accessToken))).to.include({ status: 401, rejection: "revoked" });
      expect(await failure(refresh(pair.refreshToken))).to.include({ status: 401 });
    }
    expect(await context.store.table(familiesTable).count(always)).to.equal(0);
    await world.login("alice");
  });

  it("033 logout of a session ends that one only", async () => {
    const one = await world.login("alice");
    const two = await world.login("alice");
    const { context, call } = await world.caller(one.accessToken);
    await world.auth.logout(context, call, { scope: "session" });
    expect(await failure(world.caller(one.accessToken))).to.include({ status: 401 });
    expect(await failure(refresh(one.refreshToken))).to.include({ status: 401 });
    await world.caller(two.accessToken);
    await refresh(two.refreshToken);
    const next = await world.caller(two.accessToken);
    expect(await failure(world.auth.logout(next.context, next.call, { scope: "none" }))).to.deep.include({ status: 400 });
  });

  it("many revoked sessions end in a revocation of all, never in a list without end", async () => {
    const kept = await world.login("alice");
    for (let index = 0; index < 51; index += 1) {
      const { accessToken } = await world.login("alice");
      const { context, call } = await world.caller(accessToken);
      await world.auth.logout(context, call, { scope: "session" });
    }
    expect(await failure(world.caller(kept.accessToken))).to.include({ status: 401 });
    await world.login("alice");
  });

  it("a refresh after the password has changed is refused", async () => {
    const pair = await world.login("alice");
    const { context, call } = await world.caller(pair.accessToken);
    const row = (await world.row(call.caller.type === "user" ? call.caller.user.id : ""))!;
    const columns = await world.users.policy.updateColumns(row, {}, { password: "another long password" });
    await context.store.write({ operations: [{ type: "update", table: "c_users", id: row.id, setHidden: columns.setHidden, increment: columns.increment, hiddenIs: columns.hiddenIs }] });
    expect(await failure(refresh(pair.refreshToken))).to.include({ status: 401 });
    expect(await failure(world.caller(pair.accessToken))).to.include({ status: 401 });
    await world.login("alice", "another long password");
  });
});
