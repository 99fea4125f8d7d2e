// Moving house: from one storage to another, interrupted and gone on with, and what is refused.
import { expect } from "chai";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RecordsServiceOptions } from "../../../lib/index.js";
import { createDiskBlobs } from "../../../lib/blobs/disk.js";
import { createGridFsBlobs } from "../../../lib/blobs/gridfs.js";
import { copyService, type CopyPlace } from "../../../lib/copy/copy-service.js";
import { always } from "../../../lib/storage/filter.js";
import { createMongoStorage } from "../../../lib/storage/mongodb/mongodb.js";
import { createSqliteStorage } from "../../../lib/storage/sqlite/sqlite.js";
import { mongoUrl, removeDatabases } from "../../mongodb/server.js";
import { file, form } from "../../support/multipart.js";
import { demand, startService, type TestService } from "../../support/service.js";

interface Place extends CopyPlace {
  close(): Promise<void>;
}

/** Where a service's data are. */
interface Home {
  /** For a service that lives there. */
  readonly options: Pick<RecordsServiceOptions, "storage" | "secrets">;
  open(): Promise<Place>;
  remove(): Promise<void>;
}

async function sqlite(): Promise<Home> {
  const folder = await mkdtemp(join(tmpdir(), "copy-"));
  return {
    options: { storage: folder },
    async open() {
      const storage = createSqliteStorage({ folder });
      const blobs = createDiskBlobs({ folder: join(folder, "files") });
      await storage.open();
      await blobs.open();
      return { storage, blobs, close: () => storage.close() };
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

let homes = 0;

async function mongo(withDatabase: (name: string) => string): Promise<Home> {
  homes += 1;
  const url = withDatabase(`copy${process.pid}x${homes}`);
  const secrets = Object.fromEntries(["application", "token", "sessionCookie", "authenticationCookie", "flashCookie"].map((name, index) => [name, `${index}123456789abcdef`.repeat(4)]));
  return {
    options: { storage: url, secrets },
    async open() {
      const storage = createMongoStorage({ url });
      const blobs = createGridFsBlobs({ connect: () => storage.connection.open(), database: () => storage.connection.database(storage.systemName) });
      await storage.open();
      await blobs.open();
      return { storage, blobs, close: () => storage.close() };
    },
    remove: () => removeDatabases(url),
  };
}

const at = "2026-01-31T09:00:00.000Z";
const mail = { id: "reset-0199aaaa-0000-7000-8000-000000000002", createdAt: at, updatedAt: at, kind: "reset", userId: "0199aaaa-0000-7000-8000-000000000002", address: "ada@example.test", taken: 0, dueAt: at };

const server = mongoUrl();
const kinds: Record<string, () => Promise<Home>> = { SQLite: sqlite, ...(server === undefined ? {} : { MongoDB: () => mongo(server.withDatabase) }) };
const ways = Object.keys(kinds).flatMap((from) => Object.keys(kinds).map((to) => [from, to] as const));

for (const [fromKind, toKind] of ways) {
  describe(`copy from ${fromKind} to ${toKind}`, () => {
    let source: Home;
    let target: Home;

    before(async () => {
      source = await kinds[fromKind]!();
      const house: TestService = await startService({ ...source.options, files: undefined });
      const tenant = await house.createTenant("north");
      await house.createCollection(tenant, { name: "notes", fields: [{ name: "title", type: "TEXT", unique: true }, { name: "more", type: "JSON" }, { name: "paper", type: "FILE" }], createRule: "true" });
      for (let n = 0; n < 12; n += 1) await house.meta("POST", "/api/collections/notes?tenant=north", { title: `note ${n}`, more: { $gt: [n], "a.b": null } });
      for (const text of ["first", "second"]) await demand(201, house.request("POST", "/api/collections/notes", { tenant: "north", ...form(file("paper", text, "paper.txt")) }));
      await house.signUp(tenant, "ada");
      const older = await house.createTenant("south");
      await house.close();
      // A mail that waits, as a service leaves it that ends; and a tenant that is older than such a table.
      const place = await source.open();
      await place.storage.tenant(tenant.id).write({ operations: [{ type: "insert", table: "mail_jobs", record: mail }] });
      await place.storage.tenant(older.id).write({ operations: [{ type: "drop", table: "mail_jobs" }] });
      await place.close();
    });
    beforeEach(async () => {
      target = await kinds[toKind]!();
    });
    afterEach(() => target.remove());
    after(() => source.remove());

    it("everything is there afterwards, also where the copy was interrupted, and a second copy changes nothing", async () => {
      const from = await source.open();
      const to = await target.open();
      try {
        const abort = new AbortController();
        let steps = 0;
        const interrupted = await copyService({ from, to, signal: abort.signal, onProgress: () => void ((steps += 1) === 3 && abort.abort(new Error("interrupted"))) }).then(() => undefined, (error: unknown) => error);
        expect(interrupted).to.be.instanceOf(Error).with.property("message", "interrupted");
        expect(await to.storage.system.table("tenants").count(always)).to.equal(0);

        const report = await copyService({ from, to });
        expect([report.tenants, report.files]).to.deep.equal([2, 2]);
        for await (const { key } of from.blobs.list("")) expect((await to.blobs.readWhole(key))?.toString()).to.equal((await from.blobs.readWhole(key))?.toString());
        const [north] = await from.storage.system.table("tenants").list({ filter: always, limit: 1 });
        expect((await to.storage.tenant(north!.id).table("mail_jobs").list({ filter: always, limit: 10 })).map(({ record }) => record)).to.deep.equal([mail]);
        expect((await copyService({ from, to })).rows).to.equal(report.rows);
        for (const table of ["tenants", "superadmin"]) {
          const [before, after] = await Promise.all([from, to].map(({ storage }) => storage.system.table(table).list({ filter: always, limit: 10 })));
          expect(after!.map((row) => [row.record, row.hidden])).to.deep.equal(before!.map((row) => [row.record, row.hidden]));
        }
      } finally {
        await from.close();
        await to.close();
      }
    });

    it("a source on which no service ever ran is refused, and the target stays as it is", async () => {
      const nothing = await kinds[fromKind]!();
      const [from, to] = [await nothing.open(), await target.open()];
      try {
        const refusal = await copyService({ from, to }).then(() => undefined, (error: unknown) => error);
        expect(refusal).to.be.instanceOf(Error).with.property("message").that.contains("nothing to copy");
        expect(await to.storage.system.table("tenants").count(always)).to.equal(0);
      } finally {
        await from.close();
        await to.close();
        await nothing.remove();
      }
    });

    it("a row that differs in the target is put right, one too many goes, and foreign tenants are refused", async () => {
      const from = await source.open();
      const to = await target.open();
      try {
        await copyService({ from, to });
        const [tenant] = await from.storage.system.table("tenants").list({ filter: always, limit: 1 });
        const [collection] = await from.storage.tenant(tenant!.id).table("collections").list({ filter: always, limit: 1 });
        const store = to.storage.tenant(tenant!.id);
        const extra = { id: "0199aaaa-0000-7000-8000-000000000001", createdAt: "", updatedAt: "" };
        await store.write({ operations: [{ type: "update", table: "collections", id: collection!.id, set: { name: "other" } }, { type: "insert", table: "hooks", record: extra }] });
        await copyService({ from, to });
        expect((await store.table("collections").find(collection!.id))!.record).to.deep.equal(collection!.record);
        expect(await store.table("hooks").count(always)).to.equal(0);

        await to.storage.system.write({ operations: [{ type: "insert", table: "tenants", record: { ...extra, slug: "foreign" } }] });
        const refused = await copyService({ from, to }).then(() => undefined, (error: unknown) => error);
        expect(refused).to.be.instanceOf(Error).with.property("message").that.includes("foreign");
      } finally {
        await from.close();
        await to.close();
      }
    });
  });
}
