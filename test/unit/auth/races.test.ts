// Races over two services on one folder: one winner each.
import { expect } from "chai";
import { usersTable } from "../../../lib/collections/collection.js";
import { always } from "../../../lib/storage/filter.js";
import { failure, openWorld, password, type World } from "./world.js";

describe("races of two services over one store", function () {
  this.timeout(120_000);
  let one: World;
  let two: World;
  beforeEach(async () => {
    one = await openWorld();
    await one.createTenant();
    two = await openWorld({ folder: one.folder, clock: one.clock });
  });
  afterEach(async () => {
    await two.close();
    await one.close();
  });

  /** Twenty at a time, ten on each service. */
  const twenty = <T>(run: (world: World, index: number) => Promise<T>) => Promise.allSettled([...Array(20).keys()].map((index) => run(index % 2 === 0 ? one : two, index)));
  const won = <T>(results: readonly PromiseSettledResult<T>[]): T[] => results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const lost = (results: readonly PromiseSettledResult<unknown>[]): { status?: number; body?: unknown }[] => results.flatMap((result) => (result.status === "rejected" ? [result.reason as { status?: number }] : []));

  it("F-30 one username, one account", async () => {
    await one.set({ selfRegistration: true });
    for (let round = 0; round < 200; round += 1) {
      const results = await twenty(async (world) => await world.auth.register(await world.context(), world.origin, { username: `user${round}`, password }));
      expect(won(results)).to.have.length(1);
      for (const error of lost(results)) expect(error).to.deep.include({ status: 400, body: [{ field: "username", message: "is taken by another user" }] });
    }
    expect(await (await two.context()).store.table(usersTable).count(always)).to.equal(200);
  });

  it("F-31 one refresh token, one successor; a family survives the race and its winner goes on", async () => {
    await one.signUp("alice");
    for (let round = 0; round < 200; round += 1) {
      const { refreshToken } = await one.login("alice");
      const results = await twenty((world) => world.auth.refresh(world.origin, { refreshToken }));
      const [winner, ...others] = won(results);
      expect(others).to.have.length(0);
      for (const error of lost(results)) expect(error).to.deep.include({ status: 401, body: { error: "Unauthorized" } });
      await two.caller(winner!.accessToken);
      await two.auth.refresh(two.origin, { refreshToken: winner!.refreshToken });
    }
  });

  it("F-33 refresh against logout: no token outlives it", async () => {
    await one.signUp("alice");
    for (let round = 0; round < 200; round += 1) {
      const pair = await one.login("alice");
      const { context, call } = await one.caller(pair.accessToken);
      const [refreshed] = await Promise.allSettled([two.auth.refresh(two.origin, { refreshToken: pair.refreshToken }), one.auth.logout(context, call)]);
      const tokens = [pair, ...won([refreshed!])];
      for (const token of tokens) {
        expect(await failure(two.caller(token.accessToken))).to.include({ status: 401 });
        expect(await failure(two.auth.refresh(two.origin, { refreshToken: token.refreshToken }))).to.include({ status: 401 });
      }
    }
  });

  it("F-34 login against a change of the password: the old one's tokens never work afterwards, and one password is valid", async () => {
    const alice = await one.signUp("alice");
    let current = password;
    for (let round = 0; round < 200; round += 1) {
      const next = `the next password ${round}`;
      // A hash with other parameters: the login wants to renew it while the password changes.
      await one.patch(alice.id, { setHidden: { passwordHash: await (await import("../../../lib/hasher/argon2.js")).createArgon2Hasher({ memory: 64, iterations: 2, parallelism: 1 }).hash(current) } });
      const change = async (): Promise<void> => {
        for (;;) {
          const row = (await one.row(alice.id))!;
          const columns = await one.users.policy.updateColumns(row, {}, { password: next });
          const written = await (await one.context()).store.write({ operations: [{ type: "update", table: usersTable, id: row.id, ...columns }] }).catch(() => undefined);
          if (written !== undefined) return;
        }
      };
      const [signedIn] = await Promise.allSettled([two.login("alice", current), change()]);
      for (const token of won([signedIn!])) {
        expect(await failure(one.caller(token.accessToken))).to.include({ status: 401 });
        expect(await failure(one.auth.refresh(one.origin, { refreshToken: token.refreshToken }))).to.include({ status: 401 });
      }
      expect(await failure(one.login("alice", current))).to.include({ status: 401 });
      await two.login("alice", next);
      current = next;
    }
  });

  it("a key that is revoked by one service is refused by the other at once", async () => {
    const alice = await one.signUp("alice");
    const context = await one.context();
    for (let round = 0; round < 10; round += 1) {
      const { key, id } = await one.apiKeys.create(context, { name: "machine", userId: alice.id });
      await two.caller(key);
      await one.apiKeys.revoke(context, id);
      expect(await failure(two.caller(key))).to.include({ status: 401, rejection: "revoked" });
    }
  });
});
