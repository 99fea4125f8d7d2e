// API keys out of an archive. A key belongs to one tenant: one that still works elsewhere comes back revoked.
import { timestamp, type Clock } from "../core/clock.js";
import { BadRequest } from "../core/errors.js";
import type { Insert, Operation, Storage } from "../storage/storage.js";
import type { TenantContext, TenantRegistry } from "../tenants/context.js";
import { paths, type KeyLine } from "./format.js";

export interface RestoreKeysDeps {
  readonly storage: Storage;
  readonly tenants: TenantRegistry;
  readonly clock: Clock;
  /** The row that tells a key's tenant by its hash. */
  readonly keyIndexInsert: (hash: string, tenantId: string, keyId: string, now: string) => Insert;
}

export interface RestoredKeys {
  /** For the tenant's own store. */
  readonly operations: readonly Insert[];
  /** For the instance's, to be written first. */
  readonly index: readonly Operation[];
  readonly warnings: readonly string[];
  /** Takes the instance's part away again. */
  undo(): Promise<void>;
}

/** Throws BadRequest where a key belongs to no account of the archive. */
export async function restoreKeys(deps: RestoreKeysDeps, context: TenantContext, keys: readonly KeyLine[], userIds: ReadonlySet<string>): Promise<RestoredKeys> {
  const { storage, clock, keyIndexInsert } = deps;
  const now = timestamp(clock);
  const operations: Insert[] = [];
  const index: Operation[] = [];
  const warnings: string[] = [];
  const taken: string[] = [];
  for (const { record, hash } of keys) {
    const { id, name, prefix, userId, revokedAt } = record as KeyLine["record"] & { readonly userId: string };
    // A user that was removed has left his keys behind, revoked.
    if (!userIds.has(userId) && revokedAt === null) throw new BadRequest(`${paths.apiKeys} holds the key ${id} of an account that is not in the archive`);
    const former = await storage.system.table("api_key_index").find(hash);
    const inUse = former !== undefined && (await isThere(deps, String(former.record["tenantId"]), String(former.record["keyId"]), hash));
    if (!inUse) {
      if (former !== undefined) index.push({ type: "remove", table: "api_key_index", id: hash, optional: true });
      index.push(keyIndexInsert(hash, context.tenant.id, id, now));
      taken.push(hash);
    } else if (revokedAt === null) {
      warnings.push(`The API key ${String(name)} (${String(prefix)}…) is revoked: it works in the tenant that the backup was made of`);
    }
    operations.push({ type: "insert", table: "api_keys", record: inUse ? { ...record, revokedAt: record["revokedAt"] ?? now } : record, hidden: { hash } });
  }
  return {
    operations, index, warnings,
    async undo() {
      if (taken.length > 0) await storage.system.write({ operations: taken.map((id) => ({ type: "remove" as const, table: "api_key_index", id, optional: true })) });
    },
  };
}

/** Whether the key that an index row names is still there. */
async function isThere({ tenants }: RestoreKeysDeps, tenantId: string, keyId: string, hash: string): Promise<boolean> {
  const row = await (await tenants.byId(tenantId))?.store.table("api_keys").find(keyId);
  return row !== undefined && row.hidden["hash"] === hash;
}
