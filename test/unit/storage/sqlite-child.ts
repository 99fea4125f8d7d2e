// A process of its own over a folder: `endless` writes pairs of rows and prints each acknowledged number until it is
// killed; `once` writes without waiting for anything, and should end by itself.
import { createSqliteStorage } from "../../../lib/storage/sqlite/sqlite.js";
import { define, insert, logged, write } from "../../../lib/testing/storage-case.js";

const [folder, mode] = process.argv.slice(2) as [string, string];
const storage = createSqliteStorage({ folder });
await storage.open();
const store = storage.tenant("acme");

if (mode === "once") {
  await store.changes.listen(() => undefined);
  void store.write({ operations: [define(), insert(1)] });
} else {
  await write(store, define());
  let next = 0;
  await Promise.all(Array.from({ length: 16 }, async () => {
    for (;;) {
      next += 1;
      const n = next;
      await store.write({ operations: [insert(2 * n, { pair: n }, { log: logged }), insert(2 * n + 1, { pair: n }, { log: logged })] });
      process.stdout.write(`${n}\n`);
    }
  }));
}
