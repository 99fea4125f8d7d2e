// The tables that every store has beside its collections: their names and indexes, in one place.
import type { Define, IndexDefinition } from "../storage/storage.js";

const text = (...fields: string[]): IndexDefinition => ({ fields: fields.map((field) => ({ field, kind: "text" as const })), unique: false });
const unique = (field: string): IndexDefinition => ({ fields: [{ field, kind: "text" }], unique: true });

/** Instance-wide tables, in the system store. */
export const systemTables = {
  tenants: [unique("slug")],
  /** id: SHA-256 of the key; tells the tenant and the key's id. */
  api_key_index: [],
  /** One row, id `superadmin`. */
  superadmin: [],
  admin_sessions: [],
  /** One row, id `pending`, the hash of the setup token hidden. */
  setup_tokens: [],
  /** Work that only one process may do at a time. */
  leases: [],
  request_log: [],
} as const satisfies Record<string, readonly IndexDefinition[]>;

/** Tables of each tenant, in the tenant's own store. */
export const tenantTables = {
  collections: [unique("name")],
  /** One row, id `settings`. */
  settings: [],
  hooks: [],
  api_keys: [text("userId")],
  refresh_families: [text("userId")],
  /** Pending and dead after-hook deliveries. */
  deliveries: [text("state", "hookId", "dueAt"), text("state", "dueAt"), text("orderKey")],
  hook_log: [],
  request_log: [],
  /** Image variants still to be made. */
  image_jobs: [text("dueAt")],
  /** Mails still to go out. */
  mail_jobs: [text("dueAt")],
} as const satisfies Record<string, readonly IndexDefinition[]>;

/** The operations that make sure of these tables. */
export function defineTables(tables: Record<string, readonly IndexDefinition[]>): Define[] {
  return Object.entries(tables).map(([table, indexes]) => ({ type: "define", table, indexes }));
}
