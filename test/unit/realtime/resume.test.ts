// Coming back with `since`: what was missed first, then live, without a gap and without a double.
import { expect } from "chai";
import fastCheck from "fast-check";
import { openStream, type ReceivedEvent, type TestStream } from "../../support/event-stream.js";
import { openHouse, type Hand, type House } from "./house.js";

describe("realtime: resume", () => {
  let house: House;
  let tenant: Hand;
  const streams: TestStream[] = [];

  async function open(token: string, subscriptions: string[], since?: string): Promise<TestStream> {
    const stream = await openStream(house.url);
    streams.push(stream);
    expect((await stream.subscribe(token, subscriptions, since === undefined ? {} : { since })).status).to.equal(200);
    return stream;
  }

  async function start(options = {}): Promise<void> {
    house = await openHouse(options);
    tenant = await house.tenant();
    await tenant.collection("tasks", { viewRule: "owner = @auth.id || rank = 0" });
  }

  /** The titles of the next events. */
  async function titles(stream: TestStream, count: number): Promise<unknown[]> {
    const found: unknown[] = [];
    while (found.length < count) found.push((await stream.next()).data.record?.["title"]);
    return found;
  }

  afterEach(async () => {
    for (const stream of streams.splice(0)) stream.close();
    await house.close();
  });

  it("replays what the subscriber may see and missed, then goes on live", async () => {
    await start();
    const { id, token } = await tenant.user("alice");
    const before = await open(token, ["tasks"]);
    await tenant.create("tasks", { title: "seen", owner: id });
    const { id: since } = await before.next();
    before.close();
    const missed = await tenant.create("tasks", { title: "missed", owner: id });
    await tenant.create("tasks", { title: "of somebody else", owner: "other" });
    await tenant.update("tasks", missed.id, { title: "changed" });
    await tenant.remove("tasks", missed.id);
    const after = await open(token, ["tasks"], since);
    await tenant.create("tasks", { title: "live", owner: id });
    expect(await titles(after, 4)).to.deep.equal(["missed", "changed", "changed", "live"]);
    expect(after.events.slice(1).map((event) => event.data.action)).to.deep.equal(["create", "update", "delete", "create"]);
    expect(after.events.some((event) => event.event === "resync")).to.equal(false);
  });

  it("the position that a subscribe tells is one to resume from", async () => {
    await start();
    const { token } = await tenant.user("alice");
    const first = await open(token, ["tasks"]);
    const since = /^: position (.+)$/.exec(await first.comment())![1]!;
    first.close();
    await tenant.create("tasks", { title: "missed", rank: 0 });
    expect(await titles(await open(token, ["tasks"], since), 1)).to.deep.equal(["missed"]);
  });

  it("replays under the rules as they are now, for single records and several collections too", async () => {
    await start();
    await tenant.collection("notes", { viewRule: null });
    const { token } = await tenant.user("alice");
    const first = await open(token, ["tasks"]);
    await tenant.create("tasks", { title: "start", rank: 0 });
    const { id: since } = await first.next();
    const note = await tenant.create("notes", { title: "note" });
    await tenant.create("notes", { title: "other note" });
    await tenant.create("tasks", { title: "task", rank: 0 });
    await house.collections.update(await tenant.context(), "notes", { viewRule: "true" });
    await house.collections.update(await tenant.context(), "tasks", { viewRule: "rank = 1" });
    await tenant.create("tasks", { title: "end", rank: 1 });
    expect(await titles(await open(token, ["tasks", `notes/${note.id}`], since), 2)).to.deep.equal(["note", "end"]);
  });

  for (const { name, since } of [
    { name: "an unknown since", since: async () => "nothing" },
    { name: "an empty since", since: async () => "" },
    { name: "a since of 10,000 characters", since: async () => "x".repeat(10_000) },
    {
      name: "a since of another tenant",
      async since() {
        const other = await house.tenant();
        await other.collection("tasks");
        const stream = await open((await other.user("mallory")).token, ["tasks"]);
        await other.create("tasks", { title: "theirs" });
        return (await stream.next()).id!;
      },
    },
    {
      name: "a since of the future",
      async since() {
        const head = await (await tenant.context()).store.changes.head();
        return head.replace(/\d+$/, (number) => String(Number(number) + 1000));
      },
    },
  ]) {
    it(`${name}: resync, then live`, async () => {
      await start();
      const { token } = await tenant.user("alice");
      await tenant.create("tasks", { title: "old", rank: 0 });
      const stream = await open(token, ["tasks"], await since());
      const resync = await stream.next();
      expect(resync).to.deep.include({ event: "resync", data: {} });
      await tenant.create("tasks", { title: "live", rank: 0 });
      expect(await titles(stream, 1)).to.deep.equal(["live"]);
      const again = await open(token, ["tasks"], resync.id);
      expect(await titles(again, 1)).to.deep.equal(["live"]);
    });
  }

  it("a history that does not reach back: resync", async () => {
    await start({ history: 5 });
    const { token } = await tenant.user("alice");
    const first = await open(token, ["tasks"]);
    await tenant.create("tasks", { title: "first", rank: 0 });
    const { id: since } = await first.next();
    for (let index = 0; index < 10; index += 1) await tenant.create("tasks", { title: String(index), rank: 0 });
    // Whether or not the store has let go of them yet.
    expect((await (await open(token, ["tasks"], since)).next()).event).to.equal("resync");
  });

  it("without any history every change is told live, and since is a resync", async () => {
    await start({ history: 0 });
    const { token } = await tenant.user("alice");
    const first = await open(token, ["tasks"]);
    await tenant.create("tasks", { title: "one", rank: 0 });
    const { id: since } = await first.next();
    await tenant.create("tasks", { title: "two", rank: 0 });
    await house.realtime.trim();
    const second = await open(token, ["tasks"], since);
    expect((await second.next()).event).to.equal("resync");
    for (let round = 0; round < 3; round += 1) {
      await tenant.create("tasks", { title: `round ${round}`, rank: 0 });
      await house.realtime.trim();
      expect(await titles(second, 1)).to.deep.equal([`round ${round}`]);
      const more = await open(token, ["tasks"]);
      more.close();
    }
    expect(await titles(first, 4)).to.deep.equal(["two", "round 0", "round 1", "round 2"]);
  });

  it("records of a collection that had the name before are never replayed", async () => {
    await start();
    await tenant.collection("secrets", { viewRule: null });
    const { token } = await tenant.user("alice");
    const first = await open(token, ["tasks"]);
    await tenant.create("tasks", { title: "start", rank: 0 });
    const { id: since } = await first.next();
    await tenant.create("secrets", { title: "secret" });
    await house.collections.remove(await tenant.context(), "secrets");
    house.clock.offset += 1_000;
    await tenant.collection("secrets", { viewRule: "true" });
    await tenant.create("secrets", { title: "public" });
    const stream = await open(token, ["secrets"], since);
    expect((await stream.next()).event).to.equal("resync");
    await tenant.create("secrets", { title: "live" });
    expect(await titles(stream, 1)).to.deep.equal(["live"]);
  });

  it("under a name that is new to a collection the history is another's: resync", async () => {
    await start();
    await tenant.collection("secrets", { viewRule: null });
    const { token } = await tenant.user("alice");
    const first = await open(token, ["tasks"]);
    await tenant.create("tasks", { title: "start", rank: 0 });
    const { id: since } = await first.next();
    await tenant.create("secrets", { title: "secret", rank: 0 });
    for (const [from, to] of [["secrets", "vault"], ["tasks", "secrets"], ["vault", "tasks"]] as const) {
      await house.collections.update(await tenant.context(), from, { name: to });
    }
    for (const name of ["secrets", "tasks"]) {
      const stream = await open(token, [name], since);
      expect((await stream.next()).event).to.equal("resync");
      if (name === "tasks") continue;
      await tenant.create("secrets", { title: "live", rank: 0 });
      expect(await titles(stream, 1)).to.deep.equal(["live"]);
    }
  });

  it("members that the collection no longer has are left out", async () => {
    await start();
    const { token } = await tenant.user("alice");
    const first = await open(token, ["tasks"]);
    await tenant.create("tasks", { title: "start", rank: 0 });
    const { id: since } = await first.next();
    await tenant.create("tasks", { title: "missed", rank: 0, group: "dropped" });
    const context = await tenant.context();
    await house.collections.update(context, "tasks", { fields: context.collections.get("tasks")!.definition.fields.filter((field) => field.name !== "group") });
    const event = await (await open(token, ["tasks"], since)).next();
    expect(event.data.record).to.include({ title: "missed" }).and.not.have.property("group");
  });

  it("a long history comes whole and in order, while others write and read on", async () => {
    await start();
    const { id, token } = await tenant.user("alice");
    const first = await open(token, ["tasks"]);
    await tenant.create("tasks", { title: "start", rank: 0 });
    const { id: since } = await first.next();
    const text = "x".repeat(2_000);
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(Array.from({ length: 100 }, () => tenant.create("tasks", { title: text, owner: id })));
    }
    const late = await open(token, ["tasks"], since);
    await Promise.all(Array.from({ length: 100 }, () => tenant.create("tasks", { title: text, owner: id })));
    const ids: unknown[] = [];
    while (ids.length < 1_100) ids.push((await late.next()).id);
    const live: unknown[] = [];
    while (live.length < 1_100) live.push((await first.next()).id);
    expect(ids).to.deep.equal(live);
    expect(new Set(ids).size).to.equal(1_100);
  });

  it("whoever is killed at any moment and comes back ends with exactly the records he may see", async function () {
    this.timeout(60_000);
    await start();
    const users = await Promise.all(["alice", "bob", "carol"].map((name) => tenant.user(name)));
    const truth = new Map<string, string>();
    let writing = true;

    /** Lives its lives one after another; calls `begun` with its first subscribe, and comes back for good once all is written. */
    async function follow(user: { id: string; token: string }, lives: number[], begun: () => void): Promise<Map<string, string>> {
      const known = new Map<string, string>();
      const seen = new Set<string>();
      let since: string | undefined;
      const apply = (event: ReceivedEvent): void => {
        expect(event.event).to.equal("tasks");
        expect(seen.has(event.id!), "an event came twice").to.equal(false);
        seen.add(event.id!);
        since = event.id;
        const { action, record } = event.data;
        if (action === "delete") known.delete(record!.id);
        else known.set(record!.id, String(record!["title"]));
      };
      for (const life of lives) {
        const stream = await open(user.token, ["tasks"], since);
        since ??= /^: position (.+)$/.exec(await stream.comment())![1];
        begun();
        for (let count = 0; count < life && writing; count += 1) {
          const event = await Promise.race([stream.next(), stream.ended, written]);
          if (event === undefined) break;
          apply(event);
        }
        stream.close();
        await stream.ended;
        // What came but was not taken counts as lost with the connection.
      }
      await written;
      const last = await open(user.token, ["tasks"], since);
      for (let event = await last.next(); event.data.record?.["title"] !== "the end"; event = await last.next()) apply(event);
      return known;
    }

    let finish = (): void => undefined;
    const written = new Promise<void>((resolve) => { finish = resolve; });
    const followers: Promise<Map<string, string>>[] = [];
    const lives = fastCheck.sample(fastCheck.array(fastCheck.integer({ min: 0, max: 15 }), { minLength: 5, maxLength: 12 }), 12);
    await Promise.all(lives.map((life, index) => new Promise<void>((begun) => followers.push(follow(users[index % 3]!, life, begun)))));

    const records: { id: string; owner: string }[] = [];
    for (let round = 0; round < 150; round += 1) {
      const owner = users[round % 3]!.id;
      const writes: Promise<unknown>[] = [tenant.create("tasks", { title: `new ${round}`, owner, rank: 1 }).then((record) => {
        records.push({ id: record.id, owner });
        truth.set(record.id, `new ${round}`);
      })];
      const changed = records[(round * 7) % Math.max(1, records.length)];
      if (changed !== undefined && truth.has(changed.id)) {
        if (round % 5 === 0) {
          truth.delete(changed.id);
          writes.push(tenant.remove("tasks", changed.id));
        } else {
          truth.set(changed.id, `changed ${round}`);
          writes.push(tenant.update("tasks", changed.id, { title: `changed ${round}` }));
        }
      }
      await Promise.all(writes);
    }
    writing = false;
    finish();
    await tenant.create("tasks", { title: "the end", rank: 0 });
    for (const [index, follower] of followers.entries()) {
      const known = await follower;
      const user = users[index % 3]!;
      const expected = new Map(records.filter((record) => record.owner === user.id && truth.has(record.id)).map((record) => [record.id, truth.get(record.id)!]));
      expect(new Map([...known].sort())).to.deep.equal(new Map([...expected].sort()));
    }
  });
});
