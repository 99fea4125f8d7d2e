// The embedded store: SQLite through better-sqlite3, one file for the instance and one for each tenant. One thread
// writes, so that no commit waits for the disk on the event loop; reads run where they are asked for.
import { mkdirSync, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { systemClock, type Clock } from "../../core/clock.js";
import { StorageUnavailable } from "../../core/errors.js";
import type { Storage } from "../storage.js";
import { createChangeLogs } from "./change-log.js";
import { Connection, createDatabase, removeDrafts } from "./connection.js";
import { createConnections } from "./connections.js";
import { translate } from "./errors.js";
import { createReader } from "./reader.js";
import { createReaders } from "./readers.js";
import { createSnapshots } from "./snapshots.js";
import { createStore } from "./store.js";
import { createWriter } from "./writer.js";

export interface SqliteStorageOptions {
  /** Folder of the databases; made where it is missing. Several processes of one machine may share it. */
  readonly folder: string;
  /** Source of the time of changes. @default the system's clock */
  readonly clock?: Clock | undefined;
  /** Tenants whose files are kept open at a time, in each of two threads. @default 64 */
  readonly maxOpen?: number | undefined;
}

const tenantId = /^[A-Za-z0-9_-]{1,64}$/;
/** Milliseconds that a read on the event loop waits for a lock; in the threads it may be longer. */
const shortWait = 250;
const longWait = 4000;

/** Throws where better-sqlite3 cannot be loaded; everything else is told by the methods' promises. */
export function createSqliteStorage({ folder, clock = systemClock, maxOpen = 64 }: SqliteStorageOptions): Storage {
  const tenants = resolve(folder, "tenants");
  const systemPath = resolve(folder, "system.sqlite");
  const systemConnections = createConnections(1, { mode: "read", busyTimeout: shortWait });
  const tenantConnections = createConnections(maxOpen, { mode: "read", busyTimeout: shortWait });
  const readers = createReaders(Math.min(2, availableParallelism()), { maxOpen: 8, busyTimeout: longWait });
  const snapshots = createSnapshots();
  const reader = createReader((path) => (path === systemPath ? systemConnections : tenantConnections), readers, snapshots);
  const writer = createWriter({ systemPath, maxOpen, busyTimeout: longWait }, snapshots.end);
  const changeLogs = createChangeLogs(reader, writer);
  const parts = { reader, writer, changeLogs, clock };
  let closing: Promise<void> | undefined;

  function pathOf(id: string): string {
    if (!tenantId.test(id)) throw new TypeError("A tenant's id is made of up to 64 letters, digits, _ and -");
    return join(tenants, `${id}.sqlite`);
  }

  async function finish(): Promise<void> {
    changeLogs.close();
    await reader.close();
    systemConnections.closeAll();
    tenantConnections.closeAll();
    // Last, so that it is the one that writes the log back into the files.
    await writer.close();
  }

  return {
    async open() {
      try {
        mkdirSync(tenants, { recursive: true, mode: 0o700 });
        for (const each of [resolve(folder), tenants]) removeDrafts(each);
        if (statSync(systemPath, { throwIfNoEntry: false }) === undefined) createDatabase(systemPath);
        systemConnections.get(systemPath);
      } catch (error) {
        throw translate(error);
      }
    },
    close: () => (closing ??= finish()),
    async ping() {
      try {
        if (closing !== undefined) throw new Error("the storage is closed");
        const { ino } = await stat(systemPath);
        await stat(tenants);
        const open = systemConnections.get(systemPath);
        if (open !== undefined && open.inode !== ino) throw new Error("the system database was replaced");
        // A fresh connection, since one that is open would answer from its memory.
        const fresh = new Connection(systemPath, { mode: "read", busyTimeout: shortWait });
        fresh.close();
      } catch (error) {
        throw error instanceof StorageUnavailable ? error : new StorageUnavailable(error);
      }
    },
    system: createStore(systemPath, parts),
    tenant: (id) => createStore(pathOf(id), parts),
    async dropTenant(id) {
      const path = pathOf(id);
      reader.release(path);
      await writer.run(path, { type: "dropDatabase" });
      reader.release(path);
    },
    capabilities: { atomicUnits: true, shared: true },
  };
}
