// Makes a backup: everything of a tenant that cannot be made again, as one zip, streamed.
import type { Writable } from "node:stream";
import type { BlobStore } from "../blobs/blobs.js";
import type { Collection } from "../collections/collection.js";
import { timestamp, type Clock } from "../core/clock.js";
import { Conflict } from "../core/errors.js";
import { fileReferences, type RecordValue, type Scalar } from "../core/record.js";
import type { HookDefinition } from "../hooks/definition.js";
import { always } from "../storage/filter.js";
import type { Row } from "../storage/storage.js";
import type { TenantContext, TenantRegistry } from "../tenants/context.js";
import { formatName, formatVersion, keptUserColumns, paths, type HookLine, type KeyLine, type Manifest } from "./format.js";
import { openSnapshot, type Changed } from "./snapshot.js";
import { createZipWriter, type ZipWriter } from "./zip-writer.js";

export interface MakeBackupDeps {
  readonly tenants: Pick<TenantRegistry, "get">;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  /** Where the bytes of a file live. */
  readonly fileKey: (tenantId: string, collectionId: string, recordId: string, fileId: string) => string;
  readonly variantKey: (key: string, width: number) => string;
  readonly readHooks: (context: TenantContext) => Promise<readonly HookDefinition[]>;
  /** Seals text with a secret of the service. */
  readonly seal: (plain: string) => string;
}

export interface Progress {
  readonly step: "records" | "files";
  readonly done: number;
}

/** More than a tenant has. */
const everyRow = 1_000_000;

/** Writes the archive into the stream and ends it. Throws Conflict where definitions change meanwhile. */
export async function makeBackup(deps: MakeBackupDeps, context: TenantContext, output: Writable, onProgress: (progress: Progress) => void): Promise<void> {
  const { tenants, clock } = deps;
  const zip = await createZipWriter(output, new Date(clock.now()));
  const collections = [...context.collections.values()];
  const snapshot = await openSnapshot(context);
  const files = createFileCopier(deps, context, zip, (done) => onProgress({ step: "files", done }));
  let records = 0;

  await zip.add(paths.tenant, JSON.stringify({ slug: context.tenant.slug, name: context.tenant.name }));
  await zip.add(paths.collections, lines(collections.map(({ definition }) => definition)));
  for (const collection of collections) {
    let page = 0;
    for await (const rows of snapshot.pages(collection)) {
      await zip.add(paths.records(collection.definition.id, (page += 1)), `${rows.map((row) => recordLine(collection, row)).join("\n")}\n`);
      records += rows.length;
      onProgress({ step: "records", done: records });
      for (const row of rows) await files.copy(collection, row.record);
    }
  }

  // A file that is gone belongs to a record that has changed since, which the log then says: look again until it does.
  await snapshot.settle();
  for (let round = 0; round < 3; round += 1) {
    await copyChangedFiles();
    if (files.missing.size === 0) break;
    await snapshot.settle();
  }
  await copyChangedFiles();
  for (const collection of collections) {
    let page = 0;
    for await (const changed of snapshot.changes(collection)) await zip.add(paths.changes(collection.definition.id, (page += 1)), `${changed.map((one) => changeLine(collection, one)).join("\n")}\n`);
  }

  const now = await tenants.get(context.tenant.id);
  if (now.stamp !== context.stamp) throw new Conflict("Collections, hooks or settings were changed during the backup; make it again");
  const hooks = await deps.readHooks(now);
  const keys = await now.store.table("api_keys").list({ filter: always, limit: everyRow });
  await zip.add(paths.settings, JSON.stringify(now.settings));
  await zip.add(paths.hooks, lines(hooks.map(({ secret, headers, ...hook }): HookLine => ({ hook: hook as unknown as HookLine["hook"], sealed: deps.seal(JSON.stringify({ secret, headers })) }))));
  await zip.add(paths.apiKeys, lines(keys.map((row): KeyLine => ({ record: row.record, hash: String(row.hidden["hash"]) }))));
  const manifest: Manifest = {
    format: formatName,
    version: formatVersion,
    createdAt: timestamp(clock),
    entries: Object.fromEntries(zip.entries),
    missing: [...files.missing],
  };
  await zip.add(paths.manifest, JSON.stringify(manifest));
  zip.end();

  async function copyChangedFiles(): Promise<void> {
    for (const collection of collections) {
      for await (const changed of snapshot.changes(collection)) {
        for (const { recordId, row } of changed) {
          files.forget(collection, recordId);
          if (row !== null) await files.copy(collection, row.record);
        }
      }
    }
  }
}

function lines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}

/** The stored text goes in as it stands. */
function recordLine({ isUsers }: Collection, { text, hidden }: Pick<Row, "text" | "hidden">): string {
  if (!isUsers) return `{"record":${text}}`;
  const kept = Object.fromEntries(keptUserColumns.map((name): [string, Scalar] => [name, hidden[name] ?? null]));
  return `{"record":${text},"hidden":${JSON.stringify(kept)}}`;
}

function changeLine(collection: Collection, { recordId, row }: Changed): string {
  return row === null ? JSON.stringify({ removed: recordId }) : recordLine(collection, row);
}

/** Copies each file and variant once. */
function createFileCopier({ blobs, fileKey, variantKey }: MakeBackupDeps, { tenant }: TenantContext, zip: ZipWriter, onCopied: (count: number) => void) {
  const copied = new Set<string>();
  /** Paths of files whose bytes were not there. */
  const missing = new Set<string>();

  async function one(path: string, key: string, compress: boolean): Promise<boolean> {
    if (copied.has(path)) return true;
    const bytes = await blobs.read(key);
    if (bytes === undefined) return false;
    await zip.add(path, bytes, { compress });
    copied.add(path);
    missing.delete(path);
    onCopied(copied.size);
    return true;
  }

  return {
    missing: missing as ReadonlySet<string>,
    /** What was missing of the record is asked for anew. */
    forget({ definition }: Collection, recordId: string): void {
      const prefix = paths.file(definition.id, recordId, "");
      for (const path of missing) if (path.startsWith(prefix)) missing.delete(path);
    },
    async copy({ definition, files }: Collection, record: RecordValue): Promise<void> {
      for (const field of files) {
        for (const file of fileReferences(record[field.name])) {
          const key = fileKey(tenant.id, definition.id, record.id, file.id);
          const compress = /^text\/|json|xml|svg/.test(file.type);
          const path = paths.file(definition.id, record.id, file.id);
          if (!(await one(path, key, compress))) missing.add(path);
          // A variant that is not there yet is made again after the restore.
          for (const width of file.variants ?? []) await one(paths.variant(path, width), variantKey(key, width), false);
        }
      }
    },
  };
}
