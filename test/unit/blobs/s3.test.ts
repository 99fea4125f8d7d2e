// The blob suite on S3, with s3rver as the server.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { expect } from "chai";
import S3rver from "s3rver";
import { createS3Blobs } from "../../../lib/blobs/s3.js";
import { blobStoreSuite, type BlobStoreUnderTest } from "../../../lib/testing/blobs.js";

async function openStore(prefix = ""): Promise<BlobStoreUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), "s3-"));
  const server = new S3rver({ address: "127.0.0.1", port: 0, silent: true, directory, configureBuckets: [{ name: "files" }] });
  const { port } = await server.run();
  const store = createS3Blobs({
    bucket: "files", prefix,
    client: { region: "us-east-1", endpoint: `http://127.0.0.1:${port}`, forcePathStyle: true, credentials: { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" } },
  });
  await store.open();
  return {
    store,
    async dispose() {
      await store.close();
      await server.close();
      await rm(directory, { recursive: true });
    },
  };
}

blobStoreSuite("S3", () => openStore());

describe("S3: blobs of several parts", () => {
  it("a blob larger than one part comes back whole, and as ranges across parts", async () => {
    const { store, dispose } = await openStore("below/");
    try {
      const content = randomBytes(20_000_001);
      expect(await store.write("t/large", Readable.from([content.subarray(0, 9_000_000), content.subarray(9_000_000)]))).to.deep.equal({ size: content.length });
      expect((await store.readWhole("t/large"))?.equals(content)).to.equal(true);
      const found: string[] = [];
      for await (const { key, size } of store.list("t")) found.push(`${key} ${size}`);
      expect(found).to.deep.equal([`t/large ${content.length}`]);
    } finally {
      await dispose();
    }
  });

  it("a bucket that is not there is told when the store is opened", async () => {
    const store = createS3Blobs({ bucket: "files", client: { region: "us-east-1", endpoint: "http://127.0.0.1:1", maxAttempts: 1, credentials: { accessKeyId: "a", secretAccessKey: "b" } } });
    const failure = await store.open().then(() => undefined, (error: unknown) => error);
    expect(failure).to.be.instanceOf(Error).with.property("name", "StorageUnavailable");
  });
});
