// Restores an archive into an empty tenant, whole or not at all: records and files are put where nobody looks yet, and
// one last unit brings everything into sight. What fails before is taken away again.
import type { BlobStore } from "../blobs/blobs.js";
import type { Collection } from "../collections/collection.js";
import { timestamp, type Clock } from "../core/clock.js";
import { BadRequest, Conflict, ServiceError } from "../core/errors.js";
import { fileReferences, type FileReference, type Json, type RecordValue } from "../core/record.js";
import type { Files, PendingFile } from "../files/files.js";
import { always } from "../storage/filter.js";
import { indexDefinitions } from "../schema/fields.js";
import { ConditionMissed, StampChanged, UniqueViolation, type Insert, type Operation, type Storage } from "../storage/storage.js";
import type { TenantContext, TenantRegistry } from "../tenants/context.js";
import { paths, type RecordLine } from "./format.js";
import { readArchive, type Archive, type ReadArchiveDeps } from "./read-archive.js";
import { restoreHooks, type RestoreHooksDeps } from "./restore-hooks.js";
import { restoreKeys, type RestoreKeysDeps } from "./restore-keys.js";
import type { ZipReader } from "./zip-reader.js";

export interface RestoreBackupDeps extends ReadArchiveDeps, RestoreHooksDeps, RestoreKeysDeps {
  readonly storage: Storage;
  readonly tenants: TenantRegistry;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly files: Pick<Files, "variantJobs" | "committed">;
  readonly fileKey: (tenantId: string, collectionId: string, recordId: string, fileId: string) => string;
  readonly variantKey: (key: string, width: number) => string;
}

export interface RestoreReport {
  readonly collections: number;
  /** Those of `users` left out. */
  readonly records: number;
  readonly users: number;
  /** Image variants left out. */
  readonly files: number;
  readonly hooks: number;
  readonly apiKeys: number;
  /** What could not come back as it was, in words. */
  readonly warnings: readonly string[];
}

interface Work {
  readonly deps: RestoreBackupDeps;
  readonly zip: ZipReader;
  readonly archive: Archive;
  readonly context: TenantContext;
  readonly onProgress: (step: "records" | "files", done: number) => void;
  /** Operations of the last unit. */
  readonly last: Operation[];
  records: number;
  users: number;
  files: number;
  readonly userIds: Set<string>;
  /** Records with image variants that are still to be made. */
  readonly toScale: { readonly collection: Collection; readonly recordId: string }[];
}

/** Throws Conflict where the tenant is not empty, BadRequest where the archive cannot be restored; then nothing is left of it. */
export async function restoreBackup(deps: RestoreBackupDeps, context: TenantContext, zip: ZipReader, onProgress: Work["onProgress"]): Promise<RestoreReport> {
  await demandEmpty(context);
  const archive = await readArchive(deps, zip);
  const work: Work = { deps, zip, archive, context, onProgress, last: [], records: 0, users: 0, files: 0, userIds: new Set(), toScale: [] };
  const undo: (() => Promise<unknown>)[] = [];
  try {
    for (const collection of archive.collections.values()) {
      undo.push(() => deps.blobs.removeAll(`${context.tenant.id}/${collection.definition.id}`));
      if (!collection.isUsers) undo.push(() => context.store.write({ operations: [{ type: "drop", table: collection.table }] }));
      await restoreCollection(work, collection);
    }
    const hooks = restoreHooks(deps, archive);
    const keys = await restoreKeys(deps, context, archive.keys, work.userIds);
    undo.push(keys.undo);
    await deps.storage.system.write({ operations: keys.index });
    await writeLast(work, [...hooks.operations, ...keys.operations]);
    for (const { collection, recordId } of work.toScale) deps.files.committed(context, collection, recordId, []);
    const lost = archive.manifest.missing.map((path) => `${path} was lost before the backup was made`);
    return {
      collections: archive.collections.size, records: work.records, users: work.users, files: work.files,
      hooks: hooks.operations.length, apiKeys: keys.operations.length, warnings: [...hooks.warnings, ...keys.warnings, ...lost],
    };
  } catch (error) {
    // What cannot be taken away now is in nobody's sight either.
    for (const step of undo.reverse()) await step().catch(() => undefined);
    throw meaningOf(error);
  }
}

async function demandEmpty({ store, collections }: TenantContext): Promise<void> {
  const tables = [...[...collections.values()].filter(({ isUsers }) => isUsers).map(({ table }) => table), "hooks", "api_keys"];
  const counts = await Promise.all(tables.map((table) => store.table(table).count(always)));
  if (collections.size > 1 || counts.some((count) => count > 0)) throw new Conflict("The tenant is not empty: make a new one to restore into");
}

async function restoreCollection(work: Work, collection: Collection): Promise<void> {
  const { archive, context, last, onProgress } = work;
  const { table, definition, isUsers } = collection;
  const prepare: Operation[] = [{ type: "drop", table }, { type: "define", table, indexes: indexDefinitions(definition) }];
  if (!isUsers) await context.store.write({ operations: prepare });
  for await (const page of archive.records(collection)) {
    for (const line of page) await restoreFiles(work, collection, line.record);
    const inserts = page.map((line) => insertOf(table, line));
    if (isUsers) {
      // Accounts are in sight at once: they come with everything else in the last unit.
      last.push(...inserts);
      for (const { record } of page) work.userIds.add(record.id);
      work.users += page.length;
    } else {
      if (inserts.length > 0) await write(context, collection, inserts);
      work.records += page.length;
    }
    onProgress("records", work.records + work.users);
  }
}

function insertOf(table: string, { record, hidden }: RecordLine): Insert {
  return { type: "insert", table, record, ...(hidden === undefined ? {} : { hidden }) };
}

async function write({ store }: TenantContext, { name }: Collection, operations: readonly Operation[]): Promise<void> {
  try {
    await store.write({ operations });
  } catch (error) {
    throw error instanceof UniqueViolation ? new BadRequest(`The archive holds records of ${name} with the same ${error.fields.join(", ")}, which must be unique`) : error;
  }
}

async function restoreFiles(work: Work, collection: Collection, record: RecordValue): Promise<void> {
  const { deps, archive, context, last, onProgress } = work;
  const jobs: PendingFile[] = [];
  for (const field of collection.files) {
    for (const reference of fileReferences(record[field.name])) {
      const key = deps.fileKey(context.tenant.id, collection.definition.id, record.id, reference.id);
      const path = paths.file(collection.definition.id, record.id, reference.id);
      if (!(await restoreFile(work, path, key, reference))) continue;
      work.files += 1;
      onProgress("files", work.files);
      const widths = (reference.variants ?? []).filter((width) => archive.manifest.entries[paths.variant(path, width)] === undefined);
      for (const width of reference.variants ?? []) if (!widths.includes(width)) await copy(work, paths.variant(path, width), deps.variantKey(key, width));
      if (widths.length > 0) jobs.push({ field: field.name, reference: { ...reference, variants: widths }, key });
    }
  }
  if (jobs.length === 0) return;
  last.push(...deps.files.variantJobs(context, collection, record.id, jobs));
  work.toScale.push({ collection, recordId: record.id });
}

/** Whether the file's bytes are there; those lost before the backup are not. */
async function restoreFile(work: Work, path: string, key: string, { size }: FileReference): Promise<boolean> {
  const { manifest } = work.archive;
  const entry = manifest.entries[path];
  if (entry === undefined) {
    if (manifest.missing.includes(path)) return false;
    throw new BadRequest(`The archive lacks ${path}, which a record names`);
  }
  if (entry.size !== size) throw new BadRequest(`${path} has ${entry.size} bytes, and its record says ${size}`);
  await copy(work, path, key);
  return true;
}

async function copy({ deps, zip, archive }: Work, path: string, key: string): Promise<void> {
  const content = await zip.open(path, archive.manifest.entries[path]);
  let failure: unknown;
  content.once("error", (error) => {
    failure = error;
  });
  try {
    await deps.blobs.write(key, content);
  } catch (error) {
    // The store may have wrapped what broke the content off.
    throw failure instanceof BadRequest ? failure : error;
  }
}

/** Everything into sight at once, where the tenant still is as it was. */
async function writeLast({ deps, archive, context, last }: Work, more: readonly Operation[]): Promise<void> {
  const now = timestamp(deps.clock);
  const former = context.collections.get("users")!;
  const users = archive.collections.get("users")!;
  await context.store.write({
    stamp: context.stamp,
    bump: true,
    operations: [
      { type: "absent", table: users.table, filter: always },
      { type: "absent", table: "api_keys", filter: always },
      { type: "define", table: users.table, indexes: indexDefinitions(users.definition) },
      { type: "remove", table: "collections", id: former.definition.id },
      ...[...archive.collections.values()].map(({ definition }): Operation => ({ type: "insert", table: "collections", record: definition as unknown as RecordValue })),
      { type: "update", table: "settings", id: "settings", set: { ...(archive.settings as unknown as Record<string, Json>), updatedAt: now } },
      ...last,
      ...more,
    ],
  });
}

function meaningOf(error: unknown): unknown {
  if (error instanceof ServiceError) return error;
  if (error instanceof StampChanged || error instanceof ConditionMissed) return new Conflict("The tenant was changed during the restore, so nothing was restored: make a new one to restore into");
  return error instanceof UniqueViolation ? new BadRequest(`The archive holds accounts with the same ${error.fields.join(", ")}, which must be unique`) : error;
}
