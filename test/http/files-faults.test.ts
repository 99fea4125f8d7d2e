// Faults under uploads: a full disk, a disk that fails at its N-th call, kill -9. What was acknowledged is whole, what
// was refused has left nothing, and everything works again afterwards.
import { expect } from "chai";
import { execFile, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import * as nodeFileSystem from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createDiskBlobs, type DiskFileSystem } from "../../lib/blobs/disk.js";
import { file, form, text } from "../support/multipart.js";
import { demand, send, startService, type Answer, type TestService, type TestTenant } from "../support/service.js";

const { mkdtemp, readdir, rm } = nodeFileSystem;
const run = promisify(execFile);
const digest = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
const definition = {
  name: "docs", fields: [{ name: "title", type: "TEXT" }, { name: "f", type: "FILE", maxSize: 4_000_000 }],
  listRule: "true", viewRule: "true", createRule: "true", updateRule: "true", deleteRule: "true",
};

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).map((entry) => entry.name);
}

async function everyRecord(on: TestService): Promise<Answer["body"][]> {
  const items: Answer["body"][] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { body } = await demand(200, on.request("GET", `/api/collections/docs?limit=100${cursor === "" ? "" : `&cursor=${cursor}`}`, { tenant: "acme" }));
    items.push(...body.items);
    cursor = body.nextCursor;
  }
  return items;
}

describe("a full disk under uploads", () => {
  let disk: string;
  before(async function mountDisk() {
    disk = await mkdtemp(join(tmpdir(), "files-full-"));
    try {
      await run("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", disk]);
    } catch {
      // Only root may mount.
      await rm(disk, { recursive: true });
      this.skip();
    }
  });
  after(async () => {
    await run("umount", [disk]).catch(() => undefined);
    await rm(disk, { recursive: true, force: true });
  });

  it("is 507, nothing half-written, and works again once there is room", async () => {
    const on = await startService({ files: disk });
    try {
      await on.createCollection(await on.createTenant("acme"), definition);
      const upload = (size: number) => on.request("POST", "/api/collections/docs", { tenant: "acme", ...form(file("f", randomBytes(size))) });
      const kept: Answer["body"][] = [];
      const statuses = new Set<number>();
      await Promise.all(Array.from({ length: 8 }, async () => {
        for (let round = 0; round < 4; round += 1) {
          const answer = await upload(700_000);
          statuses.add(answer.status);
          if (answer.status === 201) kept.push(answer.body);
          else expect(answer.body).to.deep.equal({ error: "There is no room left for files" });
        }
      }));
      expect([...statuses].sort()).to.deep.equal([201, 507]);
      expect(await readdir(join(disk, "temp"))).to.deep.equal([]);
      expect((await everyRecord(on)).map((one) => one.id).sort()).to.deep.equal(kept.map((one) => one.id).sort());
      expect((await namesIn(join(disk, "blobs"))).sort()).to.deep.equal(kept.map((one) => one.f.id).sort());
      // Everything but files goes on.
      await demand(200, on.request("PATCH", `/api/collections/docs/${kept[0].id}`, { tenant: "acme", body: { title: "still here" } }));
      const replaced = await on.request("PATCH", `/api/collections/docs/${kept[1].id}`, { tenant: "acme", ...form(file("f", randomBytes(3_000_000))) });
      expect(replaced.status).to.equal(507);
      expect((await demand(200, on.request("GET", `/api/collections/docs/${kept[1].id}/files/f`, { tenant: "acme" }))).bytes).to.have.length(700_000);
      for (const { id } of kept.slice(0, 3)) await demand(204, on.request("DELETE", `/api/collections/docs/${id}`, { tenant: "acme" }));
      while ((await namesIn(join(disk, "blobs"))).length > kept.length - 3) await new Promise((resolve) => setTimeout(resolve, 10));
      await demand(201, upload(700_000));
    } finally {
      await on.close();
    }
  });
});

/** Fails once, at the N-th call from `arm` on. */
function breakable(): { fileSystem: DiskFileSystem; arm(failAt: number, code: string): void; disarm(): void; readonly fired: boolean } {
  let left = 0;
  let code = "";
  let fired = false;
  const wrap = (target: object): object => new Proxy(target, {
    get(inner, name) {
      const value: unknown = Reflect.get(inner, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        if (left > 0 && name !== "close" && name !== "createReadStream" && (left -= 1) === 0) {
          fired = true;
          return Promise.reject(Object.assign(new Error(`${code}: injected`), { code, syscall: String(name) }));
        }
        const result: unknown = Reflect.apply(value, inner, args);
        return name === "open" ? (result as Promise<object>).then(wrap) : result;
      };
    },
  });
  return {
    fileSystem: wrap(nodeFileSystem) as DiskFileSystem,
    arm(failAt, failure) { left = failAt; code = failure; fired = false; },
    disarm() { left = 0; },
    get fired() { return fired; },
  };
}

describe("a disk that fails at its N-th call", () => {
  for (const code of ["ENOSPC", "EIO", "EMFILE"]) {
    it(`${code}: each error is clean, each record's file is whole, and a retry succeeds, for every N`, async () => {
      const folder = await mkdtemp(join(tmpdir(), "files-broken-"));
      const broken = breakable();
      const on = await startService({ files: createDiskBlobs({ folder, fileSystem: broken.fileSystem }) });
      try {
        await on.createCollection(await on.createTenant("acme"), definition);
        const contents = new Map<string, Buffer>();
        const upload = async (method: "POST" | "PATCH", path: string): Promise<Answer> => {
          const content = randomBytes(100_000);
          const answer = await on.request(method, path, { tenant: "acme", ...form(file("f", content)) });
          if (answer.status < 300) contents.set(answer.body.f.id, content);
          return answer;
        };
        let passed = false;
        for (let failAt = 1; !passed; failAt += 1) {
          expect(failAt).to.be.lessThan(100);
          const before = (await everyRecord(on)).length;
          broken.arm(failAt, code);
          let record = await upload("POST", "/api/collections/docs");
          if (record.status !== 201) {
            expect(record.status).to.equal(code === "ENOSPC" ? 507 : 500);
            expect(record.text).not.to.match(/injected|ENOSPC|EIO|EMFILE|\//);
            expect(await everyRecord(on)).to.have.length(before);
            record = await demand(201, upload("POST", "/api/collections/docs"));
          }
          const path = `/api/collections/docs/${record.body.id}`;
          const replaced = await upload("PATCH", path);
          if (replaced.status !== 200) {
            expect(replaced.status).to.equal(code === "ENOSPC" ? 507 : 500);
            await demand(200, upload("PATCH", path));
          }
          const read = await on.request("GET", `${path}/files/f`, { tenant: "acme" });
          if (read.status !== 200) expect(read.status).to.equal(500);
          await demand(204, on.request("DELETE", `${path}/files/f`, { tenant: "acme" }));
          passed = !broken.fired;
          broken.disarm();
          for (const one of await everyRecord(on)) {
            if (one.f === null) continue;
            expect(contents.has(one.f.id)).to.equal(true);
            const { bytes } = await demand(200, on.request("GET", `/api/collections/docs/${one.id}/files/f`, { tenant: "acme" }));
            expect(bytes.equals(contents.get(one.f.id)!)).to.equal(true);
          }
        }
      } finally {
        await on.close();
        await rm(folder, { recursive: true, force: true });
      }
    });
  }
});

describe("kill -9 under uploads", () => {
  it("loses no acknowledged file, and leaves no record without its bytes", async () => {
    const folder = await mkdtemp(join(tmpdir(), "files-killed-"));
    const first = await startService({ folder });
    const tenant: TestTenant = await first.createTenant("acme");
    await first.createCollection(tenant, definition);
    await first.close();
    const acknowledged = new Map<string, string>();
    try {
      for (let round = 0; round < 5; round += 1) {
        const child = spawn(process.execPath, ["--import=tsx", fileURLToPath(new URL("./files-host.ts", import.meta.url)), folder], { stdio: ["ignore", "pipe", "inherit"] });
        const [line] = (await once(child.stdout, "data")) as [Buffer];
        const url = line.toString().trim();
        let running = true;
        const writers = Array.from({ length: 6 }, async () => {
          while (running) {
            const content = randomBytes(1_000 + Math.floor(Math.random() * 300_000));
            try {
              const { status, body } = await send(`${url}/api/collections/docs`, "POST", { tenant: "acme", ...form(text("title", digest(content)), file("f", content)) });
              if (status === 201) acknowledged.set(body.id, digest(content));
            } catch {
              return; // The process has been killed.
            }
          }
        });
        const wanted = acknowledged.size + 5 + round * 7;
        while (acknowledged.size < wanted) await new Promise((resolve) => setTimeout(resolve, 5));
        child.kill("SIGKILL");
        await once(child, "exit");
        running = false;
        await Promise.all(writers);
      }
      const on = await startService({ folder });
      try {
        const records = await everyRecord(on);
        expect(records.map((one) => one.id)).to.include.members([...acknowledged.keys()]);
        for (const one of records) {
          const { bytes } = await demand(200, on.request("GET", `/api/collections/docs/${one.id}/files/f`, { tenant: "acme" }));
          expect(digest(bytes)).to.equal(one.title);
        }
      } finally {
        await on.close();
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
