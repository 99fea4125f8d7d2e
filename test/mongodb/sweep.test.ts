// The sweep of files on several nodes over one MongoDB: one at a time, and another one where that has died.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect } from "chai";
import type { BlobStore } from "../../lib/blobs/blobs.js";
import { createDiskBlobs } from "../../lib/blobs/disk.js";
import { newId } from "../../lib/core/ids.js";
import { sweepFiles } from "../../lib/files/sweep.js";
import { createMongoStorage } from "../../lib/storage/mongodb/mongodb.js";
import { defineTables, systemTables } from "../../lib/tenants/tables.js";
import { mongoUrl, removeDatabases } from "./server.js";

const server = mongoUrl();

if (server !== undefined) {
  describe("the sweep of several nodes", function () {
    this.timeout(60_000);
    const url = server.withDatabase(`sweep${process.pid}`);
    after(() => removeDatabases(url));

    it("is one node's at a time; one that dies over it leaves it to another when its lease has ended", async () => {
      const folder = await mkdtemp(join(tmpdir(), "mongodb-sweep-"));
      const nodes = [createMongoStorage({ url }), createMongoStorage({ url })] as const;
      for (const node of nodes) await node.open();
      try {
        await nodes[0].system.write({ operations: defineTables(systemTables) });
        const blobs = createDiskBlobs({ folder });
        await blobs.open();
        await blobs.write([1, 2, 3, 4].map(() => newId(Date.now())).join("/"), Readable.from([Buffer.from("nobody's")]));
        let begun = (): void => undefined;
        const atIt = new Promise<void>((resolve) => { begun = resolve; });
        // Dies over its list: nothing of it comes any more.
        const dying: BlobStore = { ...blobs, async *list() { begun(); await new Promise(() => undefined); yield { key: "", size: 0, modifiedAt: 0 }; } };
        // So that the blob is older than what may still be an upload.
        let now = Date.now() + 7_200_000;
        const sweep = (node: 0 | 1, store: BlobStore) => sweepFiles({ blobs: store, storage: nodes[node], tenants: { byId: async () => undefined }, clock: { now: () => now }, isClosing: () => false });
        void sweep(0, dying);
        await atIt;
        expect(await sweep(1, blobs)).to.equal(undefined);
        now += 60_000;
        expect(await sweep(1, blobs)).to.equal(1);
        expect(await sweep(0, blobs)).to.equal(0);
      } finally {
        for (const node of nodes) await node.close();
        await rm(folder, { recursive: true, force: true });
      }
    });
  });
}
