// Chain order: priorities, webhooks and handlers in process in one chain, accumulation, the first refusal stops.
import { expect } from "chai";
import type { Caller } from "../../../lib/core/call.js";
import { BadRequest } from "../../../lib/core/errors.js";
import { indexHooks } from "../../../lib/hooks/index-hooks.js";
import type { HookDefinition } from "../../../lib/hooks/definition.js";
import { failure, json, makeCall, openBench, startReceiver, subjectOf, type Bench, type Receiver } from "./support.js";

describe("hook chain", () => {
  let bench: Bench;
  let receiver: Receiver;
  const order: string[] = [];

  beforeEach(async () => {
    bench = await openBench();
    receiver = await startReceiver();
    order.length = 0;
    receiver.answer = ({ url, envelope }, response) => {
      order.push(url);
      const body = envelope.data.body as { trail?: string };
      json(url === "/stop" ? { continue: false, error: "stopped" } : { data: { body: { trail: `${body.trail ?? ""}${url}` } } })(undefined as never, response);
    };
    await bench.allow(receiver.host);
  });
  afterEach(async () => {
    await bench.close();
    await receiver.close();
  });
  const at = (path: string): string => `http://${receiver.host}${path}`;
  const run = async (body: Record<string, string> = {}, caller?: Caller) => {
    const context = await bench.context();
    return bench.hooks.before(context, makeCall(context, caller), "beforeCreate", subjectOf({ body }));
  };

  it("runs in priority order, lower first, and bodies accumulate", async () => {
    await bench.add({ event: "beforeCreate", collection: "tasks", url: at("/c"), priority: 5 });
    await bench.add({ event: "beforeCreate", collection: "tasks", url: at("/a"), priority: -5 });
    await bench.add({ event: "beforeCreate", collection: "tasks", url: at("/b") });
    await bench.add({ event: "beforeCreate", collection: "tasks", url: at("/off"), enabled: false });
    await bench.add({ event: "beforeCreate", collection: "notes", url: at("/elsewhere") });
    await bench.add({ event: "beforeUpdate", collection: "tasks", url: at("/other-event") });
    expect((await run()).body).to.deep.equal({ trail: "/a/b/c" });
    expect(order).to.deep.equal(["/a", "/b", "/c"]);
  });

  it("the first refusal stops the chain", async () => {
    await bench.add({ event: "beforeCreate", collection: "tasks", url: at("/a"), priority: 1 });
    await bench.add({ event: "beforeCreate", collection: "tasks", url: at("/stop"), priority: 2 });
    await bench.add({ event: "beforeCreate", collection: "tasks", url: at("/never"), priority: 3 });
    expect((await failure(run())).body).to.deep.equal({ error: "stopped" });
    expect(order).to.deep.equal(["/a", "/stop"]);
  });

  it("handlers in process share the chain; at equal priority they come first", async () => {
    await bench.add({ event: "beforeCreate", collection: "tasks", url: at("/web0") });
    await bench.add({ event: "beforeCreate", collection: "tasks", url: at("/web2"), priority: 2 });
    const local = (name: string) => (envelope: { data: { body: unknown } }) => {
      order.push(name);
      return { data: { body: { trail: `${(envelope.data.body as { trail?: string }).trail ?? ""}${name}` } } };
    };
    bench.hooks.on("beforeCreate", {}, local("/one"), 1);
    bench.hooks.on("beforeCreate", { tenant: "acme" }, local("/zero"));
    bench.hooks.on("beforeCreate", { collection: "tasks" }, local("/late"), 9);
    bench.hooks.on("beforeCreate", { tenant: "other" }, local("/wrong-tenant"));
    bench.hooks.on("beforeCreate", { collection: "notes" }, local("/wrong-collection"));
    expect((await run()).body).to.deep.equal({ trail: "/zero/web0/one/web2/late" });
    expect(order).to.deep.equal(["/zero", "/web0", "/one", "/web2", "/late"]);
  });

  it("a handler answers like a webhook", async () => {
    const off = bench.hooks.on("beforeCreate", {}, () => Promise.resolve({ continue: false, error: { status: 451, message: "no" } }));
    expect(await failure(run())).to.include({ status: 451 });
    off();
    expect((await run({ title: "a" })).body).to.deep.equal({ title: "a" });
    bench.hooks.on("beforeCreate", {}, () => ({ data: { body: { when: new Date(0), drop: undefined } } }));
    expect((await run()).body).to.deep.equal({ when: "1970-01-01T00:00:00.000Z" });
    bench.hooks.on("beforeCreate", {}, () => "text");
    bench.hooks.on("beforeCreate", {}, () => undefined);
    expect((await run()).body).to.deep.equal({ when: "1970-01-01T00:00:00.000Z" });
  });

  it("a handler that throws is a failed hook, and what it threw is not told", async () => {
    bench.hooks.on("beforeCreate", {}, () => { throw new Error("inner detail"); });
    const error = await failure(run());
    expect(error.status).to.equal(502);
    expect(JSON.stringify(error.body)).not.to.contain("inner");
    expect(bench.log.at(-1)).to.include({ hookId: null, outcome: "failed" });
  });

  it("a handler gets the envelope as a copy of its own", async () => {
    const body = { title: "a" };
    bench.hooks.on("beforeCreate", {}, (envelope) => {
      expect(envelope.service).to.include({ version: 1, event: "beforeCreate" });
      (envelope.data.body as { title: string }).title = "changed";
    });
    expect((await run(body)).body).to.equal(body);
    expect(body.title).to.equal("a");
  });

  it("on refuses what is no event, no handler or no priority", () => {
    expect(() => bench.hooks.on("nope" as "beforeList", {}, () => undefined)).to.throw(BadRequest, "no hook event");
    expect(() => bench.hooks.on("beforeList", {}, undefined as never)).to.throw(BadRequest, "function");
    expect(() => bench.hooks.on("beforeList", {}, () => undefined, Number.NaN)).to.throw(BadRequest, "priority");
  });

  it("no hook runs for a key that bypasses hooks", async () => {
    await bench.add({ event: "beforeCreate", collection: "tasks", url: at("/a") });
    await bench.add({ event: "beforeRequest", url: at("/r") });
    await bench.add({ event: "afterCreate", collection: "tasks", url: at("/after") });
    bench.hooks.on("beforeCreate", {}, () => { order.push("local"); });
    bench.hooks.on("afterCreate", {}, () => { order.push("local after"); });
    const key: Caller = { type: "apiKey", user: { id: "u", createdAt: "", updatedAt: "" }, keyId: "k", keyName: "k", bypassRules: false, bypassHooks: true, expiresAt: null };
    const context = await bench.context();
    const call = makeCall(context, key);
    await bench.hooks.beforeRequest(context, call, subjectOf());
    await run({}, key);
    expect(bench.hooks.hasAfter(context, call, "afterCreate", "tasks")).to.equal(false);
    expect(bench.hooks.after(context, call, "afterCreate", subjectOf())).to.deep.equal([]);
    bench.hooks.committed(context, call, "afterCreate", subjectOf());
    await bench.hooks.close(0);
    expect(order).to.deep.equal([]);
    expect(call.meter.hookMs).to.equal(0);
  });

  it("beforeRequest runs where its match says so, in priority order, with the collection of the path", async () => {
    await bench.add({ event: "beforeRequest", url: at("/all"), priority: 2 });
    await bench.add({ event: "beforeRequest", url: at("/tasks"), priority: 1, match: { collections: ["tasks"] } });
    await bench.add({ event: "beforeRequest", url: at("/notes"), match: { collections: ["notes"] } });
    await bench.add({ event: "beforeRequest", url: at("/get"), match: { methods: ["get"] } });
    await bench.add({ event: "beforeRequest", url: at("/both"), priority: 3, match: { collections: ["tasks"], methods: ["POST"] } });
    const context = await bench.context();
    const outcome = await bench.hooks.beforeRequest(context, makeCall(context), subjectOf({ recordId: null, body: {} }));
    expect(outcome.body).to.deep.equal({ trail: "/tasks/all/both" });
    expect(receiver.received[0]?.envelope.context).to.deep.include({ collection: "tasks", recordId: null });
  });

  it("without a matching hook the body comes back as it was, at once", async () => {
    const context = await bench.context();
    const body = { title: "a" };
    expect((await bench.hooks.before(context, makeCall(context), "beforeCreate", subjectOf({ body }))).body).to.equal(body);
    expect(context.hooks("beforeCreate", "tasks")).to.equal(context.hooks("beforeList", "nowhere"));
  });

  it("a look-up among a thousand hooks gives those of the event and collection, and no others", () => {
    const make = (id: number, collection: string | null, event: string, enabled = true): HookDefinition => ({ id: `h${String(id).padStart(4, "0")}`, collection, event, enabled, priority: id % 3 } as HookDefinition);
    const hooks = [...Array.from({ length: 1000 }, (_, index) => make(index, `c${index}`, "beforeCreate")), make(2000, "tasks", "beforeCreate"), make(2001, "tasks", "beforeCreate"), make(2002, "tasks", "beforeCreate", false), make(2003, null, "beforeRequest")];
    const index = indexHooks(hooks);
    expect(index("beforeCreate", "tasks").map(({ id }) => id)).to.deep.equal(["h2001", "h2000"]);
    expect(index("beforeRequest", null).map(({ id }) => id)).to.deep.equal(["h2003"]);
    expect(index("beforeUpdate", "tasks")).to.deep.equal([]);
  });
});
