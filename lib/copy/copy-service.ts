// Moves a whole service from one storage to another, either way: every tenant, the instance's own tables, every file.
// It may be interrupted and begun again: what is there already and the same is left as it is.
import { createHash } from "node:crypto";
import type { BlobStore } from "../blobs/blobs.js";
import { tableOf } from "../collections/compile.js";
import { Conflict, NotFound } from "../core/errors.js";
import type { CollectionDefinition } from "../schema/collection.js";
import { indexDefinitions } from "../schema/fields.js";
import { always, text, type Filter } from "../storage/filter.js";
import type { Insert, Operation, Row, Storage, Store } from "../storage/storage.js";
import { defineTables, systemTables, tenantTables } from "../tenants/tables.js";
import { copyFiles } from "./copy-files.js";

export interface CopyPlace {
  /** Opened by the caller, and closed by him. */
  readonly storage: Storage;
  readonly blobs: BlobStore;
}

export interface CopyProgress {
  readonly step: "records" | "files" | "verify";
  /** What is being copied: a tenant's slug, or `instance`. */
  readonly of: string;
  /** Rows or files done, of all. */
  readonly done: number;
  /** Rows or files there are; 0 where that is not known beforehand. */
  readonly total: number;
}

export interface CopyOptions {
  readonly from: CopyPlace;
  readonly to: CopyPlace;
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined;
  /** Interrupts between two pages; a later call goes on. */
  readonly signal?: AbortSignal | undefined;
}

export interface CopyReport {
  readonly tenants: number;
  readonly rows: number;
  readonly files: number;
  /** Bytes of the files. */
  readonly bytes: number;
}

/** Rows of a page; and as many operations of a unit at most. */
const pageSize = 500;
/** Bytes of text in one unit. */
const unitSize = 4 * 1024 * 1024;
/** Leases belong to processes, and nobody holds one of a service that stands still. */
const leftOut: ReadonlySet<string> = new Set(["leases"]);

/**
 * Copies everything, then compares counts and checksums. Neither side may be in use meanwhile. The history of changes
 * stays behind, and revisions (ETags) begin anew. Throws Conflict where the target has tenants that the source has not,
 * or where something differs at the end; NotFound where the source holds nothing; the signal's reason where it is interrupted.
 */
export async function copyService({ from, to, onProgress = () => undefined, signal }: CopyOptions): Promise<CopyReport> {
  const tenants = await allRows(from.storage.system, "tenants");
  if (tenants.length === 0 && !(await isInUse(from.storage.system))) throw new NotFound("There is nothing to copy: no service has ever run on the source. Is its name right?");
  await to.storage.system.write({ operations: defineTables(systemTables) });
  const known = new Set(tenants.map(({ id }) => id));
  const foreign = (await allRows(to.storage.system, "tenants")).filter(({ id }) => !known.has(id));
  if (foreign.length > 0) throw new Conflict(`The target has tenants of its own (${foreign.map(({ record }) => String(record["slug"])).join(", ")}): give an empty one`);

  const places: { readonly name: string; readonly source: Store; readonly target: Store; readonly tables: readonly string[] }[] = [];
  for (const tenant of tenants) {
    const source = from.storage.tenant(tenant.id);
    const target = to.storage.tenant(tenant.id);
    const definitions = (await allRows(source, "collections")).map(({ record }) => record as unknown as CollectionDefinition);
    const collections = definitions.map((definition): Operation => ({ type: "define", table: tableOf(definition), indexes: indexDefinitions(definition) }));
    await target.write({ bump: true, operations: [...defineTables(tenantTables), ...collections] });
    places.push({ name: String(tenant.record["slug"]), source, target, tables: [...definitions.map(tableOf), ...Object.keys(tenantTables)] });
  }
  // The instance's own tables come last: only with them does the target know its tenants.
  places.push({ name: "instance", source: from.storage.system, target: to.storage.system, tables: [...Object.keys(systemTables).filter((name) => name !== "tenants"), "tenants"] });

  let total = 0;
  for (const { source, tables } of places) for (const table of tables) if (!leftOut.has(table)) total += await source.table(table).count(always);
  let rows = 0;
  let files = { files: 0, bytes: 0 };
  for (const { name, source, target, tables } of places) {
    if (name === "instance") files = await copyFiles(from.blobs, to.blobs, onProgress, signal);
    for (const table of tables) {
      if (leftOut.has(table)) continue;
      await copyTable(source, target, table, signal, (count) => {
        rows += count;
        onProgress({ step: "records", of: name, done: rows, total });
      });
    }
    await target.write({ bump: true, operations: [] });
  }

  let verified = 0;
  for (const { name, source, target, tables } of places) {
    for (const table of tables) {
      if (leftOut.has(table)) continue;
      const [before, after] = [await checksum(source, table, signal), await checksum(target, table, signal)];
      if (before.count !== after.count || before.digest !== after.digest) {
        throw new Conflict(`${name}: the table ${table} differs (${before.count} rows, ${after.count} in the target): was the source in use? Copy again`);
      }
      verified += before.count;
      onProgress({ step: "verify", of: name, done: verified, total });
    }
  }
  return { tenants: tenants.length, rows, ...files };
}

/** Whether a service has ever run on it: the first start leaves a setup token, its end a superadmin. */
async function isInUse(system: Store): Promise<boolean> {
  for (const table of Object.keys(systemTables)) if (!leftOut.has(table) && (await system.table(table).count(always)) > 0) return true;
  return false;
}

/** Makes the target's table the same as the source's, page by page in the order of ids. */
async function copyTable(source: Store, target: Store, table: string, signal: AbortSignal | undefined, tell: (count: number) => void): Promise<void> {
  let after: string | undefined;
  for (;;) {
    signal?.throwIfAborted();
    const page = await listAfter(source, table, always, after, pageSize);
    const last = page.length < pageSize ? undefined : page.at(-1)!.id;
    const upTo: Filter = last === undefined ? always : { op: "less", left: text("id"), right: { value: last }, orEqual: true };
    const present = new Map((await rowsBetween(target, table, upTo, after)).map((row) => [row.id, row]));
    const removals: Operation[] = [];
    const inserts: { readonly operation: Insert; readonly size: number }[] = [];
    for (const row of page) {
      const other = present.get(row.id);
      present.delete(row.id);
      if (other !== undefined && fingerprint(other) === fingerprint(row)) continue;
      if (other !== undefined) removals.push({ type: "remove", table, id: row.id });
      inserts.push({ operation: { type: "insert", table, record: row.record, hidden: row.hidden }, size: row.text.length });
    }
    for (const id of present.keys()) removals.push({ type: "remove", table, id });
    for (let start = 0; start < removals.length; start += pageSize) await target.write({ operations: removals.slice(start, start + pageSize) });
    let unit: Operation[] = [];
    let size = 0;
    for (const insert of inserts) {
      if (unit.length > 0 && size + insert.size > unitSize) {
        await target.write({ operations: unit });
        unit = [];
        size = 0;
      }
      unit.push(insert.operation);
      size += insert.size;
    }
    if (unit.length > 0) await target.write({ operations: unit });
    tell(page.length);
    if (last === undefined) return;
    after = last;
  }
}

async function rowsBetween(store: Store, table: string, filter: Filter, after: string | undefined): Promise<Row[]> {
  const rows: Row[] = [];
  for (;;) {
    const page = await listAfter(store, table, filter, rows.at(-1)?.id ?? after, pageSize);
    rows.push(...page);
    if (page.length < pageSize) return rows;
  }
}

function listAfter(store: Store, table: string, filter: Filter, after: string | undefined, limit: number): Promise<Row[]> {
  return store.table(table).list({ filter, limit, ...(after === undefined ? {} : { after: { value: null, id: after } }) });
}

async function allRows(store: Store, table: string): Promise<Row[]> {
  return rowsBetween(store, table, always, undefined);
}

async function checksum(store: Store, table: string, signal: AbortSignal | undefined): Promise<{ count: number; digest: string }> {
  const hash = createHash("sha256");
  let count = 0;
  let after: string | undefined;
  for (;;) {
    signal?.throwIfAborted();
    const page = await listAfter(store, table, always, after, pageSize);
    for (const row of page) hash.update(fingerprint(row)).update("\n");
    count += page.length;
    after = page.at(-1)?.id;
    if (page.length < pageSize) return { count, digest: hash.digest("hex") };
  }
}

/** The row as text, the same in every engine. */
function fingerprint(row: Row): string {
  const hidden = Object.entries(row.hidden).filter(([, value]) => value !== null).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${JSON.stringify(row.record)} ${JSON.stringify(hidden)}`;
}
