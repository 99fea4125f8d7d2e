// Subscriptions of host code: an async iterator under the caller's rules.
import { expect } from "chai";
import type { Caller } from "../../../lib/core/call.js";
import { SubscriberTooSlow } from "../../../lib/realtime/watcher.js";
import { until } from "../../support/event-stream.js";
import { openHouse, type Hand, type House } from "./house.js";

describe("realtime: in code", () => {
  let house: House;
  let tenant: Hand;

  beforeEach(async () => {
    house = await openHouse({ maxBuffer: 20_000 });
    tenant = await house.tenant();
    await tenant.collection("tasks", { viewRule: "owner = @auth.id" });
  });
  afterEach(() => house.close());

  async function callerOf(userId: string): Promise<Caller> {
    const { store, collections } = await tenant.context();
    return { type: "user", user: (await store.table(collections.get("users")!.table).find(userId))!.record, familyId: null, expiresAt: null };
  }

  async function watch(caller: Caller, options = {}) {
    return house.realtime.watch(await tenant.context(), caller, "", "tasks", options);
  }

  it("yields id, action and record of what the caller may see; break ends it", async () => {
    const alice = await tenant.user("alice");
    const iterator = await watch(await callerOf(alice.id));
    await tenant.create("tasks", { title: "hidden", owner: "somebody" });
    const record = await tenant.create("tasks", { title: "mine", owner: alice.id });
    await tenant.remove("tasks", record.id);
    const { value } = await iterator.next();
    expect(value).to.have.keys(["id", "action", "record"]);
    expect(value).to.deep.include({ action: "create", record });
    for await (const event of iterator) {
      expect(event).to.deep.include({ action: "delete", record });
      break;
    }
    expect(house.realtime.stats()).to.include({ watchers: 0, tenants: 0 });
  });

  it("the system sees all, a guest what is public", async () => {
    const system = await watch({ type: "system" }, { since: "nothing" });
    const guest = await watch({ type: "guest" }, { since: "nothing" });
    expect((await system.next()).value.action).to.equal("resync");
    expect((await guest.next()).value.action).to.equal("resync");
    await tenant.create("tasks", { title: "owned", owner: "somebody" });
    expect((await system.next()).value.record.title).to.equal("owned");
    await house.collections.update(await tenant.context(), "tasks", { viewRule: "true" });
    await tenant.create("tasks", { title: "public" });
    expect((await guest.next()).value.record.title).to.equal("public");
    await Promise.all([system.return?.(), guest.return?.()]);
  });

  it("since replays, and a signal ends it", async () => {
    const alice = await tenant.user("alice");
    const since = await (await tenant.context()).store.changes.head();
    const one = await tenant.create("tasks", { title: "one", owner: alice.id });
    await tenant.create("tasks", { title: "two", owner: alice.id });
    const controller = new AbortController();
    const iterator = await watch(await callerOf(alice.id), { since, id: one.id, signal: controller.signal });
    expect((await iterator.next()).value.record.title).to.equal("one");
    const pending = iterator.next();
    controller.abort();
    expect(await pending).to.deep.equal({ done: true, value: undefined });
    expect((await (await watch({ type: "system" }, { signal: controller.signal })).next()).done).to.equal(true);
    expect(house.realtime.stats()).to.include({ watchers: 0 });
  });

  it("ends with its user, with its collection and with the service", async () => {
    const alice = await tenant.user("alice");
    const hers = await watch(await callerOf(alice.id), { since: "nothing" });
    const system = await watch({ type: "system" }, { since: "nothing" });
    await Promise.all([hers.next(), system.next()]);
    await tenant.changeUser(alice.id, { revoke: true });
    await tenant.create("tasks", { title: "host code holds no token", owner: alice.id });
    expect((await hers.next()).value.record.title).to.equal("host code holds no token");
    await tenant.removeUser(alice.id);
    expect((await hers.next()).done).to.equal(true);
    await system.next();
    await house.collections.remove(await tenant.context(), "tasks");
    expect((await system.next()).done).to.equal(true);
    await tenant.collection("tasks");
    const last = await watch({ type: "system" }, { since: "nothing" });
    await last.next();
    const pending = last.next();
    await house.realtime.close();
    expect((await pending).done).to.equal(true);
  });

  it("whoever does not read gets what waited, then an error", async () => {
    const slow = await watch({ type: "system" }, { since: "nothing" });
    await slow.next();
    for (let index = 0; index < 40; index += 1) await tenant.create("tasks", { title: "x".repeat(1_000) });
    await until(() => house.realtime.stats().watchers === 0);
    let read = 0;
    try {
      for await (const event of slow) if (event.action === "create") read += 1;
      expect.fail("it ended without an error");
    } catch (error) {
      expect(error).to.be.instanceOf(SubscriberTooSlow);
    }
    expect(read).to.be.within(10, 30);
  });

  it("an unknown collection and users are refused at once", async () => {
    const context = await tenant.context();
    expect(() => house.realtime.watch(context, { type: "system" }, "", "nothing")).to.throw("Unknown collection");
    expect(() => house.realtime.watch(context, { type: "system" }, "", "users")).to.throw("Realtime is off");
  });
});
