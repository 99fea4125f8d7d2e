// A SQLite storage in a folder of its own, with one tenant's store filled.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSqliteStorage } from "../../../lib/storage/sqlite/sqlite.js";
import type { Operation, Storage, Store } from "../../../lib/storage/storage.js";
import { define, insert } from "../../../lib/testing/storage-case.js";

export interface OpenedSqlite {
  readonly folder: string;
  readonly storage: Storage;
  /** Of the tenant `acme`. */
  readonly store: Store;
  /** Harmless where the storage is closed already. */
  close(): Promise<void>;
}

/** With the table `things`, an index on the number `n`, and so many rows. */
export async function openSqlite(count: number, row: (index: number) => Readonly<Record<string, string | number>>): Promise<OpenedSqlite> {
  const folder = await mkdtemp(join(tmpdir(), "records-sqlite-"));
  const storage = createSqliteStorage({ folder });
  await storage.open();
  const store = storage.tenant("acme");
  const rows = Array.from({ length: count }, (_unused, index): Operation => insert(index + 1, row(index)));
  await store.write({ operations: [define({ fields: [{ field: "n", kind: "number" }], unique: false }), ...rows] });
  return {
    folder, storage, store,
    async close() {
      await storage.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
