// TenantContext: a tenant's definitions as they are now, compiled once and kept until the store's stamp changes.
import type { Settings, Tenant } from "../core/tenant.js";
import type { Store } from "../storage/storage.js";
import type { Collection } from "../collections/collection.js";
import type { HookDefinition } from "../hooks/definition.js";

export interface TenantContext {
  readonly tenant: Tenant;
  readonly store: Store;
  /** The stamp that these definitions were read under; record writes carry it as `Unit.stamp`. */
  readonly stamp: string;
  /** By name. */
  readonly collections: ReadonlyMap<string, Collection>;
  readonly settings: Settings;
  /** Enabled hooks of one event and collection (null for beforeRequest), in priority order; empty where there is none. */
  hooks(event: string, collection: string | null): readonly HookDefinition[];
}

/** Gives contexts; revalidated on each use, so a change by any process counts from the next request. */
export interface TenantRegistry {
  /** undefined where there is no such tenant. */
  byId(tenantId: string): Promise<TenantContext | undefined>;
  bySlug(slug: string): Promise<TenantContext | undefined>;
  /** Throws NotFound("Unknown tenant"). */
  get(tenantId: string): Promise<TenantContext>;
  /** Every tenant, oldest first. */
  list(): Promise<Tenant[]>;
}
