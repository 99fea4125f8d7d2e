// The tenants, and the collections of the one that is looked at: loaded once, shared by the sidebar and the screens.
import { signal } from "./signal.js";
import { ApiError } from "../api/http.js";
import { manage } from "../api/service.js";
import type { CollectionDefinition, Tenant } from "../api/types.js";

export const tenants = signal<readonly Tenant[] | null>(null);
export const tenantsError = signal<ApiError | null>(null);

export interface Catalog {
  readonly tenantId: string;
  readonly items: readonly CollectionDefinition[];
}
export const catalog = signal<Catalog | null>(null);
export const catalogError = signal<ApiError | null>(null);

const asError = (error: unknown) => (error instanceof ApiError ? error : new ApiError(0, String(error)));

export async function loadTenants(): Promise<void> {
  try {
    tenants.value = await manage.tenants();
    tenantsError.value = null;
  } catch (error) {
    tenantsError.value = asError(error);
  }
}

/** Loads the collections of a tenant; the former ones go at once where the tenant is another. */
export async function loadCatalog(tenant: Tenant): Promise<void> {
  if (catalog.value?.tenantId !== tenant.id) catalog.value = null;
  wanted = tenant.id;
  try {
    const items = await manage.collections(tenant);
    if (wanted !== tenant.id) return;
    catalog.value = { tenantId: tenant.id, items: [...items].sort((left, right) => Number(left.system) - Number(right.system) || left.name.localeCompare(right.name)) };
    catalogError.value = null;
  } catch (error) {
    if (wanted === tenant.id) catalogError.value = asError(error);
  }
}
let wanted = "";

/** Puts a changed or new definition in its place. */
export function keepCollection(definition: CollectionDefinition): void {
  const now = catalog.value;
  if (now === null) return;
  const items = now.items.filter((item) => item.id !== definition.id);
  catalog.value = { ...now, items: [...items, definition].sort((left, right) => Number(left.system) - Number(right.system) || left.name.localeCompare(right.name)) };
}
