// Looking accounts up. An inactive one is not found, wherever a client could notice.
import { usersTable } from "../collections/collection.js";
import { is, text } from "../storage/filter.js";
import type { Hidden, Row } from "../storage/storage.js";
import type { TenantContext } from "../tenants/context.js";

export function isActive(row: Row): boolean {
  return row.hidden["active"] !== false;
}

/** The number that every token of the account must carry. */
export function generationOf(hidden: Hidden): number {
  const generation = hidden["generation"];
  return typeof generation === "number" ? generation : 0;
}

/** The active account with this id. */
export async function findActive(context: TenantContext, userId: string): Promise<Row | undefined> {
  const row = await context.store.table(usersTable).find(userId);
  return row !== undefined && isActive(row) ? row : undefined;
}

/** The active account with exactly this username. */
export async function findByUsername(context: TenantContext, username: unknown): Promise<Row | undefined> {
  if (typeof username !== "string" || username === "") return undefined;
  const [row] = await context.store.table(usersTable).list({ filter: is(text("username"), username), limit: 1 });
  return row !== undefined && isActive(row) ? row : undefined;
}
