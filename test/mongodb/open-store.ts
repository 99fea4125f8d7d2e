// A store of one tenant on the server under test, in databases of its own.
import { createMongoStorage } from "../../lib/storage/mongodb/mongodb.js";
import type { Store } from "../../lib/storage/storage.js";
import { removeDatabases, type MongoServer } from "./server.js";

export interface OpenedStore {
  readonly store: Store;
  /** Closes it and removes its databases. */
  close(): Promise<void>;
}

/** `name` tells the databases from those of other tests. */
export async function openStore(server: MongoServer, name: string): Promise<OpenedStore> {
  const url = server.withDatabase(`${name}${process.pid}`);
  const storage = createMongoStorage({ url });
  await storage.open();
  return {
    store: storage.tenant("acme"),
    async close() {
      await storage.close();
      await removeDatabases(url);
    },
  };
}
