// Contract 10: whatever host code passes, an error is one of the service's with a `status`, never a TypeError from
// within. Each function with each of its parameters replaced by what it is not.
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { expect } from "chai";
import { BadRequest, ServiceError, type RecordsService, type TenantHandle } from "../../lib/index.js";
import { startService, testPassword, type TestService } from "../support/service.js";

const circle: Record<string, unknown> = {};
circle["circle"] = circle;

/** What is nobody's input. */
const senseless: readonly unknown[] = [
  undefined, null, 0, -1, NaN, 1n, true, "", "nope", "../../system", "\0", "x".repeat(10_000), [], ["a"], [[]], [null], [{}], {}, { a: 1 }, { $gt: "" },
  { toString: null }, Object.create(null), () => 1, Symbol("s"), new Date(NaN), new Map(), Buffer.from("x"), circle, { constructor: { prototype: 1 } }, { userId: {} }, { slug: {}, name: {} },
  { limit: "x", offset: [], cursor: 5, status: "5", hookId: 5 }, { cursor: 5 }, { limit: { toString: null } }, { offset: { toString: null } }, { where: Symbol("s") },
  { name: 5, stream: 5 }, { name: "a", stream: null }, { name: "a", stream: Readable.from([5]) }, { file: 5 }, { file: "/nowhere" }, { fileId: [], width: {} },
  { format: 5 }, { format: "csv", open: 5 }, { format: "csv", open: () => 5 }, { onProgress: 5 }, { mostBytes: "x" }, { ifMatch: 5 }, { ifUnchanged: {} }, { ifMatch: "x", ifUnchanged: {} },
  { id: 5 }, { since: 5 }, { signal: 5 }, [{ method: "POST", collection: {}, body: 5 }], { email: {} }, { token: {}, password: 5 }, { caller: "guest", collection: {}, operation: "list" },
];

type Called = readonly [name: string, call: (...values: never[]) => unknown, ...fitting: unknown[]];

describe("in code: input of any type", () => {
  let on: TestService;
  let records: RecordsService;
  let acme: TenantHandle;

  before(async () => {
    on = await startService();
    records = on.service;
    await records.tenants.create({ slug: "acme" });
    acme = records.tenant("acme");
    await acme.settings.update({ selfRegistration: true, passwordReset: { enabled: true }, emailVerification: { enabled: true } });
    await acme.collections.create({ name: "notes", fields: [{ name: "title", type: "TEXT" }, { name: "file", type: "FILE" }] });
  });
  after(() => on.close());

  /** Undefined where the call succeeds. */
  async function failure(call: () => unknown): Promise<unknown> {
    try {
      await call();
      return undefined;
    } catch (error) {
      return error;
    }
  }

  const shown = (value: unknown): string => {
    try {
      return typeof value === "symbol" || typeof value === "bigint" || typeof value === "function" ? String(value) : JSON.stringify(value);
    } catch {
      return "what cannot be shown";
    }
  };

  async function read(stream: Readable): Promise<void> {
    stream.resume();
    await finished(stream);
  }

  /** The first turn of a subscription. */
  async function subscribed(name: string, options: object): Promise<void> {
    const events = acme.as("system").collection(name).subscribe(options);
    const first = events.next();
    await Promise.race([first, new Promise(setImmediate).then(() => records.tenants.list())]);
    await events.return?.();
    await first;
  }

  async function functions(): Promise<readonly Called[]> {
    const { id: userId } = await acme.users.create({ username: `user-${Math.random()}`, password: testPassword });
    const { id: keyId } = await acme.apiKeys.create({ name: "key", userId });
    const who = { userId };
    const { collection, files, batch } = acme.as("system");
    const note = await collection("notes").create({ title: "x" });
    const upload = () => ({ name: "a.txt", stream: Readable.from(["a"]) });
    await files.upload("notes", note.id, "file", upload());
    const { tenants } = records;
    const { collections, users, auth, apiKeys, hooks } = acme;
    const tenantId = (await acme.get()).id;
    return [
      ["tenant", (slug) => records.tenant(slug).get(), "acme"],
      ["on", (...given) => (records.on as (...values: unknown[]) => () => void)(...given)(), "beforeCreate", {}, () => undefined, 0],
      ["identify", records.identify, { headers: {}, socket: {}, url: "/" }],
      ["tenants.get", tenants.get, tenantId], ["tenants.create", tenants.create, { slug: "-" }], ["tenants.update", tenants.update, tenantId, {}], ["tenants.delete", tenants.delete, "none"],
      ["collections.get", collections.get, "notes"], ["collections.create", collections.create, {}], ["collections.update", collections.update, "notes", {}], ["collections.delete", collections.delete, "none"],
      ["collections.export", async (name, options) => read(await collections.export(name, options)), "notes", {}],
      ["collections.import", collections.import, "notes", { format: "json", open: () => Readable.from(["[]"]) }],
      ["settings.update", acme.settings.update, {}],
      ["users.list", users.list, {}], ["users.get", users.get, userId], ["users.create", users.create, {}], ["users.update", users.update, userId, {}], ["users.delete", users.delete, "none"],
      ["auth.register", auth.register, {}], ["auth.login", auth.login, {}], ["auth.refresh", auth.refresh, {}], ["auth.logout", auth.logout, who], ["auth.me", auth.me, who], ["auth.issueToken", auth.issueToken, who, who],
      ["auth.forgotPassword", auth.forgotPassword, {}], ["auth.resetPassword", auth.resetPassword, {}], ["auth.requestVerification", auth.requestVerification, {}], ["auth.confirmVerification", auth.confirmVerification, {}],
      ["apiKeys.get", apiKeys.get, keyId], ["apiKeys.create", apiKeys.create, {}], ["apiKeys.update", apiKeys.update, keyId, { allowedCidrs: [] }], ["apiKeys.revoke", apiKeys.revoke, "none"], ["apiKeys.delete", apiKeys.delete, "none"],
      ["hooks.get", hooks.get, "none"], ["hooks.create", hooks.create, {}], ["hooks.update", hooks.update, "none", {}], ["hooks.delete", hooks.delete, "none"], ["hooks.test", hooks.test, "none"],
      ["hooks.deliveries", hooks.deliveries, {}], ["hooks.redeliver", hooks.redeliver, "none"],
      ["requestLog.list", acme.requestLog.list, {}], ["hookLog.list", acme.hookLog.list, {}],
      ["backup", async (options) => read(await acme.backup(options)), {}], ["restore", acme.restore, Buffer.from("x"), {}],
      ["explain", acme.explain, { caller: "guest", collection: "notes", operation: "list" }],
      ["as", (named) => acme.as(named).collection("notes").list(), "system"],
      ["list", (name, parameters) => collection(name).list(parameters), "notes", {}],
      ["get", (name, id) => collection(name).get(id), "notes", note.id],
      ["create", (name, body) => collection(name).create(body), "notes", {}],
      ["update", (name, id, body, options) => collection(name).update(id, body, options), "notes", note.id, {}, {}],
      ["delete", (name, id, options) => collection(name).delete(id, options), "notes", "none", {}],
      ["subscribe", subscribed, "notes", {}],
      ["batch", batch, []],
      ["files.upload", files.upload, "notes", note.id, "file", upload],
      ["files.read", async (...given) => read((await (files.read as (...values: unknown[]) => ReturnType<typeof files.read>)(...given)).stream), "notes", note.id, "file", {}],
      ["files.delete", files.delete, "notes", note.id, "nofile", {}],
    ];
  }

  it("fails with an error of the service, of a status from 400 to 499, or does its work", async () => {
    const wrong: string[] = [];
    let refused = 0;
    for (const [name, call, ...fitting] of await functions()) {
      for (const position of fitting.keys()) {
        for (const value of senseless) {
          const given = fitting.map((each, index) => (index === position ? value : name === "files.upload" && typeof each === "function" ? (each as () => unknown)() : each));
          const error = await failure(() => (call as (...values: unknown[]) => unknown)(...given));
          if (error === undefined) continue;
          refused += 1;
          if (!(error instanceof ServiceError && error.status >= 400 && error.status <= 499)) wrong.push(`${name} with ${shown(value)} as parameter ${position + 1}: ${String(error)}`);
        }
      }
    }
    expect(wrong.join("\n")).to.equal("");
    expect(refused).to.be.greaterThan(1000);
  });

  it("an id or a name that is no text is 404", async () => {
    for (const id of [[], ["a"], {}, { $gt: "" }, 5, true, undefined] as never[]) {
      for (const call of [
        () => records.tenants.get(id), () => records.tenants.update(id, {}), () => records.tenants.delete(id), () => acme.hooks.get(id), () => acme.collections.export(id), () => acme.collections.import(id, { format: "json", open: () => Readable.from(["[]"]) }),
        () => acme.as("system").collection(id).list(), () => acme.as("system").collection(id).subscribe().next(), () => acme.as("system").files.read("notes", "x", id),
      ]) expect(await failure(call), `${String(call)} ${shown(id)}`).to.include({ status: 404 });
    }
  });

  it("an upload without a file, or with a stream of what are no bytes, is 400", async () => {
    const { collection, files } = acme.as("system");
    const { id } = await collection("notes").create({ title: "x" });
    for (const file of [undefined, null, {}, "a.txt", { name: "a.txt" }, { name: 5, stream: Readable.from(["a"]) }, { name: "a.txt", stream: "a" }, { name: "a.txt", stream: Readable.from([{}]) }] as never[]) {
      expect(await failure(() => files.upload("notes", id, "file", file)), shown(file)).to.include({ status: 400 });
    }
    expect((await collection("notes").get(id))["file"]).to.equal(null);
    const bytes = new Blob(["from the web"]).stream() as never;
    expect((await files.upload("notes", id, "file", { name: "a.txt", stream: bytes }))["file"]).to.include({ name: "a.txt", size: 12 });
  });

  it("a delimiter that is not one sign is 400, and the text is let go", async () => {
    for (const delimiter of ["", ";;", '"', "\n"]) {
      const stream = Readable.from(["title\n"]);
      expect(await failure(() => acme.collections.import("notes", { format: "csv", delimiter, open: () => stream })), delimiter).to.include({ status: 400 });
      expect(stream.destroyed).to.equal(true);
    }
  });

  it("a limit below 1 is the default of 25, and null as an option is none", async () => {
    await records.tenants.create({ slug: "many" });
    const many = records.tenant("many");
    for (let count = 0; count < 27; count += 1) await many.users.create({ username: `user-${count}`, password: testPassword });
    for (const limit of [0, -1, null, undefined] as never[]) {
      const { items, hasMore } = await many.users.list({ limit, offset: -5 });
      expect([items.length, hasMore], shown(limit)).to.deep.equal([25, true]);
      expect((await many.requestLog.list({ limit, cursor: null })).items).to.have.length.at.most(25);
    }
  });

  it("on: a scope with a member that it does not know is refused, as is one that is no object", () => {
    for (const scope of [undefined, null, "acme", [], { tenants: "acme" }, { tenant: 5 }, { collection: ["notes"] }] as never[]) {
      expect(() => records.on("beforeCreate", scope, () => undefined), shown(scope)).to.throw(BadRequest, "scope");
    }
  });
});
