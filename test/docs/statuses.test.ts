// docs/errors.md against the running service: each status that it names is provoked, and the body is one that it gives.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { createDiskBlobs, createSqliteStorage, InsufficientStorage, StorageUnavailable, type BlobStore, type Storage, type Store } from "../../lib/index.js";
import { file, form } from "../support/multipart.js";
import { cheapHasher, demand, startService, testPassword, type Answer, type TestService, type TestTenant, type TestUser } from "../support/service.js";
import { codes, readPage, tableRows } from "./pages.js";

/** A storage whose reads of tenants fail while there is a fault. */
function faulty(storage: Storage, fault: () => Error | undefined): Storage {
  const failing = (store: Store): Store => new Proxy(store, {
    get(target, name) {
      if (name === "table" && fault() !== undefined) {
        return () => ({ find: async () => Promise.reject(fault()!), list: async () => Promise.reject(fault()!), count: async () => Promise.reject(fault()!) });
      }
      const value = Reflect.get(target, name) as unknown;
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  return new Proxy(storage, {
    get(target, name) {
      if (name === "tenant") return (id: string) => failing(target.tenant(id));
      const value = Reflect.get(target, name) as unknown;
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

describe("docs: errors.md over HTTP", () => {
  const rows = tableRows(readPage("docs/errors.md")).filter((row) => /^\d{3}$/.test(row[0] ?? "") && row.length === 3);
  let folder: string;
  let scene: TestService;
  let tenant: TestTenant;
  let ann: TestUser;
  let record: string;
  let etag: string;
  let fault: Error | undefined;
  let full = false;
  let hold: Promise<void> | undefined;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "records-statuses-"));
    const disk = createDiskBlobs({ folder: join(folder, "files") });
    const files: BlobStore = { ...disk, write: async (key, content) => (full ? Promise.reject(new InsufficientStorage()) : disk.write(key, content)) };
    scene = await startService({
      storage: faulty(createSqliteStorage({ folder }), () => fault),
      files,
      hasher: { ...cheapHasher, verify: async (stored, password) => { await hold; return cheapHasher.verify(stored, password); } },
      authentication: { hashing: { concurrency: 1, timeout: 0 } },
    });
    tenant = await scene.createTenant("acme");
    await scene.createTenant("other");
    await scene.createCollection(tenant, {
      name: "notes",
      fields: [{ name: "text", type: "TEXT", required: true, unique: true }, { name: "of", type: "RELATION", collection: "notes" }, { name: "paper", type: "FILE" }],
      listRule: "true", viewRule: 'text != "hidden"', createRule: 'text != "denied"', updateRule: "@auth.id != null && false", deleteRule: "@auth.id != null",
    });
    await scene.createCollection(tenant, { name: "closed", fields: [] });
    ann = await scene.signUp(tenant, "ann");
    const made = await demand(201, scene.request("POST", "/api/collections/notes", { token: ann.token, ...form({ name: "text", value: "first" }, file("paper", "some text", "a.txt", "text/plain")) }));
    record = made.body.id;
    etag = String(made.headers["etag"]);
    await demand(201, scene.request("POST", "/api/collections/notes", { token: ann.token, body: { text: "second", of: record } }));
  });

  after(async () => {
    await scene.close();
    await rm(folder, { recursive: true, force: true });
  });

  const notes = "/api/collections/notes";
  const json = (text: string) => ({ body: text, headers: { "content-type": "application/json" } });
  const asAnn = (method: string, path: string, more: object = {}): Promise<Answer> => scene.request(method, path, { token: ann.token, ...more });

  async function during<T>(set: () => void, clear: () => void, run: () => Promise<T>): Promise<T> {
    set();
    try {
      return await run();
    } finally {
      clear();
    }
  }

  const cases: readonly (readonly [name: string, status: number, ask: () => Promise<Answer>])[] = [
    ["malformed JSON", 400, () => asAnn("POST", notes, json("{"))],
    ["a wrong parameter", 400, () => asAnn("GET", `${notes}?limit=many`)],
    ["a value that its field refuses", 400, () => asAnn("POST", notes, { body: { text: 7 } })],
    ["a unique value that is taken", 400, () => asAnn("POST", notes, { body: { text: "first" } })],
    ["a slug that is taken", 400, () => scene.meta("POST", "/api/meta/tenants", { slug: "acme" })],
    ["a wrong one-time token", 400, () => scene.request("POST", "/api/auth/verify/confirm", { body: { token: "x" } })],
    ["a credential that is not good", 401, () => scene.request("GET", notes, { token: "pk_nonsense" })],
    ["no credential where one is needed", 401, () => scene.request("PATCH", `${notes}/${record}`, { tenant: "acme", body: {} })],
    ["No access, asked by a guest", 401, () => scene.request("GET", "/api/collections/closed", { tenant: "acme" })],
    ["a wrong login", 401, () => scene.login(tenant, "ann", "not the password")],
    ["No access, asked by a user", 403, () => asAnn("GET", "/api/collections/closed")],
    ["a create that is denied", 403, () => asAnn("POST", notes, { body: { text: "denied" } })],
    ["an update of a record that may be viewed", 403, () => asAnn("PATCH", `${notes}/${record}`, { body: { text: "new" } })],
    ["another tenant", 403, () => asAnn("GET", notes, { tenant: "other" })],
    ["a feature that is off", 403, () => scene.request("POST", "/api/auth/register", { body: { tenant: "acme", username: "ben", password: testPassword } })],
    ["management, asked by a user", 403, () => asAnn("GET", "/api/meta/tenants")],
    ["an unknown path", 404, () => asAnn("GET", "/api/nothing")],
    ["an unknown tenant", 404, () => scene.request("GET", notes, { tenant: "nobody" })],
    ["an unknown collection", 404, () => asAnn("GET", "/api/collections/nothing")],
    ["an unknown record", 404, () => asAnn("GET", `${notes}/nothing`)],
    ["an unknown method", 405, () => asAnn("PUT", notes)],
    ["a record that another one holds", 409, () => asAnn("DELETE", `${notes}/${record}`)],
    ["If-Match that does not hold", 412, () => asAnn("DELETE", `${notes}/${record}`, { headers: { "if-match": `${etag}x` } })],
    ["more than 4 MiB", 413, () => asAnn("POST", notes, json(JSON.stringify({ text: "x".repeat(4 * 1024 * 1024) })))],
    ["more than 4 MiB after decompression", 413, () => asAnn("POST", notes, { body: gzipSync(Buffer.alloc(5 * 1024 * 1024, 32)), headers: { "content-type": "application/json", "content-encoding": "gzip" } })],
    ["a body of another type", 415, () => asAnn("POST", notes, { body: "text=x", headers: { "content-type": "application/x-www-form-urlencoded" } })],
    ["a Range beyond the end", 416, () => asAnn("GET", `${notes}/${record}/files/paper`, { headers: { range: "bytes=1000-" } })],
    ["no hashing slot", 429, async () => {
      let release = (): void => undefined;
      hold = new Promise((resolve) => (release = resolve));
      const answers = [scene.login(tenant, "ann"), scene.login(tenant, "ann")];
      // One of the two holds the slot until the other one has been told that there is none.
      const refused = await Promise.race(answers);
      release();
      hold = undefined;
      await Promise.all(answers);
      return refused;
    }],
    ["a fault that nobody foresaw", 500, () => during(() => (fault = new Error("secret detail")), () => (fault = undefined), () => scene.request("GET", `${notes}/${record}`, { tenant: "acme" }))],
    ["a hook that fails", 502, () => {
      const off = scene.service.on("beforeView", {}, () => Promise.reject(new Error("secret detail")));
      return asAnn("GET", `${notes}/${record}`).finally(off);
    }],
    ["a storage that cannot be reached", 503, () => during(() => (fault = new StorageUnavailable()), () => (fault = undefined), () => scene.request("GET", `${notes}/${record}`, { tenant: "acme" }))],
    ["no room for files", 507, () => during(() => (full = true), () => (full = false), () => asAnn("POST", notes, form({ name: "text", value: "third" }, file("paper", "more"))))],
    ["a service that is closing", 503, async () => {
      await scene.service.close();
      return scene.request("GET", notes, { tenant: "acme" });
    }],
  ];

  for (const [name, status, ask] of cases) {
    it(`${name}: ${status}`, async () => {
      const answer = await ask();
      expect(answer.status, answer.text).to.equal(status);
      const written = codes(rows.find((row) => row[0] === String(status))![2]!);
      if (Array.isArray(answer.body)) {
        expect(rows.find((row) => row[0] === String(status))![2]).to.include("the array");
        for (const entry of answer.body) expect(entry).to.have.all.keys("field", "message");
      } else {
        expect(Object.keys(answer.body)).to.deep.equal(["error"]);
        const exact = written.filter((body) => body.includes(":")).map((body) => /"error": "([^"]+)"/.exec(body)![1]);
        const open = /or|says/.test(rows.find((row) => row[0] === String(status))![2]!.replace(/`[^`]*`/g, ""));
        if (!open) expect(exact).to.include(answer.body.error);
      }
      expect(answer.text).to.not.include("secret detail");
      expect(answer.headers).to.have.property("x-request-id");
      if (status === 401) expect(answer.headers["www-authenticate"]).to.equal("Bearer");
      if (status === 405) expect(answer.headers["allow"]).to.equal("GET, HEAD, POST");
      if (status === 416) expect(answer.headers["content-range"]).to.equal("bytes */9");
      if (status === 429) expect(answer.headers["retry-after"]).to.equal("1");
    });
  }

  it("that is every status of the table but 408, which takes half a minute", () => {
    expect(rows.map((row) => Number(row[0])).filter((status) => status !== 408 && !cases.some((one) => one[1] === status))).to.deep.equal([]);
  });
});
