// The storage suite on the MongoDB server that TEST_MONGODB_URL names.
import { createMongoStorage } from "../../lib/storage/mongodb/mongodb.js";
import { storageSuite } from "../../lib/testing/storage.js";
import { mongoUrl, removeDatabases, skippedOn } from "./server.js";

const server = mongoUrl();
let last = 0;

if (server !== undefined) {
  storageSuite("MongoDB as a Storage", async () => {
    last += 1;
    const url = server.withDatabase(`suite${process.pid}x${last}`);
    const storage = createMongoStorage({ url });
    await storage.open();
    return {
      storage,
      async another() {
        const other = createMongoStorage({ url });
        await other.open();
        return other;
      },
      async dispose() {
        await storage.close();
        await removeDatabases(url);
      },
    };
  }, { skip: skippedOn() });
}
