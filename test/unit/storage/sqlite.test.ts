import { expect } from "chai";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Worker } from "node:worker_threads";
import { BadRequest } from "../../../lib/core/errors.js";
import { always, is, not, text, type Filter } from "../../../lib/storage/filter.js";
import { loadDriver } from "../../../lib/storage/sqlite/driver.js";
import { createSqliteStorage } from "../../../lib/storage/sqlite/sqlite.js";
import { startThread } from "../../../lib/storage/sqlite/thread.js";
import { createWriter } from "../../../lib/storage/sqlite/writer.js";
import type { Storage, Store } from "../../../lib/storage/storage.js";
import { define, filled, id, insert, isUnavailable, listNumbers, logged, rejects, write } from "../../../lib/testing/storage-case.js";

const childFile = fileURLToPath(new URL("sqlite-child.ts", import.meta.url));

function child(folder: string, mode: string) {
  return spawn(process.execPath, ["--import", "tsx", childFile, folder, mode], { stdio: ["ignore", "pipe", "inherit"] });
}

describe("the SQLite store", function () {
  this.timeout(60_000);
  let folder: string;
  let storage: Storage;
  let store: Store;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "records-sqlite-unit-"));
    storage = createSqliteStorage({ folder, maxOpen: 4 });
    await storage.open();
    store = storage.tenant("acme");
  });

  afterEach(async () => {
    await storage.close();
    await rm(folder, { recursive: true, force: true });
  });

  const file = (tenantId = "acme"): string => join(folder, "tenants", `${tenantId}.sqlite`);

  describe("files", () => {
    it("one file a tenant, made by its first write and not by reads; nothing else is left after close", async () => {
      await store.table("things").find("x");
      await store.stamp();
      await store.changes.head();
      expect(readdirSync(join(folder, "tenants"))).to.deep.equal([]);
      await write(store, define(), insert(1));
      expect(readdirSync(join(folder, "tenants"))).to.include("acme.sqlite");
      await storage.close();
      expect(readdirSync(join(folder, "tenants"))).to.deep.equal(["acme.sqlite"]);
      expect(readdirSync(folder).sort()).to.deep.equal(["system.sqlite", "tenants"]);
    });

    it("a tenant's id cannot leave the folder", () => {
      for (const bad of ["../system", "a/b", "", ".", "a\u0000", "x".repeat(65)]) expect(() => storage.tenant(bad)).to.throw(TypeError);
    });

    it("open files stay bounded, however many tenants are used", async () => {
      for (let n = 0; n < 40; n += 1) await filled(storage.tenant(`t${n}`), [{ n }]);
      for (let n = 0; n < 40; n += 1) expect(await listNumbers(storage.tenant(`t${n}`))).to.deep.equal([1]);
      const databases = readdirSync("/proc/self/fd").filter((descriptor) => {
        try {
          return readlinkSync(`/proc/self/fd/${descriptor}`).startsWith(join(folder, "tenants"));
        } catch {
          // The descriptor of the listing itself is closed by now.
          return false;
        }
      });
      // Four tenants in each of two threads, with up to three files each.
      expect(databases.length).to.be.within(1, 2 * 4 * 3);
    });

    it("size tells about what the files take", async () => {
      expect(await store.size()).to.equal(0);
      await write(store, define(), insert(1, { long: "x".repeat(100_000) }));
      expect(await store.size()).to.be.greaterThan(100_000);
    });
  });

  describe("durability", () => {
    it("kill -9 during writes loses no acknowledged one and leaves no half of a unit", async () => {
      for (const [round, enough] of [150, 400, 800].entries()) {
        const place = join(folder, `round-${round}`);
        const writer = child(place, "endless");
        const acknowledged: number[] = [];
        const exited = once(writer, "exit");
        for await (const line of createInterface({ input: writer.stdout })) {
          // The last line may be cut.
          if (/^\d+$/.test(line)) acknowledged.push(Number(line));
          if (acknowledged.length === enough) writer.kill("SIGKILL");
        }
        await exited;
        const again = createSqliteStorage({ folder: place });
        await again.open();
        try {
          const found = new Set(await listNumbers(again.tenant("acme"), { limit: 1e6 }));
          for (const n of acknowledged.slice(0, -1)) expect(found.has(2 * n) && found.has(2 * n + 1), `pair ${n}`).to.equal(true);
          for (const n of found) expect(found.has(n ^ 1), `the other half of ${n}`).to.equal(true);
          const changes = (await again.tenant("acme").changes.since("", 1e6))!;
          expect(changes.length).to.equal(found.size);
          await write(again.tenant("acme"), insert(1));
        } finally {
          await again.close();
        }
      }
    });

    it("an idle storage lets its process end, a pending write holds it until it is durable", async () => {
      const writer = child(folder, "once");
      writer.stdout.resume();
      const [code] = (await once(writer, "exit")) as [number | null];
      expect(code).to.equal(0);
      expect(await listNumbers(store)).to.deep.equal([1]);
    });

    it("units that are written together share one commit", async () => {
      await write(store, define());
      const before = await commits(`${file()}-wal`);
      await Promise.all(Array.from({ length: 64 }, (_unused, index) => write(store, insert(index + 1, {}, { log: logged }))));
      expect((await commits(`${file()}-wal`)) - before).to.equal(1);
    });

    it("a thread that dies rejects what waits, and the next write has a new one", async () => {
      const threads: Worker[] = [];
      const writer = createWriter({ systemPath: join(folder, "system.sqlite"), maxOpen: 4, busyTimeout: 1000 }, () => undefined, (name, data) => {
        const thread = startThread(name, data);
        threads.push(thread);
        return thread;
      });
      const task = { type: "trim", keep: 1 } as const;
      await writer.run(file(), task);
      const pending = writer.run(file(), task);
      const refused = isUnavailable(pending);
      await threads[0]!.terminate();
      const outcome = await Promise.allSettled([refused, pending]);
      expect(outcome.some(({ status }) => status === "fulfilled")).to.equal(true);
      await writer.run(file(), task);
      expect(threads.length).to.equal(2);
      await writer.close();
    });
  });

  describe("faults", () => {
    it("a unit that cannot be copied fails alone", async () => {
      await write(store, define());
      const strange = { op: "is", field: text("name"), value: () => 1 } as unknown as Filter;
      const settled = await Promise.allSettled([
        write(store, insert(1)),
        write(store, { type: "update", table: "things", id: id(1), where: strange }),
        write(store, insert(2)),
      ]);
      expect(settled.map(({ status }) => status)).to.deep.equal(["fulfilled", "rejected", "fulfilled"]);
    });

    it("ping fails where the folder or the system database is gone, or is no database", async () => {
      await storage.ping();
      await rename(folder, `${folder}-away`);
      await isUnavailable(storage.ping());
      await isUnavailable(write(store, define()));
      await rename(`${folder}-away`, folder);
      await storage.ping();
      await rename(join(folder, "tenants"), join(folder, "elsewhere"));
      await isUnavailable(storage.ping());
      await rename(join(folder, "elsewhere"), join(folder, "tenants"));
      await rename(join(folder, "system.sqlite"), join(folder, "aside"));
      await isUnavailable(storage.ping());
      await writeFile(join(folder, "system.sqlite"), "no database at all, but long enough to look like one".repeat(100));
      await isUnavailable(storage.ping());
    });

    it("a broken tenant file: 503 for that tenant, no harm to others, and it can be dropped", async () => {
      await mkdir(join(folder, "tenants"), { recursive: true });
      await writeFile(file("broken"), "no database at all, but long enough to look like one".repeat(100));
      const broken = storage.tenant("broken");
      for (const attempt of [broken.table("things").find("x"), broken.table("things").list({ filter: always, limit: 1 }), broken.stamp(), broken.changes.head(), write(broken, define())]) {
        await isUnavailable(attempt);
      }
      await filled(store, [{}]);
      await storage.dropTenant("broken");
      await filled(broken, [{}, {}]);
      expect(await listNumbers(broken)).to.deep.equal([1, 2]);
    });

    it("a write under the stamp of a database that was dropped is refused, and does not make it anew", async () => {
      await store.write({ operations: [define(), insert(1)], bump: true });
      const stamp = await store.stamp();
      await storage.dropTenant("acme");
      await rejects(store.write({ stamp, operations: [insert(2)] }), "StampChanged");
      expect(existsSync(file())).to.equal(false);
      await store.write({ stamp: await store.stamp(), operations: [define(), insert(3)] });
      expect(await listNumbers(store)).to.deep.equal([3]);
    });

    it("a tenant's file that was taken away is not written to any more", async () => {
      await filled(store, [{}, {}]);
      for (const suffix of ["", "-wal", "-shm"]) await rename(file() + suffix, `${file()}${suffix}.away`);
      await write(store, define(), insert(9));
      await storage.close();
      storage = createSqliteStorage({ folder });
      await storage.open();
      expect(await listNumbers(storage.tenant("acme"))).to.deep.equal([9]);
    });

    it("a removal that was cut off before the file was gone is finished by the next write", async () => {
      await filled(store, [{}, {}]);
      await storage.close();
      const Driver = loadDriver();
      const database = new Driver(file(), {});
      database.pragma("user_version=-1");
      database.close();
      storage = createSqliteStorage({ folder });
      await storage.open();
      store = storage.tenant("acme");
      expect(await store.stamp()).to.equal(await storage.tenant("nobody").stamp());
      expect(await listNumbers(store)).to.deep.equal([]);
      await write(store, define(), insert(9));
      expect(await listNumbers(store)).to.deep.equal([9]);
    });

    it("open tells of a folder that cannot be one", async () => {
      await writeFile(join(folder, "plain"), "a file");
      const other = createSqliteStorage({ folder: join(folder, "plain") });
      let error: unknown;
      await other.open().catch((caught: unknown) => {
        error = caught;
      });
      expect(error).to.be.instanceOf(Error);
      await other.close();
    });

    it("a database of a later format is refused in words", async () => {
      await write(store, define());
      await storage.close();
      const Driver = loadDriver();
      const database = new Driver(file(), {});
      database.exec(`UPDATE "#meta" SET value=99 WHERE key='format'`);
      database.close();
      storage = createSqliteStorage({ folder });
      await storage.open();
      let message = "";
      await storage.tenant("acme").table("things").find("x").catch((error: Error) => {
        message = error.message;
      });
      expect(message).to.contain("format 99");
    });

    it("a filter too deep or too large is a bad request, and the store goes on", async () => {
      await filled(store, [{}]);
      let deep: Filter = is(text("name"), "a");
      for (let level = 0; level < 1000; level += 1) deep = { op: "not", filter: { op: "any", filters: [deep, is(text("name"), `${level}`)] } };
      const large: Filter = { op: "any", filters: Array.from({ length: 40_000 }, (_unused, n) => is(text("name"), `${n}`)) };
      for (const filter of [deep, large]) {
        let error: unknown;
        await store.table("things").list({ filter, limit: 1 }).catch((caught: unknown) => {
          error = caught;
        });
        expect(error).to.be.instanceOf(BadRequest);
      }
      expect(await listNumbers(store, { filter: not(is(text("name"), "a")) })).to.deep.equal([1]);
    });

    it("names that are none are refused, also in units", async () => {
      expect(() => store.table(`x"; DROP TABLE y; --`)).to.throw(TypeError);
      await write(store, define());
      await rejects(write(store, { type: "drop", table: `things"; --` }), "TypeError");
      const index = { fields: [{ field: `o'clock "x" ^A.ü`, kind: "text" }], unique: true } as const;
      await write(store, define(index), insert(1, { [`o'clock "x" ^A.ü`]: "same" }));
      await rejects(write(store, insert(2, { [`o'clock "x" ^A.ü`]: "same" })), "UniqueViolation", { fields: [`o'clock "x" ^A.ü`] });
    });

    it("lone surrogates are stored as U+FFFD, and found by it", async () => {
      await filled(store, [{ name: "a\ud800b", data: { "k\udc00": ["\ud83d"] } }]);
      const row = (await store.table("things").find(id(1)))!;
      expect(row.record["name"]).to.equal("a\ufffdb");
      expect(row.record["data"]).to.deep.equal({ "k\ufffd": ["\ufffd"] });
      expect(await listNumbers(store, { filter: is(text("name"), "a\ufffdb") })).to.deep.equal([1]);
    });
  });
});

/** How many transactions the write-ahead log holds: frames that say how large the database was after them. */
async function commits(path: string): Promise<number> {
  const log = await readFile(path);
  const pageSize = log.readUInt32BE(8);
  const salts = log.subarray(16, 24);
  let count = 0;
  for (let offset = 32; offset + 24 + pageSize <= log.length; offset += 24 + pageSize) {
    if (log.subarray(offset + 8, offset + 16).equals(salts) && log.readUInt32BE(offset + 4) > 0) count += 1;
  }
  return count;
}
