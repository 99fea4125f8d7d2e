// What a subscriber receives, over real connections and a real store.
import { expect } from "chai";
import { openStream, type TestStream } from "../../support/event-stream.js";
import { openHouse, type Hand, type House } from "./house.js";

describe("realtime: delivery", () => {
  let house: House;
  let tenant: Hand;
  const streams: TestStream[] = [];

  async function open(token?: string, subscriptions?: string[], more = {}): Promise<TestStream> {
    const stream = await openStream(house.url);
    streams.push(stream);
    if (token !== undefined) expect((await stream.subscribe(token, subscriptions!, more)).status).to.equal(200);
    return stream;
  }

  beforeEach(async () => {
    house = await openHouse();
    tenant = await house.tenant();
  });
  afterEach(async () => {
    for (const stream of streams.splice(0)) stream.close();
    await house.close();
  });

  it("sends the connect event first, with the stream's headers", async () => {
    const stream = await open();
    expect(stream.events[0]).to.deep.equal({ event: "connect", id: undefined, data: { clientId: stream.clientId } });
    expect(stream.clientId).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(stream.headers).to.include({ "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no", "x-request-id": "test" });
  });

  it("delivers each change as an event named after the collection, with action, record and id", async () => {
    await tenant.collection("tasks");
    const user = await tenant.user("alice");
    const stream = await open(user.token, ["tasks"]);
    const record = await tenant.create("tasks", { title: "one\r\n\u2028 ü" });
    const created = await stream.next();
    expect(created).to.deep.include({ event: "tasks", data: { action: "create", record } });
    expect(created.id).to.be.a("string");
    await tenant.update("tasks", record.id, { title: "two" });
    const updated = await stream.next();
    expect(updated.data.action).to.equal("update");
    expect(updated.data.record).to.include({ id: record.id, title: "two" });
    await tenant.remove("tasks", record.id);
    const removed = await stream.next();
    expect(removed.data).to.deep.equal({ action: "delete", record: updated.data.record });
    expect(new Set([created.id, updated.id, removed.id]).size).to.equal(3);
  });

  it("answers with the subscriptions, and replaces the former set", async () => {
    await tenant.collection("tasks");
    await tenant.collection("notes");
    const user = await tenant.user("alice");
    const stream = await open();
    expect(await stream.subscribe(user.token, ["tasks", "tasks"])).to.deep.equal({ status: 200, body: { subscriptions: ["tasks"] } });
    expect(await stream.subscribe(user.token, ["notes"])).to.deep.equal({ status: 200, body: { subscriptions: ["notes"] } });
    await tenant.create("tasks", { title: "not told" });
    await tenant.create("notes", { title: "told" });
    expect((await stream.next()).event).to.equal("notes");
    expect(await stream.subscribe(user.token, [])).to.deep.equal({ status: 200, body: { subscriptions: [] } });
    await tenant.create("notes", { title: "silence" });
    expect((await stream.subscribe(user.token, ["tasks"])).status).to.equal(200);
    await tenant.create("tasks", { title: "again" });
    expect((await stream.next()).data.record?.["title"]).to.equal("again");
  });

  it("tells of one record only where that is what was asked for, and once where it was asked for twice", async () => {
    await tenant.collection("tasks");
    const user = await tenant.user("alice");
    const one = await tenant.create("tasks", { title: "one" });
    const two = await tenant.create("tasks", { title: "two" });
    const single = await open(user.token, [`tasks/${one.id}`, `tasks/${"0".repeat(36)}`]);
    const both = await open(user.token, ["tasks", `tasks/${two.id}`]);
    await tenant.update("tasks", two.id, { title: "2" });
    await tenant.update("tasks", one.id, { title: "1" });
    expect((await single.next()).data.record?.["title"]).to.equal("1");
    expect([(await both.next()).data.record?.["title"], (await both.next()).data.record?.["title"]]).to.deep.equal(["2", "1"]);
    expect(single.events).to.have.length(2);
  });

  it("a stream that has not subscribed receives nothing", async () => {
    await tenant.collection("tasks");
    const user = await tenant.user("alice");
    const silent = await open();
    const told = await open(user.token, ["tasks"]);
    await tenant.create("tasks", { title: "one" });
    await told.next();
    expect(silent.events).to.have.length(1);
  });

  it("gives the record with links below the mount path where the collection has files", async () => {
    await tenant.collection("docs", { fields: [{ name: "title", type: "TEXT" }, { name: "file", type: "FILE" }] });
    const user = await tenant.user("alice");
    const stream = await openStream(house.url, { "x-mount": "/backend" });
    streams.push(stream);
    await stream.subscribe(user.token, ["docs"]);
    const bare = await open(user.token, ["docs"]);
    const record = await tenant.create("docs", { title: "one", file: null });
    expect((await stream.next()).data.record?.["url"]).to.equal(`/backend/api/collections/docs/${record.id}`);
    expect((await bare.next()).data.record?.["url"]).to.equal(`/api/collections/docs/${record.id}`);
  });

  it("never tells another tenant", async () => {
    const other = await house.tenant();
    await tenant.collection("tasks");
    await other.collection("tasks");
    const mine = await open((await tenant.user("alice")).token, ["tasks"]);
    const theirs = await open((await other.user("alice")).token, ["tasks"]);
    await tenant.create("tasks", { title: "mine" });
    await other.create("tasks", { title: "theirs" });
    expect((await mine.next()).data.record?.["title"]).to.equal("mine");
    expect((await theirs.next()).data.record?.["title"]).to.equal("theirs");
    expect(mine.events).to.have.length(2);
  });

  const presets: { name: string; viewRule: string | null; sees: string[] }[] = [
    { name: "No access", viewRule: null, sees: ["superadmin"] },
    { name: "Public", viewRule: "true", sees: ["alice", "bob", "carol", "key", "bypass", "superadmin"] },
    { name: "Signed in", viewRule: "@auth.id != null", sees: ["alice", "bob", "carol", "key", "bypass", "superadmin"] },
    { name: "Own records", viewRule: "owner = @auth.id", sees: ["alice", "key", "superadmin"] },
    { name: "Group peers", viewRule: "group = @auth.group", sees: ["alice", "bob", "key", "bypass", "superadmin"] },
    { name: "owner and more", viewRule: "owner = @auth.id && rank > 5", sees: ["superadmin"] },
    { name: "owner or more", viewRule: "owner = @auth.id || @auth.username = 'carol'", sees: ["alice", "carol", "key", "superadmin"] },
    { name: "by time", viewRule: "createdAt <= @now && owner = @auth.id", sees: ["alice", "key", "superadmin"] },
    { name: "by method", viewRule: "@method = 'GET'", sees: ["alice", "bob", "carol", "key", "bypass", "superadmin"] },
    { name: "not the owner", viewRule: "owner != @auth.id", sees: ["bob", "carol", "bypass", "superadmin"] },
  ];
  for (const { name, viewRule, sees } of presets) {
    it(`viewRule ${name}: an event for exactly those whom the rule lets see the record`, async () => {
      await house.collections.update(await tenant.context(), "users", { fields: [...(await tenant.context()).collections.get("users")!.definition.fields, { name: "group", type: "TEXT" }] });
      await tenant.collection("tasks", { viewRule });
      await tenant.collection("marks");
      const alice = await tenant.user("alice", { group: "red" });
      const bob = await tenant.user("bob", { group: "red" });
      const carol = await tenant.user("carol", { group: "blue" });
      const tokens: Record<string, string> = {
        alice: alice.token, bob: bob.token, carol: carol.token,
        key: tenant.key(alice.id), bypass: tenant.key(bob.id, { keyId: "other", bypassRules: true }), superadmin: tenant.superadmin(),
      };
      const whole = new Map<string, TestStream>();
      for (const [who, token] of Object.entries(tokens)) whole.set(who, await open(token, ["tasks", "marks"]));
      const record = await tenant.create("tasks", { title: "one", owner: alice.id, group: "red", rank: 1 });
      const single = new Map<string, TestStream>();
      for (const [who, token] of Object.entries(tokens)) single.set(who, await open(token, [`tasks/${record.id}`, "marks"]));
      await tenant.update("tasks", record.id, { title: "two" });
      await tenant.remove("tasks", record.id);
      await tenant.create("marks", { title: "the end" });
      for (const [streamsOf, actions] of [[whole, ["create", "update", "delete"]], [single, ["update", "delete"]]] as const) {
        for (const [who, stream] of streamsOf) {
          const seen: string[] = [];
          for (let event = await stream.next(); event.event !== "marks"; event = await stream.next()) seen.push(event.data.action!);
          expect(seen, who).to.deep.equal(sees.includes(who) ? actions : []);
        }
      }
    });
  }

  it("evaluates the rule with the caller as that caller is now", async () => {
    await tenant.collection("tasks", { viewRule: "@auth.username = 'boss'" });
    await tenant.collection("marks");
    const user = await tenant.user("clerk");
    const peer = await tenant.user("clerk2");
    const stream = await open(user.token, ["tasks", "marks"]);
    const other = await open(peer.token, ["tasks", "marks"]);
    await tenant.create("tasks", { title: "hidden" });
    await tenant.changeUser(user.id, { set: { username: "boss" } });
    await tenant.create("tasks", { title: "seen" });
    await tenant.changeUser(user.id, { set: { username: "clerk" } });
    await tenant.create("tasks", { title: "hidden again" });
    await tenant.create("marks", { title: "the end" });
    expect((await stream.next()).data.record?.["title"]).to.equal("seen");
    expect((await stream.next()).event).to.equal("marks");
    expect((await other.next()).event).to.equal("marks");
  });

  it("evaluates the rule as it is now, and ends the subscriptions of a collection that is removed", async () => {
    await tenant.collection("tasks", { viewRule: "owner = @auth.id" });
    await tenant.collection("marks");
    const user = await tenant.user("alice");
    const stream = await open(user.token, ["tasks", "marks"]);
    await tenant.create("tasks", { title: "hidden" });
    await house.collections.update(await tenant.context(), "tasks", { viewRule: "true" });
    await tenant.create("tasks", { title: "seen" });
    expect((await stream.next()).data.record?.["title"]).to.equal("seen");
    await house.collections.remove(await tenant.context(), "tasks");
    await tenant.collection("tasks");
    await tenant.create("tasks", { title: "of another collection" });
    await house.collections.update(await tenant.context(), "marks", { realtime: false });
    await tenant.create("marks", { title: "off" });
    await house.collections.update(await tenant.context(), "marks", { realtime: true });
    await tenant.create("marks", { title: "still off" });
    expect((await stream.subscribe(user.token, ["marks"])).status).to.equal(200);
    await tenant.create("marks", { title: "on" });
    expect((await stream.next()).data.record?.["title"]).to.equal("on");
  });

  it("many changes in one tick come whole and in order", async () => {
    await tenant.collection("tasks", { viewRule: "owner = @auth.id || rank = 0" });
    const users = await Promise.all(Array.from({ length: 5 }, (_, index) => tenant.user(`user${index}`)));
    const opened = [];
    for (const user of users) for (let copy = 0; copy < 4; copy += 1) opened.push({ user, stream: await open(user.token, ["tasks"]) });
    const records = await Promise.all(Array.from({ length: 300 }, (_, index) =>
      tenant.create("tasks", { title: String(index), owner: users[index % 5]!.id, rank: index % 3 })));
    for (const { user, stream } of opened) {
      const expected = records.filter((record) => record["owner"] === user.id || record["rank"] === 0).map((record) => record.id);
      const got: string[] = [];
      while (got.length < expected.length) got.push((await stream.next()).data.record!.id);
      expect(new Set(got)).to.deep.equal(new Set(expected));
    }
    const orders = opened.map(({ stream }) => stream.events.slice(1).filter((event) => event.data.record!["rank"] === 0).map((event) => event.id).join());
    expect(new Set(orders).size).to.equal(1);
  });
});
