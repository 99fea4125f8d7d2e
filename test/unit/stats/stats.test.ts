// Stats: what is stored is counted beside the requests, never before them.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { createRecordsService, createSqliteStorage, type Storage } from "../../../lib/index.js";
import { cheapHasher } from "../../support/service.js";

describe("stats", () => {
  let folder: string;
  /** Of each count the turn of the event loop that it was asked in. */
  let counts: number[];
  let turn = 0;
  let ticking: NodeJS.Immediate;

  function tick(): void {
    turn += 1;
    ticking = setImmediate(tick);
  }

  function watched(storage: Storage): Storage {
    return {
      ...storage,
      tenant(id) {
        const store = storage.tenant(id);
        return {
          ...store,
          table(name) {
            const table = store.table(name);
            return {
              ...table,
              count(filter) {
                counts.push(turn);
                return table.count(filter);
              },
            };
          },
        };
      },
    };
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "records-stats-"));
    tick();
  });
  after(async () => {
    clearImmediate(ticking);
    await rm(folder, { recursive: true, force: true });
  });

  it("gives requests their turn between any two tables", async () => {
    const service = createRecordsService({ storage: watched(createSqliteStorage({ folder })), files: join(folder, "files"), hasher: cheapHasher, announceSetup: false, logger: { debug() {}, info() {}, warn() {}, error() {} } });
    for (const slug of ["one", "two"]) {
      await service.tenants.create({ slug });
      for (const name of ["a", "b", "c", "d"]) await service.tenant(slug).collections.create({ name, fields: [] });
    }
    counts = [];
    expect((await service.stats()).stored).to.include({ tenants: 2, collections: 10, records: 0, users: 0 });
    expect(counts).to.have.length(10);
    expect(new Set(counts).size).to.equal(10);
    await service.close();
  });
});
