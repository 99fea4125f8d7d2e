// Tenants made, changed and removed (contract 2 and 7).
import joi from "joi";
import { timestamp, type Clock } from "../core/clock.js";
import { NotFound, ValidationFailed } from "../core/errors.js";
import { newId } from "../core/ids.js";
import type { RecordValue } from "../core/record.js";
import { defaultSettings, slugPattern, type Tenant } from "../core/tenant.js";
import { always } from "../storage/filter.js";
import { ConditionMissed, UniqueViolation, type Operation, type Storage } from "../storage/storage.js";
import { demandInput } from "../schema/input.js";
import type { TenantRegistry } from "./context.js";
import { defineTables, tenantTables } from "./tables.js";

export interface TenantsDeps {
  readonly storage: Storage;
  readonly registry: TenantRegistry;
  readonly clock: Clock;
  /** What a new tenant starts with: the built-in `users`. */
  readonly initialOperations: (now: string) => readonly Operation[];
  /** Removes the tenant's files. */
  readonly removeFiles: (tenantId: string) => Promise<void>;
  /** Throws away what waits to be logged for the tenant. */
  readonly forget: (tenantId: string) => void;
}

export interface Tenants {
  list(): Promise<Tenant[]>;
  /** Throws NotFound. */
  get(tenantId: string): Promise<Tenant>;
  /** `{ slug, name? }`; the name defaults to the slug. Throws ValidationFailed. */
  create(input: unknown): Promise<Tenant>;
  /** `{ slug?, name? }`. */
  update(tenantId: string, input: unknown): Promise<Tenant>;
  /** Removes everything of the tenant: records, users, keys, hooks, logs and files. */
  remove(tenantId: string): Promise<void>;
}

const slug = joi.string().pattern(slugPattern).messages({
  "string.pattern.base": "must be 1 to 63 lower-case letters, digits and dashes, and start and end with a letter or a digit",
});
const name = joi.string().trim().min(1).max(200).pattern(/^[^\p{Cc}\p{Cs}]*$/u).messages({ "string.pattern.base": "must have no control characters and no half of a surrogate pair" });
const createSchema = joi.object({ slug: slug.required(), name });
const updateSchema = joi.object({ slug, name });
const slugTaken = new ValidationFailed([{ field: "slug", message: "is taken by another tenant" }]);

export function createTenants({ storage, registry, clock, initialOperations, removeFiles, forget }: TenantsDeps): Tenants {
  const { system } = storage;

  async function get(tenantId: string): Promise<Tenant> {
    return (await registry.get(tenantId)).tenant;
  }

  return {
    list: () => registry.list(),
    get,

    async create(input) {
      const wanted = demandInput<{ slug: string; name?: string }>(createSchema, input);
      if ((await registry.bySlug(wanted.slug)) !== undefined) throw slugTaken;
      const now = timestamp(clock);
      const id = newId(clock.now());
      const tenant: Tenant = { id, slug: wanted.slug, name: wanted.name ?? wanted.slug, createdAt: now, updatedAt: now };
      // The tenant's own store first: a tenant that can be found is whole.
      await storage.tenant(id).write({
        bump: true,
        operations: [
          ...defineTables(tenantTables),
          { type: "insert", table: "settings", record: { id: "settings", createdAt: now, updatedAt: now, ...defaultSettings } as unknown as RecordValue },
          ...initialOperations(now),
        ],
      });
      try {
        await system.write({ operations: [{ type: "insert", table: "tenants", record: tenant as unknown as RecordValue }], bump: true });
      } catch (error) {
        await storage.dropTenant(id);
        throw error instanceof UniqueViolation ? slugTaken : error;
      }
      return tenant;
    },

    async update(tenantId, input) {
      const wanted = demandInput<{ slug?: string; name?: string }>(updateSchema, input);
      const tenant = await get(tenantId);
      if (Object.keys(wanted).length === 0) return tenant;
      try {
        const { rows } = await system.write({
          bump: true,
          operations: [{ type: "update", table: "tenants", id: tenantId, set: { ...wanted, updatedAt: timestamp(clock) } }],
        });
        return rows[0]!.record as unknown as Tenant;
      } catch (error) {
        // Removed between the look and the write.
        if (error instanceof ConditionMissed) throw new NotFound("Unknown tenant");
        throw error instanceof UniqueViolation ? slugTaken : error;
      }
    },

    async remove(tenantId) {
      await get(tenantId);
      const store = storage.tenant(tenantId);
      const keys = await store.table("api_keys").list({ filter: always, limit: 1_000_000 });
      await system.write({
        bump: true,
        operations: [
          { type: "remove", table: "tenants", id: tenantId, optional: true, log: { collection: "$tenants", content: "id" } },
          ...keys.map((row) => ({ type: "remove" as const, table: "api_key_index", id: String(row.hidden["hash"]), optional: true })),
        ],
      });
      forget(tenantId);
      // From here on nobody finds the tenant; what follows only frees space.
      await storage.dropTenant(tenantId);
      await removeFiles(tenantId);
    },
  };
}

