// The blob store in a folder: the conformance suite, and what is its own.
import { expect } from "chai";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createDiskBlobs, type DiskFileSystem } from "../../../lib/blobs/disk.js";
import { InsufficientStorage } from "../../../lib/core/errors.js";
import { blobStoreSuite } from "../../../lib/testing/blobs.js";

async function temporaryFolder(): Promise<string> {
  return fs.mkdtemp(join(tmpdir(), "blobs-"));
}

blobStoreSuite("disk", async () => {
  const folder = await temporaryFolder();
  const store = createDiskBlobs({ folder });
  await store.open();
  return {
    store,
    async dispose() {
      await store.close();
      expect(await fs.readdir(join(folder, "temp"))).to.deep.equal([]);
      await fs.rm(folder, { recursive: true });
    },
  };
});

/** A file system whose N-th call fails with the code; handles count too. */
function failingFileSystem(failAt: number, code: string): { fileSystem: DiskFileSystem; calls(): number } {
  let calls = 0;
  function count(name: string): void {
    calls += 1;
    if (calls === failAt) throw Object.assign(new Error(`${code}: injected at ${name}`), { code });
  }
  const wrap = (target: object): object => new Proxy(target, {
    get(inner, name) {
      const value: unknown = Reflect.get(inner, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        // Cleaning up must be possible, or nothing could ever be cleaned.
        if (["close", "unlink", "rmdir", "rm", "createReadStream"].includes(String(name))) return Reflect.apply(value, inner, args) as unknown;
        try {
          count(String(name));
        } catch (error) {
          return Promise.reject(error as Error);
        }
        const result: unknown = Reflect.apply(value, inner, args);
        return name === "open" ? (result as Promise<object>).then(wrap) : result;
      };
    },
  });
  return { fileSystem: wrap(fs) as DiskFileSystem, calls: () => calls };
}

describe("disk blobs", () => {
  let folder: string;
  beforeEach(async () => { folder = await temporaryFolder(); });
  afterEach(() => fs.rm(folder, { recursive: true }));

  for (const code of ["ENOSPC", "EDQUOT", "EIO", "EMFILE"]) {
    it(`a write whose N-th step fails with ${code} leaves nothing, for every N`, async () => {
      let passed = false;
      for (let failAt = 1; !passed; failAt += 1) {
        const sound = createDiskBlobs({ folder });
        await sound.open();
        const { fileSystem } = failingFileSystem(failAt, code);
        const store = createDiskBlobs({ folder, fileSystem });
        const content = randomBytes(200_000);
        let failure: unknown;
        try {
          await store.write("t/c/r/f", Readable.from([content.subarray(0, 100_000), content.subarray(100_000)]));
        } catch (error) {
          failure = error;
        }
        if (failure === undefined) passed = true;
        else {
          if (code === "ENOSPC" || code === "EDQUOT") expect(failure).to.be.instanceOf(InsufficientStorage);
          expect(await fs.readdir(join(folder, "temp")), `temp after step ${failAt}`).to.deep.equal([]);
          expect(await sound.size("t/c/r/f"), `blob after step ${failAt}`).to.equal(undefined);
          await sound.write("t/c/r/f", Readable.from([content]));
        }
        expect((await sound.readWhole("t/c/r/f"))?.equals(content)).to.equal(true);
        await sound.remove("t/c/r/f");
        expect(failAt).to.be.lessThan(50);
      }
    });
  }

  it("sweeps old leftovers of writes and removals, and keeps young ones", async () => {
    const store = createDiskBlobs({ folder });
    await store.open();
    await fs.writeFile(join(folder, "temp", "old"), "x");
    await fs.mkdir(join(folder, "temp", "old-folder", "r"), { recursive: true });
    await fs.writeFile(join(folder, "temp", "old-folder", "r", "f"), "x");
    await fs.writeFile(join(folder, "temp", "young"), "x");
    const longAgo = new Date(Date.now() - 7_200_000);
    await fs.utimes(join(folder, "temp", "old"), longAgo, longAgo);
    await fs.utimes(join(folder, "temp", "old-folder"), longAgo, longAgo);
    await store.sweep(3_600_000);
    expect(await fs.readdir(join(folder, "temp"))).to.deep.equal(["young"]);
  });

  it("leaves no empty folders where the last blob was removed", async () => {
    const store = createDiskBlobs({ folder });
    await store.open();
    await store.write("t/c/r/f", Readable.from([Buffer.from("x")]));
    await store.remove("t/c/r/f");
    expect(await fs.readdir(join(folder, "blobs"))).to.deep.equal([]);
  });

  it("keeps files and folders to their owner", async () => {
    const store = createDiskBlobs({ folder });
    await store.open();
    await store.write("t/f", Readable.from([Buffer.from("x")]));
    expect((await fs.stat(join(folder, "blobs", "t", "f"))).mode & 0o077).to.equal(0);
    expect((await fs.stat(join(folder, "blobs", "t"))).mode & 0o077).to.equal(0);
  });
});
