// The store on MongoDB: one database for the instance and one for each tenant, for any number of processes.
import { randomUUID } from "node:crypto";
import { systemClock, type Clock } from "../../core/clock.js";
import { StorageUnavailable } from "../../core/errors.js";
import { systemDatabase } from "../place.js";
import type { Storage } from "../storage.js";
import { createConnection, type Connection } from "./connection.js";
import { tenantDatabase } from "./names.js";
import { createStore, type MongoStore } from "./store.js";

export interface MongoStorageOptions {
  /** `mongodb://` or `mongodb+srv://`; its path names the system database, by default `records`. */
  readonly url: string;
  /** Source of the time of changes. @default the system's clock */
  readonly clock?: Clock | undefined;
}

/** A storage, and the connection that the files in GridFS share. */
export interface MongoStorage extends Storage {
  readonly connection: Connection;
  /** The system database's name. */
  readonly systemName: string;
}

const pingTime = 1_500;

/** Throws TypeError where the URL's path cannot name a database. `open` rejects with TypeError where the driver does not take the URL, or the servers its user. */
export function createMongoStorage({ url, clock = systemClock }: MongoStorageOptions): MongoStorage {
  const systemName = systemDatabase(url);
  const connection = createConnection(url);
  let closing: Promise<void> | undefined;
  const parts = { connection, clock, me: randomUUID(), isClosing: () => closing !== undefined };
  const system = createStore(systemName, parts);
  const stores = new Map<string, MongoStore>();

  function tenant(id: string): MongoStore {
    let store = stores.get(id);
    if (store === undefined) stores.set(id, (store = createStore(tenantDatabase(systemName, id), parts)));
    return store;
  }

  async function finish(): Promise<void> {
    await Promise.all([system, ...stores.values()].map((store) => store.finish()));
    await connection.close();
  }

  return {
    connection,
    systemName,
    open: () => connection.open(),
    close: () => (closing ??= finish()),
    ping: () => connection.call(async () => {
      if (closing !== undefined) throw new StorageUnavailable(new Error("the storage is closed"));
      await connection.database("admin").command({ ping: 1 });
    }, pingTime),
    system,
    tenant,
    dropTenant: (id) => connection.call(() => tenant(id).drop(), 60_000),
    capabilities: { atomicUnits: true, shared: true },
  };
}
