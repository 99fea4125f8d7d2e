// The blob suite on GridFS, on the server that TEST_MONGODB_URL names.
import { createGridFsBlobs } from "../../lib/blobs/gridfs.js";
import { createMongoStorage } from "../../lib/storage/mongodb/mongodb.js";
import { blobStoreSuite } from "../../lib/testing/blobs.js";
import { mongoUrl, removeDatabases } from "./server.js";

const server = mongoUrl();
let last = 0;

if (server !== undefined) {
  blobStoreSuite("GridFS", async () => {
    last += 1;
    const url = server.withDatabase(`blobs${process.pid}x${last}`);
    const { connection, systemName, close } = createMongoStorage({ url });
    const store = createGridFsBlobs({ connect: () => connection.open(), database: () => connection.database(systemName) });
    await store.open();
    return {
      store,
      async dispose() {
        await close();
        await removeDatabases(url);
      },
    };
  });
}
