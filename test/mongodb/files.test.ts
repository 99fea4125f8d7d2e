// Files of several nodes over one MongoDB: what one node stores every node serves, from GridFS and from S3.
import { mkdtemp, rm } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import S3rver from "s3rver";
import sharp from "sharp";
import { createS3Blobs } from "../../lib/blobs/s3.js";
import type { BlobStore } from "../../lib/blobs/blobs.js";
import { demand, startService, type TestService } from "../support/service.js";
import { file, form } from "../support/multipart.js";
import { mongoUrl, removeDatabases } from "./server.js";

const server = mongoUrl();
const secrets = Object.fromEntries(["application", "token", "sessionCookie", "authenticationCookie", "flashCookie"].map((name, index) => [name, `${index}123456789abcdef`.repeat(4)]));

interface Files {
  /** A store for one node; undefined: the service's own choice. */
  readonly store: () => BlobStore | undefined;
  readonly close: () => Promise<void>;
}

async function s3(): Promise<Files> {
  const directory = await mkdtemp(join(tmpdir(), "mongodb-s3-"));
  const s3rver = new S3rver({ address: "127.0.0.1", port: 0, silent: true, directory, configureBuckets: [{ name: "files" }] });
  const { port } = await s3rver.run();
  return {
    store: () => createS3Blobs({ bucket: "files", client: { region: "us-east-1", endpoint: `http://127.0.0.1:${port}`, forcePathStyle: true, credentials: { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" } } }),
    async close() {
      await s3rver.close();
      await rm(directory, { recursive: true });
    },
  };
}

const kinds: Readonly<Record<string, () => Promise<Files>>> = {
  GridFS: async () => ({ store: () => undefined, close: async () => undefined }),
  S3: s3,
};

if (server !== undefined) {
  for (const [name, open] of Object.entries(kinds)) {
    describe(`files of several nodes in ${name}`, () => {
      const url = server.withDatabase(`${name.toLowerCase()}${process.pid}`);
      let files: Files;
      let nodes: TestService[];

      before(async () => {
        files = await open();
        nodes = [];
        for (let n = 0; n < 2; n += 1) nodes.push(await startService({ storage: url, files: files.store(), secrets }));
        const tenant = await nodes[0]!.createTenant("acme");
        await nodes[0]!.createCollection(tenant, {
          name: "docs", fields: [{ name: "paper", type: "FILE" }, { name: "photo", type: "FILE", widths: [50] }],
          viewRule: "true", createRule: "true", updateRule: "true", deleteRule: "true",
        });
      });
      after(async () => {
        for (const node of nodes) await node.close();
        await files.close();
        await removeDatabases(url);
      });

      it("a file, a range of it and an image's variant come from the other node; a removed one is gone there", async () => {
        const [first, second] = nodes as [TestService, TestService];
        const content = randomBytes(700_001);
        const image = await sharp({ create: { width: 200, height: 100, channels: 3, background: "#446688" } }).png().toBuffer();
        const { body } = await demand(201, first.request("POST", "/api/collections/docs", { tenant: "acme", ...form(file("paper", content, "paper.bin"), file("photo", image, "photo.png", "image/png")) }));
        const path = `/api/collections/docs/${body.id as string}`;
        const whole = await demand(200, second.request("GET", `${path}/files/paper`, { tenant: "acme" }));
        expect(whole.bytes.equals(content)).to.equal(true);
        const range = await demand(206, second.request("GET", `${path}/files/paper`, { tenant: "acme", headers: { range: "bytes=255000-600000" } }));
        expect(range.bytes.equals(content.subarray(255_000, 600_001))).to.equal(true);
        const width = async (): Promise<number> => (await sharp((await demand(200, second.request("GET", `${path}/files/photo?width=50`, { tenant: "acme" }))).bytes).metadata()).width;
        while ((await width()) !== 50) await new Promise((resolve) => setTimeout(resolve, 50));
        await demand(204, second.request("DELETE", path, { tenant: "acme" }));
        expect((await first.request("GET", `${path}/files/paper`, { tenant: "acme" })).status).to.equal(404);
      });

      it("a file replaced on one node is the new one on the other at once", async () => {
        const [first, second] = nodes as [TestService, TestService];
        const { body } = await demand(201, first.request("POST", "/api/collections/docs", { tenant: "acme", ...form(file("paper", "first", "a.txt")) }));
        const path = `/api/collections/docs/${body.id as string}`;
        for (const text of ["second", "third"]) {
          const [writer, reader] = text === "second" ? [second, first] : [first, second];
          await demand(200, writer.request("PATCH", path, { tenant: "acme", ...form(file("paper", text, "a.txt")) }));
          expect((await demand(200, reader.request("GET", `${path}/files/paper`, { tenant: "acme" }))).text).to.equal(text);
        }
      });
    });
  }
}
