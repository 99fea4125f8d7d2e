// After-hooks: written with the change, delivered at least once, in order, with the plan of the contract, not lost by a restart.
import { expect } from "chai";
import { createServer, type Socket } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { newId } from "../../../lib/core/ids.js";
import { Conflict } from "../../../lib/core/errors.js";
import type { HooksFeature } from "../../../lib/hooks/create-hooks.js";
import { verifyHookSignature } from "../../../lib/hooks/signature.js";
import { delayAfter, verdict } from "../../../lib/hooks/plan.js";
import { always } from "../../../lib/storage/filter.js";
import { Changes, empty, failure, makeCall, openBench, startReceiver, subjectOf, type Bench, type Receiver } from "./support.js";

describe("after-hook deliveries", () => {
  let bench: Bench;
  let receiver: Receiver;

  beforeEach(async () => {
    bench = await openBench();
    receiver = await startReceiver();
    await bench.allow(receiver.host);
  });
  afterEach(async () => {
    await bench.close();
    await receiver.close();
  });

  /** Writes a change's deliveries as the record pipeline does; `tell` wakes the deliverer. */
  async function change(recordId: string, options: { tell?: boolean; hooks?: HooksFeature; tenantId?: string; note?: string } = {}): Promise<void> {
    const hooks = options.hooks ?? bench.hooks;
    const context = options.tenantId === undefined ? await bench.context() : await bench.registry.get(options.tenantId);
    const call = makeCall(context);
    const subject = subjectOf({ recordId, body: { note: options.note ?? "" }, record: { id: recordId, createdAt: "", updatedAt: "", note: options.note ?? "" } });
    await context.store.write({ operations: hooks.after(context, call, "afterCreate", subject) });
    if (options.tell !== false) hooks.committed(context, call, "afterCreate", subject);
  }
  const add = (over: Record<string, unknown> = {}) => bench.add({ event: "afterCreate", collection: "tasks", url: receiver.url, ...over });
  const rows = async (tenantId = bench.tenantId) => (await bench.storage.tenant(tenantId).table("deliveries").list({ filter: always, limit: 10_000 })).map((row) => row.record as unknown as { id: string; state: string; attempt: number; owner: string; dueAt: string });
  const settled = async (check: (list: Awaited<ReturnType<typeof rows>>) => boolean): Promise<void> => {
    while (!check(await rows())) await new Promise((resolve) => setTimeout(resolve, 10));
  };

  it("is delivered once, signed, logged with the request's id, and then forgotten", async () => {
    const { id, secret } = await add();
    await change("r-1", { note: "x" });
    await receiver.count(1);
    await settled((list) => list.length === 0);
    const { raw, headers, envelope } = receiver.received[0]!;
    expect(verifyHookSignature(raw, headers["x-service-signature"] as string, secret!)).to.equal(true);
    expect(envelope.data).to.deep.equal({ body: { note: "x" }, record: { id: "r-1", createdAt: "", updatedAt: "", note: "x" } });
    expect(envelope.service.deliveryId).to.equal(headers["x-service-delivery-id"]);
    expect(bench.log).to.have.length(1);
    expect(bench.log[0]).to.include({ hookId: id, event: "afterCreate", collection: "tasks", recordId: "r-1", requestId: "req-1", deliveryId: envelope.service.deliveryId, attempt: 1, status: 200, outcome: "delivered" });
  });

  it("each hook that listens gets its own", async () => {
    await add();
    await add({ url: `${receiver.url}2` });
    await add({ collection: "notes" });
    await add({ enabled: false });
    const context = await bench.context();
    expect(bench.hooks.hasAfter(context, makeCall(context), "afterCreate", "tasks")).to.equal(true);
    expect(bench.hooks.hasAfter(context, makeCall(context), "afterUpdate", "tasks")).to.equal(false);
    await change("r-1");
    await receiver.count(2);
    expect(receiver.received.map(({ url }) => url).sort()).to.deep.equal(["/hook", "/hook2"]);
  });

  it("is tried up to 5 times: at once, after 10 s, 1 min, 10 min and 1 h, with the same delivery id and body", async () => {
    receiver.answer = empty(503);
    await add();
    await change("r-1");
    const plan = [10_000, 60_000, 600_000, 3_600_000];
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      await bench.logged((log) => log.length === attempt);
      await settled(([row]) => row?.attempt === attempt && row.owner === "");
      const [row] = await rows();
      if (attempt === 5) {
        expect(row).to.include({ state: "dead" });
        break;
      }
      const wait = Date.parse(row!.dueAt) - bench.clock.now();
      expect(wait).to.be.within(plan[attempt - 1]! - 2000, plan[attempt - 1]! * 1.2);
      bench.clock.advance(wait);
      wakeAll();
    }
    expect(bench.log.map(({ attempt, status, outcome }) => [attempt, status, outcome])).to.deep.equal([1, 2, 3, 4, 5].map((attempt) => [attempt, 503, "failed"]));
    expect(new Set(receiver.received.map(({ raw }) => raw.toString())).size).to.equal(1);
    expect(new Set(bench.log.map(({ deliveryId }) => deliveryId)).size).to.equal(1);
  });

  it("a clock that is set forward brings the next attempt, without a restart", async () => {
    receiver.answer = (_received, response) => void response.writeHead(receiver.received.length === 1 ? 503 : 200).end();
    bench.hooks.start();
    await add();
    await change("r-1");
    await settled(([row]) => row?.attempt === 1 && row.owner === "");
    // By then it has looked in vain and sleeps until the plan's next time.
    await new Promise((resolve) => setTimeout(resolve, 200));
    bench.clock.advance(12_000);
    await receiver.count(2);
    await settled((list) => list.length === 0);
  });

  /** The clock was set: somebody has to look. */
  function wakeAll(): void {
    const again = bench.restart();
    again.start();
  }

  for (const [status, state] of [[500, "pending"], [429, "pending"], [400, "dead"], [404, "dead"], [302, "dead"], [410, "dead"]] as const) {
    it(`${status} is ${state === "pending" ? "tried again" : "given up at once"}`, async () => {
      receiver.answer = (_received, response) => void response.writeHead(status, { location: "/other" }).end();
      await add();
      await change("r-1");
      await settled(([row]) => row?.attempt === 1 && row.owner === "");
      expect((await rows())[0]).to.include({ state, attempt: 1 });
      expect(receiver.received).to.have.length(1);
    });
  }

  it("a refused address is given up at once, a broken connection and a time-out are tried again", async () => {
    receiver.answer = (_received, _response, request) => void request.socket.resetAndDestroy();
    await add();
    await change("r-1");
    await settled(([row]) => row?.attempt === 1 && row.owner === "");
    expect((await rows())[0]).to.include({ state: "pending" });
    await bench.plant({ event: "afterCreate", collection: "notes", url: "http://127.0.0.1:1/" });
    const context = await bench.context();
    await context.store.write({ operations: bench.hooks.after(context, makeCall(context), "afterCreate", subjectOf({ collection: "notes", recordId: "n" })) });
    bench.hooks.committed(context, makeCall(context), "afterCreate", subjectOf({ collection: "notes", recordId: "n" }));
    await settled((list) => list.some((row) => row.state === "dead"));
    expect(verdict({ type: "failure", reason: "timeout", status: null, detail: "", durationMs: 1 })).to.equal("again");
    expect([1, 2, 3, 4, 5].map((attempt) => delayAfter(attempt, () => 0))).to.deep.equal([10_000, 60_000, 600_000, 3_600_000, null]);
    expect(delayAfter(1, () => 0.999)).to.be.within(11_990, 12_000);
  });

  it("deliveries about one record arrive in order, also behind one that is tried again; other records do not wait", async () => {
    let fail = true;
    receiver.answer = (received, response) => {
      const { note } = received.envelope.data.body as { note: string };
      response.writeHead(note === "1" && fail ? 500 : 200).end();
    };
    await add();
    for (const note of ["1", "2", "3"]) await change("r-1", { note });
    await change("r-2", { note: "other" });
    await bench.logged((log) => log.length >= 2);
    await settled((list) => list.length === 3 && list.filter(({ state }) => state === "waiting").length === 2);
    expect(receiver.received.map(({ envelope }) => (envelope.data.body as { note: string }).note)).to.deep.equal(["1", "other"]);
    fail = false;
    bench.clock.advance(12_000);
    wakeAll();
    await receiver.count(5);
    expect(receiver.received.slice(2).map(({ envelope }) => (envelope.data.body as { note: string }).note)).to.deep.equal(["1", "2", "3"]);
    await settled((list) => list.length === 0);
  });

  it("many changes of few records, sent by two processes at once: each delivered, each in order", async () => {
    const other = bench.restart();
    await add();
    const work: Promise<void>[] = [];
    for (let index = 0; index < 60; index += 1) work.push(change(`r-${index % 5}`, { note: String(index), hooks: index % 2 === 0 ? bench.hooks : other }));
    await Promise.all(work);
    await settled((list) => list.length === 0);
    expect(receiver.received.length).to.equal(60);
    for (let record = 0; record < 5; record += 1) {
      const ids = receiver.received.filter(({ envelope }) => envelope.context.recordId === `r-${record}`).map(({ envelope }) => envelope.service.deliveryId);
      expect(ids).to.deep.equal([...ids].sort());
      expect(new Set(ids).size).to.equal(12);
    }
  });

  it("what was written and never sent is sent after the next start", async () => {
    await add();
    await change("r-1", { tell: false });
    await change("r-2", { tell: false });
    expect(receiver.received).to.have.length(0);
    bench.restart().start();
    await receiver.count(2);
    await settled((list) => list.length === 0);
  });

  it("what a process had taken when it died is taken again when its lease is over", async () => {
    await add();
    await change("r-1", { tell: false });
    const [row] = await rows();
    await bench.storage.tenant(bench.tenantId).write({ operations: [{ type: "update", table: "deliveries", id: row!.id, set: { owner: "dead process", dueAt: new Date(bench.clock.now() + 300).toISOString() } }] });
    bench.restart().start();
    await receiver.count(1);
    await settled((list) => list.length === 0);
  });

  it("closing waits for what is under way and gives back what does not end, which is no attempt", async () => {
    receiver.answer = () => undefined;
    await add();
    await change("r-1");
    await receiver.count(1);
    await bench.hooks.close(50);
    expect((await rows())[0]).to.include({ state: "pending", attempt: 0, owner: "" });
    expect(bench.log).to.have.length(0);
    receiver.answer = empty();
    bench.restart().start();
    await settled((list) => list.length === 0);
    expect(receiver.received).to.have.length(2);
  });

  it("a dead delivery is listed, and sent again by hand with the same id and body", async () => {
    receiver.answer = empty(400);
    const { id: hookId } = await add();
    await change("r-1");
    await settled(([row]) => row?.state === "dead");
    const context = await bench.context();
    const { items, nextCursor } = await bench.hooks.manage.deliveries(context);
    expect(nextCursor).to.equal(null);
    expect(items).to.have.length(1);
    expect(items[0]).to.include({ hookId, event: "afterCreate", recordId: "r-1", attempt: 1, state: "dead" });
    expect(items[0]).to.have.all.keys("id", "createdAt", "updatedAt", "hookId", "event", "collection", "recordId", "requestId", "state", "dueAt", "attempt");
    receiver.answer = empty();
    expect(await bench.hooks.manage.redeliver(context, bench.log[0]!.id)).to.deep.equal({ deliveryId: items[0]!.id });
    await settled((list) => list.length === 0);
    expect(receiver.received[1]?.raw.equals(receiver.received[0]!.raw)).to.equal(true);
    expect(await failure(bench.hooks.manage.redeliver(context, bench.log[0]!.id))).to.be.instanceOf(Conflict);
  });

  it("lists page by page, newest first", async () => {
    receiver.answer = empty(400);
    await add();
    for (let index = 0; index < 5; index += 1) await change(`r-${index}`);
    await settled((list) => list.every(({ state }) => state === "dead"));
    const context = await bench.context();
    const seen: (string | null)[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await bench.hooks.manage.deliveries(context, { limit: 2, ...(cursor === undefined ? {} : { cursor }) });
      seen.push(...page.items.map(({ recordId }) => recordId));
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    expect(seen).to.deep.equal(["r-4", "r-3", "r-2", "r-1", "r-0"]);
  });

  it("deliveries of a hook that was deleted are dropped, of one that was disabled kept for sending by hand", async () => {
    receiver.answer = empty(503);
    const first = await add();
    const second = await add({ url: `${receiver.url}2` });
    await change("r-1");
    await settled((list) => list.length === 2 && list.every(({ attempt, owner }) => attempt === 1 && owner === ""));
    await bench.hooks.manage.remove(await bench.context(), first.id);
    await bench.hooks.manage.update(await bench.context(), second.id, { enabled: false });
    bench.clock.advance(12_000);
    wakeAll();
    await settled((list) => list.length === 1 && list[0]!.state === "dead");
    expect(receiver.received).to.have.length(2);
    await bench.hooks.manage.update(await bench.context(), second.id, { enabled: true });
    receiver.answer = empty();
    const [dead] = (await bench.hooks.manage.deliveries(await bench.context())).items;
    await bench.hooks.manage.redeliver(await bench.context(), dead!.id);
    await settled((list) => list.length === 0);
    expect(receiver.received).to.have.length(3);
  });

  it("a hanging target of one tenant holds up neither another tenant nor another hook, and gets few connections", async () => {
    const sockets = new Set<Socket>();
    const changes = new Changes();
    const silent = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => undefined);
      changes.note();
    });
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const host = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    await bench.allow(host, receiver.host);
    const dead = await add({ url: `http://${host}/` });
    for (let index = 0; index < 50; index += 1) await change(`r-${index}`);
    await changes.until(() => sockets.size >= 4);
    await bench.hooks.manage.update(await bench.context(), dead.id, { enabled: false });

    await add();
    await change("mine");
    const tenantId = await bench.addTenant("other", [receiver.host]);
    await bench.hooks.manage.create(await bench.registry.get(tenantId), { event: "afterCreate", collection: "tasks", url: receiver.url });
    await change("theirs", { tenantId });
    await receiver.count(2);
    expect(sockets.size).to.equal(4);
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  it("a backlog of 5,000 to a dead target is not held in memory", async function () {
    this.timeout(60_000);
    const gone = await startReceiver();
    await gone.close();
    await bench.allow(gone.host);
    await add({ url: gone.url });
    const context = await bench.context();
    const call = makeCall(context);
    const filler = "x".repeat(20_000);
    for (let batch = 0; batch < 50; batch += 1) {
      const operations = Array.from({ length: 100 }, () => bench.hooks.after(context, call, "afterCreate", subjectOf({ recordId: newId(Date.now()), body: { filler } }))).flat();
      await context.store.write({ operations });
    }
    const measure = (): number => {
      (globalThis as { gc?: () => void }).gc?.();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const before = measure();
    bench.hooks.committed(context, call, "afterCreate", subjectOf());
    await bench.logged((log) => log.length >= 40);
    // The bodies alone are 100 MB.
    expect(measure() - before).to.be.lessThan(64_000_000);
  });

  it("handlers in process hear of it once it is durable, in order for a record; one that fails is logged and changes nothing", async () => {
    const heard: string[] = [];
    const changes = new Changes();
    bench.hooks.on("afterCreate", { collection: "tasks" }, async (envelope) => {
      const { note } = envelope.data.body as { note: string };
      if (note === "1") await new Promise((resolve) => setImmediate(resolve));
      heard.push(note);
      changes.note();
      if (note === "2") throw new Error("mine");
    });
    for (const note of ["1", "2", "3"]) await change("r-1", { note });
    await changes.until(() => heard.length === 3);
    await bench.logged((log) => log.length === 3);
    expect(heard).to.deep.equal(["1", "2", "3"]);
    expect(bench.log.map(({ hookId, outcome }) => [hookId, outcome])).to.deep.equal([[null, "delivered"], [null, "failed"], [null, "delivered"]]);
    expect(bench.lines.some((line) => line.includes("a hook handler failed"))).to.equal(true);
  });

  it("dead deliveries are forgotten with their log", async () => {
    receiver.answer = empty(400);
    await add();
    await change("r-1");
    await settled(([row]) => row?.state === "dead");
    bench.clock.advance(15 * 86_400_000);
    wakeAll();
    await settled((list) => list.length === 0);
  });
});
