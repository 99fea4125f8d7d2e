// The conformance suite of blob stores: every sentence of the contract as a test, for mocha or anything with its
// `describe`, `it`, `beforeEach` and `afterEach`.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { PassThrough, Readable } from "node:stream";
import type { BlobStore } from "../blobs/blobs.js";
import { testFunctions } from "./test-functions.js";

/** A fresh, opened, empty store for one test, and what ends it. */
export interface BlobStoreUnderTest {
  readonly store: BlobStore;
  dispose(): Promise<void>;
}

/**
 * Declares the suite. `make` is called once for each test.
 *
 * @example
 * blobStoreSuite("my blobs", async () => {
 *   const store = createMyBlobs();
 *   await store.open();
 *   return { store, dispose: () => store.close() };
 * });
 */
export function blobStoreSuite(name: string, make: () => Promise<BlobStoreUnderTest>): void {
  const { describe, it, beforeEach, afterEach } = testFunctions();

  describe(`${name}: blob store`, () => {
    let subject: BlobStoreUnderTest;
    let store: BlobStore;
    beforeEach(async () => {
      subject = await make();
      store = subject.store;
    });
    afterEach(() => subject.dispose());

    it("gives back what was written", async () => {
      const content = randomBytes(700_001);
      assert.deepEqual(await store.write("tenant/record/file", pieces(content, 65_536)), { size: content.length });
      assert.equal(await store.size("tenant/record/file"), content.length);
      assert.ok(content.equals(must(await store.readWhole("tenant/record/file"))));
      assert.ok(content.equals(await collect(await store.read("tenant/record/file"))));
    });

    it("keeps an empty blob", async () => {
      assert.deepEqual(await store.write("tenant/empty", Readable.from([])), { size: 0 });
      assert.equal(await store.size("tenant/empty"), 0);
      assert.equal(must(await store.readWhole("tenant/empty")).length, 0);
      assert.equal((await collect(await store.read("tenant/empty"))).length, 0);
    });

    it("takes keys of every allowed character", async () => {
      const key = "0190a-B_c/.hidden/x..y/file.w300";
      await store.write(key, Readable.from([Buffer.from("x")]));
      assert.equal(must(await store.readWhole(key)).toString(), "x");
      assert.deepEqual(await keys(store, "0190a-B_c"), [key]);
    });

    for (const key of ["", "/", "a//b", "/a", "a/", "..", "a/../b", "./a", "a/b c", "a\\b", "a/\0", "a/ü"]) {
      it(`refuses the key ${JSON.stringify(key)}`, async () => {
        await assert.rejects(async () => store.write(key, Readable.from([Buffer.from("x")])));
        assert.deepEqual(await keys(store, ""), []);
      });
    }

    it("reads a range, both ends included", async () => {
      const content = randomBytes(600_000);
      await store.write("t/ranged", pieces(content, 100_000));
      for (const [start, end] of [[0, 0], [0, 599_999], [599_999, 599_999], [262_143, 262_145], [10, 400_000]] as const) {
        assert.ok(content.subarray(start, end + 1).equals(await collect(await store.read("t/ranged", { start, end }))), `${start}-${end}`);
      }
    });

    it("has no blob under an unknown key", async () => {
      assert.equal(await store.read("t/none"), undefined);
      assert.equal(await store.readWhole("t/none"), undefined);
      assert.equal(await store.size("t/none"), undefined);
      await store.remove("t/none");
      await store.removeAll("t/none");
      assert.deepEqual(await keys(store, "t"), []);
    });

    it("leaves nothing behind where the stream fails, and rejects with its error", async () => {
      const failure = new Error("the stream broke");
      await assert.rejects(store.write("t/broken", failing(randomBytes(300_000), failure)), failure);
      assert.equal(await store.size("t/broken"), undefined);
      assert.deepEqual(await keys(store, ""), []);
    });

    it("leaves nothing behind where the stream is destroyed midway", async () => {
      const stream = new PassThrough();
      const written = store.write("t/cut", stream);
      stream.write(randomBytes(100_000));
      setImmediate(() => stream.destroy());
      await assert.rejects(written);
      assert.equal(await store.size("t/cut"), undefined);
      assert.deepEqual(await keys(store, ""), []);
    });

    it("does not show a blob before it is whole", async () => {
      const stream = new PassThrough();
      const written = store.write("t/slow", stream);
      stream.write(randomBytes(50_000));
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(await store.size("t/slow"), undefined);
      assert.equal(await store.read("t/slow"), undefined);
      assert.deepEqual(await keys(store, ""), []);
      stream.end();
      assert.deepEqual(await written, { size: 50_000 });
      assert.equal(await store.size("t/slow"), 50_000);
    });

    it("removes a blob, and no other", async () => {
      for (const key of ["t/c/r/a", "t/c/r/a.w300", "t/c/r/b"]) await store.write(key, Readable.from([Buffer.from(key)]));
      await store.remove("t/c/r/a");
      assert.equal(await store.size("t/c/r/a"), undefined);
      assert.deepEqual(await keys(store, "t"), ["t/c/r/a.w300", "t/c/r/b"]);
    });

    it("removes everything below a prefix, and nothing beside it", async () => {
      for (const key of ["t/c1/r/a", "t/c1/q/b", "t/c10/r/a", "u/c1/r/a"]) await store.write(key, Readable.from([Buffer.from(key)]));
      await store.removeAll("t/c1");
      assert.deepEqual(await keys(store, ""), ["t/c10/r/a", "u/c1/r/a"]);
      await store.removeAll("t");
      assert.deepEqual(await keys(store, ""), ["u/c1/r/a"]);
    });

    it("lists the blobs below a prefix with size and age", async () => {
      const before = Date.now();
      for (const key of ["t/c/r/a", "t/c/q/b", "t/d/r/c"]) await store.write(key, Readable.from([Buffer.from(key)]));
      const found = [];
      for await (const entry of store.list("t/c")) found.push(entry);
      assert.deepEqual(found.map((entry) => entry.key).sort(), ["t/c/q/b", "t/c/r/a"]);
      for (const entry of found) {
        assert.equal(entry.size, 7);
        assert.ok(Math.abs(entry.modifiedAt - before) < 600_000);
      }
      assert.deepEqual(await keys(store, ""), ["t/c/q/b", "t/c/r/a", "t/d/r/c"]);
    });

    it("can write again where a blob was removed", async () => {
      for (const text of ["first", "second"]) {
        await store.write("t/c/r/again", Readable.from([Buffer.from(text)]));
        assert.equal(must(await store.readWhole("t/c/r/again")).toString(), text);
        await store.remove("t/c/r/again");
      }
    });

    it("writes and removes side by side in one folder", async () => {
      await Promise.all(Array.from({ length: 40 }, async (_, index) => {
        const key = `t/c/r/${index}`;
        await store.write(key, Readable.from([Buffer.from(key)]));
        if (index % 2 === 0) await store.remove(key);
      }));
      assert.equal((await keys(store, "t/c/r")).length, 20);
    });

    it("ends a read that was begun before the removal whole or with an error, never mixed", async () => {
      const content = randomBytes(2_000_000);
      await store.write("t/going", pieces(content, 65_536));
      const stream = must(await store.read("t/going"));
      await once(stream, "readable");
      await store.remove("t/going");
      const received: Buffer[] = [];
      try {
        for await (const chunk of stream) received.push(chunk as Buffer);
      } catch {
        // Cut off: allowed.
      }
      const got = Buffer.concat(received);
      assert.ok(content.subarray(0, got.length).equals(got));
    });

    it("sweeps without touching what is stored or being written", async () => {
      await store.write("t/kept", Readable.from([Buffer.from("x")]));
      const stream = new PassThrough();
      const written = store.write("t/under-way", stream);
      stream.write("abc");
      await store.sweep(3_600_000);
      stream.end();
      await written;
      assert.deepEqual(await keys(store, "t"), ["t/kept", "t/under-way"]);
    });
  });
}

async function keys(store: BlobStore, prefix: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { key } of store.list(prefix)) found.push(key);
  return found.sort();
}

async function collect(stream: Readable | undefined): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of must(stream)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function must<T>(value: T | undefined): T {
  assert.notEqual(value, undefined, "there must be such a blob");
  return value as T;
}

function pieces(content: Buffer, size: number): Readable {
  return Readable.from((function* cut() {
    for (let offset = 0; offset < content.length; offset += size) yield content.subarray(offset, offset + size);
  })());
}

function failing(content: Buffer, failure: Error): Readable {
  return Readable.from((function* cut() {
    yield content;
    throw failure;
  })());
}
