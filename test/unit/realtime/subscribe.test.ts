// Who may subscribe on which stream to what, and what refuses a subscribe without harming the stream.
import { expect } from "chai";
import type { Json } from "../../../lib/core/record.js";
import { openStream, post, until, type TestStream } from "../../support/event-stream.js";
import { openHouse, type Hand, type House } from "./house.js";

describe("realtime: subscribe", () => {
  let house: House;
  let tenant: Hand;
  let alice: { id: string; token: string };
  let stream: TestStream;

  before(async () => {
    house = await openHouse();
    tenant = await house.tenant();
    await tenant.collection("tasks");
    await tenant.collection("quiet", { realtime: false });
    alice = await tenant.user("alice");
  });
  beforeEach(async () => {
    stream = await openStream(house.url);
  });
  afterEach(() => stream.close());
  after(() => house.close());

  /** The stream still gives what it gave before. */
  async function unharmed(): Promise<void> {
    const { id } = await tenant.create("tasks", { title: "probe" });
    expect((await stream.next()).data.record?.id).to.equal(id);
  }

  const bad: { name: string; body: (clientId: string) => Json; status: number }[] = [
    { name: "no clientId", body: () => ({ subscriptions: ["tasks"] }), status: 400 },
    { name: "a clientId that is an object", body: () => ({ clientId: {}, subscriptions: ["tasks"] }), status: 400 },
    { name: "a clientId that is a number", body: () => ({ clientId: 1, subscriptions: ["tasks"] }), status: 400 },
    { name: "an unknown clientId", body: () => ({ clientId: "6f3a4f0e-6ad1-4f5b-a0a4-17c2f4a8f1aa", subscriptions: ["tasks"] }), status: 404 },
    { name: "the clientId __proto__", body: () => ({ clientId: "__proto__", subscriptions: ["tasks"] }), status: 404 },
    { name: "the clientId constructor", body: () => ({ clientId: "constructor", subscriptions: ["tasks"] }), status: 404 },
    { name: "no subscriptions", body: (clientId) => ({ clientId }), status: 400 },
    { name: "subscriptions that are a text", body: (clientId) => ({ clientId, subscriptions: "tasks" }), status: 400 },
    { name: "subscriptions that are an object", body: (clientId) => ({ clientId, subscriptions: { 0: "tasks" } }), status: 400 },
    { name: "an entry that is a number", body: (clientId) => ({ clientId, subscriptions: ["tasks", 1] }), status: 400 },
    { name: "an entry that is a list", body: (clientId) => ({ clientId, subscriptions: [["tasks"]] }), status: 400 },
    { name: "an empty entry", body: (clientId) => ({ clientId, subscriptions: [""] }), status: 400 },
    { name: "an entry with too many parts", body: (clientId) => ({ clientId, subscriptions: ["tasks/1/2"] }), status: 400 },
    { name: "an entry without a record", body: (clientId) => ({ clientId, subscriptions: ["tasks/"] }), status: 400 },
    { name: "101 entries", body: (clientId) => ({ clientId, subscriptions: Array.from({ length: 101 }, (_, index) => `tasks/${index}`) }), status: 400 },
    { name: "a since that is a number", body: (clientId) => ({ clientId, subscriptions: ["tasks"], since: 1 }), status: 400 },
    { name: "an unknown collection", body: (clientId) => ({ clientId, subscriptions: ["nothing"] }), status: 404 },
    { name: "an unknown collection beside a known one", body: (clientId) => ({ clientId, subscriptions: ["tasks", "nothing/1"] }), status: 404 },
    { name: "a collection in another case", body: (clientId) => ({ clientId, subscriptions: ["Tasks"] }), status: 404 },
    { name: "the collection __proto__", body: (clientId) => ({ clientId, subscriptions: ["__proto__"] }), status: 404 },
    { name: "a collection with realtime off", body: (clientId) => ({ clientId, subscriptions: ["quiet"] }), status: 400 },
    { name: "users", body: (clientId) => ({ clientId, subscriptions: ["tasks", "users"] }), status: 400 },
    { name: "one of users", body: (clientId) => ({ clientId, subscriptions: ["users/1"] }), status: 400 },
    { name: "Users in another case", body: (clientId) => ({ clientId, subscriptions: ["USERS"] }), status: 404 },
  ];
  for (const { name, body, status } of bad) {
    it(`${name}: ${status}, and the stream goes on as it was`, async () => {
      await stream.subscribe(alice.token, ["tasks"]);
      const answer = await post(house.url, alice.token, body(stream.clientId));
      expect(answer.status).to.equal(status);
      expect(answer.body).to.have.keys(["error"]);
      await unharmed();
    });
  }

  it("100 entries are possible, of records that may or may not be there", async () => {
    const entries = Array.from({ length: 100 }, (_, index) => `tasks/${index}`);
    expect(await stream.subscribe(alice.token, entries)).to.deep.equal({ status: 200, body: { subscriptions: entries } });
  });

  it("without a credential: 401, before anything else is looked at", async () => {
    expect((await post(house.url, undefined, { clientId: {} })).status).to.equal(401);
    expect((await post(house.url, tenant.guest(), { clientId: {} })).status).to.equal(401);
    expect((await post(house.url, "Bearer nobody", { clientId: stream.clientId, subscriptions: ["tasks"] })).status).to.equal(401);
  });

  it("another user's stream: 403, and the stream stays with its user", async () => {
    const bob = await tenant.user("bob-of-subscribe");
    await stream.subscribe(alice.token, ["tasks"]);
    expect((await stream.subscribe(bob.token, [])).status).to.equal(403);
    expect((await stream.subscribe(tenant.superadmin(), [])).status).to.equal(403);
    await unharmed();
  });

  it("a stream of another tenant: 404", async () => {
    const other = await house.tenant();
    const mallory = await other.user("mallory");
    await stream.subscribe(alice.token, ["tasks"]);
    expect((await stream.subscribe(mallory.token, [])).status).to.equal(404);
    await unharmed();
  });

  it("a closed stream: 404", async () => {
    const closed = await openStream(house.url);
    await closed.subscribe(alice.token, ["tasks"]);
    const before = house.realtime.stats().streams;
    closed.close();
    await until(() => house.realtime.stats().streams < before);
    expect((await closed.subscribe(alice.token, ["tasks"])).status).to.equal(404);
  });

  it("a refused first subscribe leaves the stream free", async () => {
    const bob = await tenant.user("bob-of-first");
    expect((await stream.subscribe(alice.token, ["nothing"])).status).to.equal(404);
    expect((await stream.subscribe(bob.token, ["tasks"])).status).to.equal(200);
  });

  it("two first subscribes at once: the stream belongs to one of them", async () => {
    const bob = await tenant.user("bob-of-race");
    for (let round = 0; round < 10; round += 1) {
      const raced = await openStream(house.url);
      const answers = await Promise.all([raced.subscribe(alice.token, ["tasks"]), raced.subscribe(bob.token, ["tasks"])]);
      expect(answers.map((answer) => answer.status).sort()).to.deep.equal([200, 403]);
      raced.close();
    }
  });

  it("the same user with another credential: taken over", async () => {
    await stream.subscribe(alice.token, []);
    expect((await stream.subscribe(tenant.key(alice.id), ["tasks"])).status).to.equal(200);
    await unharmed();
  });

  it("a token that is revoked while the subscribe is under way never keeps a stream", async () => {
    for (let round = 0; round < 20; round += 1) {
      const eve = await tenant.user(`eve${round}`);
      const raced = await openStream(house.url);
      const [{ status }] = await Promise.all([raced.subscribe(eve.token, ["tasks"]), tenant.changeUser(eve.id, { revoke: true })]);
      if (status === 200) await raced.ended;
      else expect(status).to.equal(401);
      raced.close();
    }
  });

  it("HEAD gives the headers and opens no stream", async () => {
    const before = house.realtime.stats().streams;
    const response = await fetch(`${house.url}/api/realtime`, { method: "HEAD" });
    expect(response.status).to.equal(200);
    expect(response.headers.get("content-type")).to.equal("text/event-stream");
    expect(house.realtime.stats().streams).to.equal(before);
  });
});
