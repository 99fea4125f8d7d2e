// The registry of tenants and their compiled definitions, kept in memory and revalidated by the stores' stamps.
import { NotFound } from "../core/errors.js";
import { defaultSettings, type Settings, type Tenant } from "../core/tenant.js";
import { always, is, text } from "../storage/filter.js";
import type { Row, Storage, Store } from "../storage/storage.js";
import type { TenantContext, TenantRegistry } from "./context.js";

/** More than any tenant has; a list of definitions is read whole. */
const all = 100_000;
/** Contexts kept in memory; the one used longest ago goes first. */
const maxContexts = 2_000;

export interface RegistryDeps {
  readonly storage: Storage;
  /** Compiles a tenant's collections together, since rules read the fields of `users`. */
  readonly compileCollections: (rows: readonly Row[]) => TenantContext["collections"];
  /** Prepares the look-up of hooks by event and collection. */
  readonly indexHooks: (rows: readonly Row[]) => TenantContext["hooks"];
}

/** Reads everything through the stamps, so that what another process changed counts from the next request. */
export function createTenantRegistry({ storage, compileCollections, indexHooks }: RegistryDeps): TenantRegistry {
  let systemStamp = "";
  const tenants = new Map<string, Tenant>();
  const idsBySlug = new Map<string, string>();
  const contexts = new Map<string, TenantContext>();
  const loading = new Map<string, Promise<TenantContext>>();

  async function refreshSystem(): Promise<void> {
    const stamp = await storage.system.stamp();
    if (stamp === systemStamp && tenants.size < 50_000) return;
    systemStamp = stamp;
    tenants.clear();
    idsBySlug.clear();
  }

  function remember(row: Row): Tenant {
    const tenant = toTenant(row);
    tenants.set(tenant.id, tenant);
    idsBySlug.set(tenant.slug, tenant.id);
    return tenant;
  }

  async function find(tenantId: string): Promise<Tenant | undefined> {
    await refreshSystem();
    const known = tenants.get(tenantId);
    if (known !== undefined) return known;
    const row = await storage.system.table("tenants").find(tenantId);
    return row === undefined ? undefined : remember(row);
  }

  async function findBySlug(slug: string): Promise<Tenant | undefined> {
    await refreshSystem();
    const id = idsBySlug.get(slug);
    if (id !== undefined) return tenants.get(id);
    const [row] = await storage.system.table("tenants").list({ filter: is(text("slug"), slug), limit: 1 });
    return row === undefined ? undefined : remember(row);
  }

  async function contextOf(tenant: Tenant): Promise<TenantContext> {
    const known = contexts.get(tenant.id);
    const store = known?.store ?? storage.tenant(tenant.id);
    const stamp = await store.stamp();
    if (known !== undefined && known.stamp === stamp && known.tenant === tenant) return known;
    let pending = loading.get(tenant.id);
    if (pending === undefined) {
      pending = load(tenant, store).finally(() => loading.delete(tenant.id));
      loading.set(tenant.id, pending);
    }
    const context = await pending;
    // Another change may have come while this one was read by somebody else's request.
    return context.stamp === stamp || context.stamp === (await store.stamp()) ? context : await load(tenant, store);
  }

  async function load(tenant: Tenant, store: Store): Promise<TenantContext> {
    // The stamp first: a change that comes while the rows are read is seen as a newer stamp next time.
    const stamp = await store.stamp();
    const [collections, settings, hooks] = await Promise.all([
      store.table("collections").list({ filter: always, limit: all }),
      store.table("settings").find("settings"),
      store.table("hooks").list({ filter: always, limit: all }),
    ]);
    const context: TenantContext = {
      tenant,
      store,
      stamp,
      collections: compileCollections(collections),
      settings: toSettings(settings),
      hooks: indexHooks(hooks),
    };
    contexts.delete(tenant.id);
    contexts.set(tenant.id, context);
    if (contexts.size > maxContexts) contexts.delete(contexts.keys().next().value!);
    return context;
  }

  async function byId(tenantId: string): Promise<TenantContext | undefined> {
    const tenant = await find(tenantId);
    return tenant === undefined ? undefined : await contextOf(tenant);
  }

  return {
    byId,
    async bySlug(slug) {
      const tenant = await findBySlug(slug);
      return tenant === undefined ? undefined : await contextOf(tenant);
    },
    async get(tenantId) {
      const context = await byId(tenantId);
      if (context === undefined) throw new NotFound("Unknown tenant");
      return context;
    },
    async list() {
      const rows = await storage.system.table("tenants").list({ filter: always, limit: 1_000_000 });
      return rows.map(toTenant);
    },
  };
}

export function toTenant(row: Row): Tenant {
  return row.record as unknown as Tenant;
}

/** Settings as stored, with the defaults for members that are newer than the row. */
export function toSettings(row: Row | undefined): Settings {
  if (row === undefined) return defaultSettings;
  const { id: _id, createdAt: _createdAt, updatedAt: _updatedAt, ...settings } = row.record;
  return { ...defaultSettings, ...(settings as unknown as Partial<Settings>) };
}
