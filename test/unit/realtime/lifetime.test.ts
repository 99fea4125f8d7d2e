// When a stream ends: expiry, revocation, removal, its own client; and that others stay and nothing is left behind.
import { expect } from "chai";
import { openStream, until, type TestStream } from "../../support/event-stream.js";
import { openHouse, type Hand, type House } from "./house.js";

describe("realtime: lifetime", () => {
  let house: House;
  let tenant: Hand;
  const streams: TestStream[] = [];

  async function open(token: string): Promise<TestStream> {
    const stream = await openStream(house.url);
    streams.push(stream);
    expect((await stream.subscribe(token, ["tasks"])).status).to.equal(200);
    return stream;
  }

  /** Those that stay receive the next change. */
  async function stay(...staying: TestStream[]): Promise<void> {
    const { id } = await tenant.create("tasks", { title: "probe" });
    for (const stream of staying) expect((await stream.next()).data.record?.id).to.equal(id);
  }

  beforeEach(async () => {
    house = await openHouse();
    tenant = await house.tenant();
    await tenant.collection("tasks");
  });
  afterEach(async () => {
    for (const stream of streams.splice(0)) stream.close();
    await house.close();
  });

  it("the token's expiry closes the stream, by the service's clock", async () => {
    const { id } = await tenant.user("alice");
    const short = await open(tenant.token(id, { expiresAt: Date.now() + 60_000 }));
    const long = await open(tenant.token(id, { expiresAt: Date.now() + 600_000 }));
    await stay(short, long);
    house.clock.offset = 61_000;
    await short.ended;
    await stay(long);
  });

  it("a subscribe with a refreshed token renews the stream's lifetime", async () => {
    const { id } = await tenant.user("alice");
    const renewed = await open(tenant.token(id, { expiresAt: Date.now() + 60_000 }));
    const other = await open(tenant.token(id, { expiresAt: Date.now() + 60_000 }));
    expect((await renewed.subscribe(tenant.token(id, { expiresAt: Date.now() + 600_000 }), ["tasks"])).status).to.equal(200);
    house.clock.offset = 61_000;
    await other.ended;
    await stay(renewed);
  });

  it("an API key's expiry closes its streams; without one they last", async () => {
    const { id } = await tenant.user("alice");
    const short = await open(tenant.key(id, { keyId: "short", expiresAt: Date.now() + 60_000 }));
    const forever = await open(tenant.key(id, { keyId: "forever" }));
    house.clock.offset = 61_000;
    await short.ended;
    await stay(forever);
  });

  it("revoked tokens close all streams of the user, those of his keys too, and no others", async () => {
    const alice = await tenant.user("alice");
    const bob = await tenant.user("bob");
    const mine = [await open(alice.token), await open(tenant.key(alice.id)), await open(tenant.key(alice.id, { bypassRules: true }))];
    const others = [await open(bob.token), await open(tenant.superadmin())];
    await tenant.changeUser(alice.id, { revoke: true });
    await Promise.all(mine.map((stream) => stream.ended));
    await stay(...others);
    await stay(await open(tenant.token(alice.id, { generation: 2 })));
  });

  it("a user who is removed or made inactive loses his streams", async () => {
    const alice = await tenant.user("alice");
    const bob = await tenant.user("bob");
    const carol = await tenant.user("carol");
    const [first, second, third] = [await open(alice.token), await open(bob.token), await open(carol.token)];
    await tenant.removeUser(alice.id);
    await tenant.changeUser(bob.id, { hidden: { active: false } });
    await Promise.all([first.ended, second.ended]);
    await stay(third);
  });

  it("any other change of a user leaves his streams open", async () => {
    const alice = await tenant.user("alice");
    const stream = await open(alice.token);
    await tenant.changeUser(alice.id, { set: { username: "alicia" } });
    await stay(stream);
  });

  it("a changed or removed key closes its streams", async () => {
    const { id } = await tenant.user("alice");
    const [first, second, third] = [await open(tenant.key(id, { keyId: "one" })), await open(tenant.key(id, { keyId: "two" })), await open(tenant.key(id, { keyId: "three" }))];
    await tenant.logged("$api_keys", "one", "update");
    await tenant.logged("$api_keys", "two", "remove");
    await Promise.all([first.ended, second.ended]);
    await stay(third);
  });

  it("a session that is ended closes the streams of its tokens only", async () => {
    const { id } = await tenant.user("alice");
    const phone = await open(tenant.token(id, { familyId: "phone" }));
    const desk = await open(tenant.token(id, { familyId: "desk" }));
    await tenant.logged("$refresh_families", "phone");
    await phone.ended;
    await stay(desk);
  });

  it("the superadmin's streams end with him", async () => {
    const { token } = await tenant.user("alice");
    const his = await open(tenant.superadmin());
    const hers = await open(token);
    const now = new Date().toISOString();
    await house.storage.system.write({ operations: [{ type: "insert", table: "superadmin", record: { id: "superadmin", createdAt: now, updatedAt: now }, log: { collection: "$superadmin", content: "id" } }] });
    await his.ended;
    await stay(hers);
  });

  it("a tenant that is removed takes its streams with it", async () => {
    const other = await house.tenant();
    await other.collection("tasks");
    const gone = await open((await other.user("alice")).token);
    const stays = await open((await tenant.user("alice")).token);
    await house.tenants.remove(other.id);
    await gone.ended;
    await stay(stays);
  });

  it("nothing is left behind when all have gone", async () => {
    const alice = await tenant.user("alice");
    const opened = [];
    for (let index = 0; index < 20; index += 1) opened.push(await open(index % 2 === 0 ? alice.token : tenant.key(alice.id)));
    opened.push(await openStream(house.url));
    expect(house.realtime.stats()).to.include({ streams: 21, subscribed: 20, tenants: 1 });
    for (const stream of opened) stream.close();
    await until(() => house.realtime.stats().streams === 0);
    expect(house.realtime.stats()).to.deep.equal({ streams: 0, subscribed: 0, watchers: 0, tenants: 0, cutOff: 0 });
    await stay(await open(alice.token));
  });

  it("close ends every stream in good order, and no new one is opened", async () => {
    const { token } = await tenant.user("alice");
    const stream = await open(token);
    const silent = await openStream(house.url);
    await house.realtime.close();
    await Promise.all([stream.ended, silent.ended]);
    expect((await fetch(`${house.url}/api/realtime`)).status).to.equal(503);
    await house.realtime.close();
  });
});
