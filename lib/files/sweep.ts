// Removes what crashes leave behind: blobs that no record holds, and unfinished writes. Never a file that a record
// holds, and nothing young, for that may be an upload whose record is about to be written.
import { fileReferences } from "../core/record.js";
import type { BlobStore } from "../blobs/blobs.js";
import type { Clock } from "../core/clock.js";
import type { Storage } from "../storage/storage.js";
import type { TenantContext, TenantRegistry } from "../tenants/context.js";
import { parseKey, type ParsedKey } from "./keys.js";
import { takeLease } from "./lease.js";

/** Milliseconds for which nothing is removed after it was written. */
export const graceAge = 3_600_000;
/** Milliseconds; renewed well before it ends. */
const leaseDuration = 60_000;
const renewEvery = 15_000;

export interface SweepDeps {
  readonly blobs: BlobStore;
  readonly storage: Pick<Storage, "system">;
  readonly tenants: Pick<TenantRegistry, "byId">;
  readonly clock: Clock;
  /** Whether to stop early. */
  isClosing(): boolean;
}

/** Sweeps once. Gives the number of blobs removed; undefined where another process is at it. */
export async function sweepFiles(deps: SweepDeps): Promise<number | undefined> {
  const { blobs, storage, clock, isClosing } = deps;
  const lease = await takeLease(storage.system, clock, "sweep-files", leaseDuration);
  if (lease === undefined) return undefined;
  let removed = 0;
  let renewedAt = Date.now();
  try {
    await blobs.sweep(graceAge);
    const isOrphan = orphanTest(deps);
    for await (const { key, modifiedAt } of blobs.list("")) {
      if (isClosing()) break;
      if (Date.now() - renewedAt > renewEvery) {
        if (!(await lease.renew())) break;
        renewedAt = Date.now();
      }
      if (clock.now() - modifiedAt <= graceAge) continue;
      const parsed = parseKey(key);
      // A key that is none of ours is none of our business.
      if (parsed === undefined || !(await isOrphan(parsed))) continue;
      await blobs.remove(key);
      removed += 1;
    }
  } finally {
    await lease.release();
  }
  return removed;
}

/** Whether no record holds the file. Remembers the last tenant and record asked for, as keys come in order mostly. */
function orphanTest({ tenants }: SweepDeps): (key: ParsedKey) => Promise<boolean> {
  let tenant: { readonly id: string; readonly context: TenantContext | undefined } | undefined;
  let record: { readonly name: string; readonly files: ReadonlySet<string> } | undefined;

  return async ({ tenantId, collectionId, recordId, fileId }) => {
    if (tenant?.id !== tenantId) tenant = { id: tenantId, context: await tenants.byId(tenantId) };
    const name = `${tenantId}/${collectionId}/${recordId}`;
    if (record?.name !== name) record = { name, files: await heldFiles(tenant.context, collectionId, recordId) };
    return !record.files.has(fileId);
  };
}

async function heldFiles(context: TenantContext | undefined, collectionId: string, recordId: string): Promise<ReadonlySet<string>> {
  if (context === undefined) return new Set();
  const collection = [...context.collections.values()].find((one) => one.definition.id === collectionId);
  if (collection === undefined || collection.files.length === 0) return new Set();
  const row = await context.store.table(collection.table).find(recordId);
  return new Set(collection.files.flatMap((field) => fileReferences(row?.record[field.name]).map((file) => file.id)));
}
