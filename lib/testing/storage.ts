// The conformance suite of Storage: holds an engine to every sentence of the contract. Runs under mocha, or under
// any runner that gives `describe`, `it`, `before` and `after`.
import { changeCases } from "./storage-changes.js";
import type { StorageCase, StorageUnderTest } from "./storage-case.js";
import { definitionCases } from "./storage-definitions.js";
import { filterCases } from "./storage-filters.js";
import { lifecycleCases } from "./storage-lifecycle.js";
import { listCases } from "./storage-lists.js";
import { writeCases } from "./storage-writes.js";
import { testFunctions } from "./test-functions.js";

export type { StorageCase, StorageUnderTest } from "./storage-case.js";

export interface StorageSuiteOptions {
  /** Cases to leave out: name to reason. The reason is shown beside the name. */
  readonly skip?: Readonly<Record<string, string>>;
}

/** Every case, by the part of the contract that it is about. */
export const storageCases: Readonly<Record<string, readonly StorageCase[]>> = {
  "open, close, tenants": lifecycleCases,
  "units of operations": writeCases,
  "definitions and stamp": definitionCases,
  "lists and counts": listCases,
  "filters": filterCases,
  "the change log": changeCases,
};

/** mocha's context, where the runner has one. */
type Skippable = { skip(): void } | undefined;

let lastTenant = 0;

/**
 * Declares the suite. `makeStorage` gives a storage over empty data, already opened; it is called once for each part of the
 * suite and once for each case that closes its storage. Cases use tenants of their own.
 */
export function storageSuite(name: string, makeStorage: () => Promise<StorageUnderTest>, options: StorageSuiteOptions = {}): void {
  const { describe, it, before, after } = testFunctions();
  describe(name, () => {
    for (const [part, cases] of Object.entries(storageCases)) {
      describe(part, () => {
        let shared: StorageUnderTest | undefined;
        before(async () => {
          shared = await makeStorage();
        });
        after(async () => {
          await shared?.dispose();
        });
        for (const entry of cases) {
          const reason = options.skip?.[entry.name];
          if (reason !== undefined) {
            it(`${entry.name} (left out: ${reason})`, function (this: Skippable) {
              this?.skip();
            });
            continue;
          }
          it(entry.name, async function (this: Skippable): Promise<void> {
            const underTest = entry.alone === true ? await makeStorage() : shared!;
            const others: { close(): Promise<void> }[] = [];
            try {
              const { storage } = underTest;
              const lacks = entry.needs?.some((need) => !storage.capabilities[need] || (need === "shared" && underTest.another === undefined));
              if (lacks === true) return void this?.skip();
              lastTenant += 1;
              const tenantId = `suite-${lastTenant}`;
              await entry.run({
                storage,
                tenantId,
                store: storage.tenant(tenantId),
                another: async () => {
                  const other = await underTest.another!();
                  others.push(other);
                  return other;
                },
              });
            } finally {
              for (const other of others) await other.close();
              if (entry.alone === true) await underTest.dispose();
            }
          });
        }
      });
    }
  });
}

