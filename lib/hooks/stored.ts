// A hook as it is stored, and as it is shown: secret and header values stay in hidden columns.
import type { Json, RecordValue } from "../core/record.js";
import type { Hidden, Row, Store } from "../storage/storage.js";
import { always } from "../storage/filter.js";
import type { HookDefinition, HookEvent } from "./definition.js";
import { loadClient } from "./deliver.js";
import { indexHooks, type HookIndex } from "./index-hooks.js";

/** The table of hooks in a tenant's store. */
export const hooksTable = "hooks";

/** What stands for a header's value that is kept. */
export const concealed = "***";

/** A hook as the API shows it (contract 7). */
export interface HookView extends Omit<HookDefinition, "secret" | "createdAt" | "updatedAt"> {
  /** null, but for the answer to a creation that generated it. */
  readonly secret: string | null;
}

/** Every hook of the tenant, in the order of creation. */
export async function readHooks(store: Store): Promise<HookDefinition[]> {
  const hooks: HookDefinition[] = [];
  for (let after: string | undefined; ;) {
    const rows = await store.table(hooksTable).list({ filter: always, limit: 500, ...(after === undefined ? {} : { after: { value: null, id: after } }) });
    hooks.push(...rows.map(readHook));
    after = rows.at(-1)?.id;
    if (rows.length < 500 || after === undefined) return hooks;
  }
}

export function readHook(row: Row): HookDefinition {
  const { record, hidden } = row;
  return {
    id: row.id,
    collection: record["collection"] as string | null,
    event: record["event"] as HookEvent,
    url: record["url"] as string,
    method: record["method"] as string,
    timeoutMs: record["timeoutMs"] as number,
    secret: typeof hidden["secret"] === "string" ? hidden["secret"] : "",
    priority: record["priority"] as number,
    enabled: record["enabled"] as boolean,
    includeSchema: record["includeSchema"] as boolean,
    forwardHeaders: record["forwardHeaders"] as string,
    failOpen: record["failOpen"] as boolean,
    headers: typeof hidden["headers"] === "string" ? (JSON.parse(hidden["headers"]) as Record<string, string>) : {},
    match: record["match"] as HookDefinition["match"],
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
  };
}

/** The public document and the hidden columns of a hook's row. */
export function writeHook(hook: HookDefinition): { record: RecordValue; hidden: Hidden } {
  const { secret, headers, ...record } = hook;
  return { record: record as unknown as RecordValue & Record<string, Json>, hidden: { secret, headers: JSON.stringify(headers) } };
}

/** The look-up over the rows of the hooks' table, for a tenant's context. */
export function indexHookRows(rows: readonly Row[]): HookIndex {
  // So that the first delivery does not have to wait for it.
  if (rows.length > 0) void loadClient().catch(() => undefined);
  return indexHooks(rows.map(readHook));
}

export function presentHook(hook: HookDefinition): HookView {
  const { createdAt: _createdAt, updatedAt: _updatedAt, ...shown } = hook;
  return { ...shown, secret: null, headers: Object.fromEntries(Object.keys(hook.headers).map((name) => [name, concealed])) };
}
