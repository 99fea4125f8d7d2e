import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSqliteStorage } from "../../lib/storage/sqlite/sqlite.js";
import { storageSuite } from "../../lib/testing/storage.js";

storageSuite("SQLite as a Storage", async () => {
  const folder = await mkdtemp(join(tmpdir(), "records-sqlite-"));
  const storage = createSqliteStorage({ folder });
  await storage.open();
  return {
    storage,
    async another() {
      const other = createSqliteStorage({ folder });
      await other.open();
      return other;
    },
    async dispose() {
      await storage.close();
      await rm(folder, { recursive: true });
    },
  };
});
