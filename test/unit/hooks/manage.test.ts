// Hooks created, changed, listed and removed: attributes, defaults, limits and save-time checks.
import { expect } from "chai";
import { NotFound, ValidationFailed } from "../../../lib/core/errors.js";
import type { HookInput } from "../../../lib/hooks/check.js";
import { readHooks } from "../../../lib/hooks/stored.js";
import { failure, openBench, type Bench } from "./support.js";

const url = "https://8.8.8.8/hook";

describe("hook management", () => {
  let bench: Bench;
  before(async () => { bench = await openBench(); });
  after(() => bench.close());

  it("a new hook has the contract's defaults, and its generated secret is shown once", async () => {
    const made = await bench.add({ event: "beforeCreate", collection: "tasks", url });
    const { id, secret, ...rest } = made;
    expect(rest).to.deep.equal({
      collection: "tasks", event: "beforeCreate", url, method: "POST", timeoutMs: 5000, priority: 0, enabled: true,
      includeSchema: false, forwardHeaders: "", failOpen: false, headers: {}, match: null,
    });
    expect(secret).to.match(/^[A-Za-z0-9_-]{43}$/);
    const context = await bench.context();
    expect(await bench.hooks.manage.get(context, id)).to.deep.equal({ ...made, secret: null });
    expect((await bench.hooks.manage.list(context)).find((hook) => hook.id === id)).to.deep.equal({ ...made, secret: null });
    expect((await readHooks(context.store)).find((hook) => hook.id === id)?.secret).to.equal(secret);
  });

  it("a secret that was given is not shown, and after-hooks default to 30000 ms", async () => {
    const made = await bench.add({ event: "afterCreate", collection: "tasks", url, secret: "mine" });
    expect(made).to.include({ secret: null, timeoutMs: 30_000 });
  });

  it("auth hooks belong to users, beforeRequest to no collection", async () => {
    expect((await bench.add({ event: "beforeLogin", url })).collection).to.equal("users");
    expect((await bench.add({ event: "afterRefresh", collection: "users", url })).collection).to.equal("users");
    expect(await bench.add({ event: "beforeRequest", url, match: { methods: ["get"], collections: ["tasks"] } })).to.deep.include({ collection: null, match: { methods: ["GET"], collections: ["tasks"] } });
  });

  const faults: [string, Record<string, unknown>, string][] = [
    ["no event", { event: undefined }, "event"],
    ["an unknown event", { event: "beforeNothing" }, "event"],
    ["no collection", { collection: undefined }, "collection"],
    ["a collection that is unknown", { collection: "nowhere" }, "collection"],
    ["a collection event without a collection", { collection: null }, "collection"],
    ["an auth event elsewhere than on users", { event: "beforeLogin" }, "collection"],
    ["an auth event on null", { event: "beforeLogin", collection: null }, "collection"],
    ["beforeRequest with a collection", { event: "beforeRequest" }, "collection"],
    ["no url", { url: undefined }, "url"],
    ["a url that is no text", { url: 7 }, "url"],
    ["timeout 30001", { timeoutMs: 30_001 }, "timeoutMs"],
    ["timeout 0", { timeoutMs: 0 }, "timeoutMs"],
    ["timeout -1", { timeoutMs: -1 }, "timeoutMs"],
    ["timeout 1e9", { timeoutMs: 1e9 }, "timeoutMs"],
    ["timeout 1.5", { timeoutMs: 1.5 }, "timeoutMs"],
    ["timeout as text", { timeoutMs: "5000" }, "timeoutMs"],
    ["fail open on an after-event", { event: "afterCreate", failOpen: true }, "failOpen"],
    ["a method that is none", { method: "BREW" }, "method"],
    ["CONNECT", { method: "CONNECT" }, "method"],
    ["a priority that is no number", { priority: "1" }, "priority"],
    ["enabled as text", { enabled: "yes" }, "enabled"],
    ["an empty secret", { secret: "" }, "secret"],
    ["match on another event", { match: { methods: ["GET"] } }, "match"],
    ["match with an unknown method", { event: "beforeRequest", collection: undefined, match: { methods: ["FETCH"] } }, "match.methods"],
    ["match with unknown members", { event: "beforeRequest", collection: undefined, match: { paths: [] } }, "match.paths"],
    ["an unknown member", { retries: 3 }, "retries"],
    ["headers that are no map", { headers: ["a"] }, "headers"],
    ["a header value that is no text", { headers: { "x-a": 1 } }, "headers.x-a"],
    ["a header value with a line break", { headers: { "x-a": "a\r\nb: c" } }, "headers"],
    ["a header value beyond Latin-1", { headers: { "x-a": "\u{1F600}" } }, "headers"],
    ["a header name with a space", { headers: { "x a": "v" } }, "headers"],
    ["a header twice", { headers: { "x-a": "1", "X-A": "2" } }, "headers"],
    ["*** without a stored value", { headers: { "x-a": "***" } }, "headers"],
    ...["X-Service-Event", "x-service-anything", "Content-Type", "HOST", "content-length", "Transfer-Encoding", "Connection", "webhook-id"].map((name): [string, Record<string, unknown>, string] => [`the static header ${name}`, { headers: { [name]: "v" } }, "headers"]),
    ...["Authorization", "authorization", "AUTHORIZATION", " authorization ", "\tcookie", "Cookie", "Set-Cookie", "proxy-authorization", "x-ok,authorization,", ",,cookie", "x-ok, Set-Cookie ,x-b",
      "authorization:", "auth orization", "ａuthorization", "authorızation", "аuthorization", "cooKie", "cookie\u0000", "cookie\u200b", "cookie;", "x-a;authorization", "set\u2010cookie", "\"cookie\""]
      .map((forwardHeaders): [string, Record<string, unknown>, string] => [`forwardHeaders ${JSON.stringify(forwardHeaders)}`, { forwardHeaders }, "forwardHeaders"]),
    ["forwardHeaders as a list", { forwardHeaders: ["x-a"] }, "forwardHeaders"],
  ];
  for (const [name, change, field] of faults) {
    it(`400 on create and on change, and nothing is written: ${name}`, async () => {
      const base = { event: "beforeCreate", collection: "tasks", url };
      const count = (await bench.hooks.manage.list(await bench.context())).length;
      const input = Object.fromEntries(Object.entries({ ...base, ...change }).filter(([, value]) => value !== undefined)) as HookInput;
      const error = await failure(bench.add(input));
      expect(error).to.be.instanceOf(ValidationFailed);
      expect((error as ValidationFailed).entries.map((entry) => entry.field)).to.deep.equal([field]);
      expect((await bench.hooks.manage.list(await bench.context())).length).to.equal(count);

      const set = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as HookInput;
      if (Object.keys(set).length === 0 || change["event"] === "beforeRequest") return;
      const hook = await bench.add(base as HookInput);
      expect((await failure(bench.hooks.manage.update(await bench.context(), hook.id, set))).status).to.equal(400);
      expect(await bench.hooks.manage.get(await bench.context(), hook.id)).to.deep.equal({ ...hook, secret: null });
      await bench.hooks.manage.remove(await bench.context(), hook.id);
    });
  }

  it("names every fault at once", async () => {
    const error = await failure(bench.add({ event: "afterCreate", collection: "nowhere", url: "ftp://x", method: "BREW", failOpen: true }));
    expect((error as ValidationFailed).entries.map(({ field }) => field)).to.deep.equal(["collection", "url", "method", "failOpen"]);
  });

  it("forwardHeaders are stored in lower case", async () => {
    expect((await bench.add({ event: "beforeCreate", collection: "tasks", url, forwardHeaders: " X-Plan ,x-Region,,x-plan" })).forwardHeaders).to.equal("x-plan,x-region");
  });

  it("values of headers are never read back; *** keeps the stored value, a new one replaces it, a name left out goes", async () => {
    const made = await bench.add({ event: "beforeCreate", collection: "tasks", url, headers: { "X-Key": "secret-1", "X-Two": "secret-2" } });
    expect(made.headers).to.deep.equal({ "X-Key": "***", "X-Two": "***" });
    const context = await bench.context();
    await bench.hooks.manage.update(context, made.id, { headers: { "x-key": "***", "X-Three": "secret-3" } });
    const stored = (await readHooks(context.store)).find((hook) => hook.id === made.id);
    expect(stored?.headers).to.deep.equal({ "x-key": "secret-1", "X-Three": "secret-3" });
  });

  it("a hook that was read can be written back, and changes nothing but updatedAt", async () => {
    const made = await bench.add({ event: "beforeUpdate", collection: "tasks", url, headers: { "X-Key": "v" }, secret: "kept", forwardHeaders: "x-a" });
    const context = await bench.context();
    const before = (await readHooks(context.store)).find((hook) => hook.id === made.id)!;
    const read = await bench.hooks.manage.get(context, made.id);
    const written = await bench.hooks.manage.update(context, made.id, read);
    expect({ ...written, updatedAt: "" }).to.deep.equal({ ...read, updatedAt: "" });
    const after = (await readHooks(context.store)).find((hook) => hook.id === made.id)!;
    expect({ ...after, updatedAt: "" }).to.deep.equal({ ...before, updatedAt: "" });
  });

  it("PATCH changes what it names; a change counts from the next request", async () => {
    const made = await bench.add({ event: "beforeDelete", collection: "notes", url });
    expect((await bench.context()).hooks("beforeDelete", "notes").map(({ id }) => id)).to.deep.equal([made.id]);
    expect(await bench.hooks.manage.update(await bench.context(), made.id, { priority: 2.5, secret: "new" })).to.include({ priority: 2.5, secret: null, url });
    await bench.hooks.manage.update(await bench.context(), made.id, { enabled: false });
    expect((await bench.context()).hooks("beforeDelete", "notes")).to.deep.equal([]);
    await bench.hooks.manage.update(await bench.context(), made.id, { enabled: true, event: "beforeView" });
    expect((await bench.context()).hooks("beforeView", "notes")[0]).to.include({ id: made.id, secret: "new" });
  });

  it("two changes at the same time both count", async () => {
    const made = await bench.add({ event: "beforeDelete", collection: "notes", url });
    const context = await bench.context();
    await Promise.all([bench.hooks.manage.update(context, made.id, { priority: 7 }), bench.hooks.manage.update(context, made.id, { timeoutMs: 77 })]);
    expect(await bench.hooks.manage.get(context, made.id)).to.include({ priority: 7, timeoutMs: 77 });
  });

  it("an unknown hook is 404", async () => {
    const context = await bench.context();
    for (const id of ["nope", "0190a1b2-0000-7000-8000-000000000000", "__proto__"]) {
      for (const work of [bench.hooks.manage.get(context, id), bench.hooks.manage.update(context, id, {}), bench.hooks.manage.remove(context, id), bench.hooks.manage.test(context, id), bench.hooks.manage.redeliver(context, id)]) {
        expect(await failure(work)).to.be.instanceOf(NotFound);
      }
    }
  });
});
