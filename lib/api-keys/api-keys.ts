// The front door of api-keys/: keys made, listed, bound to addresses, revoked and deleted (contract 7). A key's
// tenant is told by an instance-wide index over its SHA-256; all else is in the tenant's own row.
import { timestamp, type Clock } from "../core/clock.js";
import { NotFound, ValidationFailed } from "../core/errors.js";
import { newId, newSecret, sha256 } from "../core/ids.js";
import type { JsonObject, RecordValue } from "../core/record.js";
import { usersTable } from "../collections/collection.js";
import { all, always, is, text } from "../storage/filter.js";
import { ConditionMissed, type Insert, type Operation, type Row, type Storage } from "../storage/storage.js";
import type { TenantContext } from "../tenants/context.js";
import { keyIndexTable, keysTable, parseKeyChange, parseNewKey, presentKey, type ApiKey } from "./key.js";

/** Changes of keys are logged under this name; uses are not logged. */
export const keyChanges = "$api_keys";

export interface ApiKeys {
  /** Every key of the tenant, oldest first. */
  list(context: TenantContext): Promise<ApiKey[]>;
  /** Throws NotFound. */
  get(context: TenantContext, keyId: string): Promise<ApiKey>;
  /** `{ name, userId, expiresAt?, bypassRules?, bypassHooks?, allowedCidrs? }`. `key` is told here only. Throws ValidationFailed. */
  create(context: TenantContext, input: JsonObject): Promise<ApiKey & { readonly key: string }>;
  /** `{ allowedCidrs }`, nothing else. Throws ValidationFailed, NotFound. */
  update(context: TenantContext, keyId: string, input: JsonObject): Promise<ApiKey>;
  /** The key stops working at once and stays in the list. A second call is harmless. Throws NotFound. */
  revoke(context: TenantContext, keyId: string): Promise<ApiKey>;
  /** The key stops working at once and leaves the list. Throws NotFound. */
  remove(context: TenantContext, keyId: string): Promise<void>;
  /** What revokes the keys of a user that is removed, for the unit that removes him. */
  revokeOperations(context: TenantContext, userId: string): Promise<Operation[]>;
}

export interface ApiKeysDeps {
  readonly storage: Storage;
  readonly clock: Clock;
}

/** More keys than a tenant has. */
const everyKey = 1_000_000;

/** The index row of a key, also for a key that comes from a backup. */
export function keyIndexInsert(hash: string, tenantId: string, keyId: string, now: string): Insert {
  return { type: "insert", table: keyIndexTable, record: { id: hash, createdAt: now, updatedAt: now, tenantId, keyId } };
}

export function createApiKeys({ storage, clock }: ApiKeysDeps): ApiKeys {
  const { system } = storage;

  async function find(context: TenantContext, keyId: string): Promise<Row> {
    const row = await context.store.table(keysTable).find(keyId);
    if (row === undefined) throw new NotFound("No such API key");
    return row;
  }

  /** Writes to the key's row; NotFound where it is gone. */
  async function change(context: TenantContext, operation: Operation): Promise<Row | undefined> {
    try {
      return (await context.store.write({ operations: [operation] })).rows[0];
    } catch (error) {
      if (error instanceof ConditionMissed) throw new NotFound("No such API key");
      throw error;
    }
  }

  return {
    async list(context) {
      return (await context.store.table(keysTable).list({ filter: always, limit: everyKey })).map((row) => presentKey(row.record));
    },

    async get(context, keyId) {
      return presentKey((await find(context, keyId)).record);
    },

    async create(context, input) {
      const wanted = parseNewKey(input);
      const noUser = new ValidationFailed([{ field: "userId", message: "names no user of this tenant" }]);
      if ((await context.store.table(usersTable).find(wanted.userId)) === undefined) throw noUser;
      const key = `pk_${newSecret()}`;
      const hash = sha256(key);
      const now = timestamp(clock);
      const id = newId(clock.now());
      const record = { id, createdAt: now, updatedAt: now, ...wanted, prefix: key.slice(0, 11), lastUsedAt: null, revokedAt: null } satisfies RecordValue;
      // The index first: an entry without a key is refused, a key without an entry could not be found.
      await system.write({ operations: [keyIndexInsert(hash, context.tenant.id, id, now)] });
      try {
        await context.store.write({
          operations: [
            { type: "exists", table: usersTable, id: wanted.userId },
            { type: "insert", table: keysTable, record, hidden: { hash }, log: { collection: keyChanges, content: "id" } },
          ],
        });
      } catch (error) {
        await system.write({ operations: [{ type: "remove", table: keyIndexTable, id: hash, optional: true }] });
        throw error instanceof ConditionMissed ? noUser : error;
      }
      return { ...presentKey(record), key };
    },

    async update(context, keyId, input) {
      const allowedCidrs = parseKeyChange(input);
      const row = await change(context, {
        type: "update", table: keysTable, id: keyId, set: { allowedCidrs, updatedAt: timestamp(clock) }, log: { collection: keyChanges, content: "id" },
      });
      return presentKey((row ?? (await find(context, keyId))).record);
    },

    async revoke(context, keyId) {
      await find(context, keyId);
      await context.store.write({ operations: [revocation(keyId, timestamp(clock))] });
      return presentKey((await find(context, keyId)).record);
    },

    async remove(context, keyId) {
      const row = await find(context, keyId);
      await change(context, { type: "remove", table: keysTable, id: keyId, log: { collection: keyChanges, content: "id" } });
      // Without its row the key is refused already; the index entry is only tidied up.
      await system.write({ operations: [{ type: "remove", table: keyIndexTable, id: String(row.hidden["hash"]), optional: true }] });
    },

    async revokeOperations(context, userId) {
      const rows = await context.store.table(keysTable).list({ filter: all(is(text("userId"), userId), is(text("revokedAt"), null)), limit: everyKey });
      const now = timestamp(clock);
      return rows.map((row) => revocation(row.id, now));
    },
  };
}

/** Marks the key as revoked unless it is already. */
function revocation(keyId: string, now: string): Operation {
  return {
    type: "update", table: keysTable, id: keyId, optional: true, where: is(text("revokedAt"), null),
    set: { revokedAt: now, updatedAt: now }, log: { collection: keyChanges, content: "id" },
  };
}
