// A small tenant on a real store and a real folder, for tests of files.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import sharp, { type Sharp } from "sharp";
import type { BlobStore } from "../../../lib/blobs/blobs.js";
import { createDiskBlobs } from "../../../lib/blobs/disk.js";
import type { Collection } from "../../../lib/collections/collection.js";
import type { Logger } from "../../../lib/core/logger.js";
import { newId } from "../../../lib/core/ids.js";
import type { Json, RecordValue } from "../../../lib/core/record.js";
import { defaultSettings, type Tenant } from "../../../lib/core/tenant.js";
import { createFiles } from "../../../lib/files/create-files.js";
import type { FilesService, PendingFile } from "../../../lib/files/files.js";
import type { ImageProcessOptions } from "../../../lib/files/image-process.js";
import { mergeFiles } from "../../../lib/files/merge.js";
import type { CollectionDefinition, FileField } from "../../../lib/schema/collection.js";
import { createSqliteStorage } from "../../../lib/storage/sqlite/sqlite.js";
import type { Row, Storage } from "../../../lib/storage/storage.js";
import type { TenantContext, TenantRegistry } from "../../../lib/tenants/context.js";
import { defineTables, systemTables, tenantTables } from "../../../lib/tenants/tables.js";

export function fileField(field: Partial<FileField> & { readonly name: string }): FileField {
  return { type: "FILE", required: false, unique: false, default: null, multiple: false, maxFiles: 10, maxSize: 2_097_152, mimeTypes: [], widths: [], ...field };
}

export function fileCollection(name: string, fields: readonly FileField[]): Collection {
  const id = newId(Date.now());
  const definition: CollectionDefinition = {
    id, name, system: false, fields, indexes: [], listRule: "true", viewRule: "true", createRule: "true", updateRule: "true", deleteRule: "true",
    realtime: true, createdAt: "2026-01-01T00:00:00.000Z", updatedAt: "2026-01-01T00:00:00.000Z",
  };
  return {
    definition, name, table: `c_${id.replaceAll("-", "")}`, fields: new Map(fields.map((field) => [field.name, field])), files: fields, relations: [],
    rules: { listRule: null, viewRule: null, createRule: null, updateRule: null, deleteRule: null }, passthrough: false, isUsers: false,
  };
}

export interface Scene {
  readonly folder: string;
  readonly blobs: BlobStore;
  readonly storage: Storage;
  readonly files: FilesService;
  readonly context: TenantContext;
  readonly collection: Collection;
  readonly clock: { now(): number };
  readonly log: { readonly level: string; readonly message: string }[];
  readonly tenants: Pick<TenantRegistry, "byId" | "list" | "get">;
  /** Moves the clock on, milliseconds. */
  wait(milliseconds: number): void;
  /** Another service on the same folder and store. */
  another(options?: { blobs?: BlobStore; images?: ImageProcessOptions }): FilesService;
  receive(field: string, content: Buffer | Readable, name?: string): Promise<PendingFile>;
  /** Stores a new record with these files, as the record pipeline does. */
  create(...pending: PendingFile[]): Promise<Row>;
  find(id: string): Promise<Row | undefined>;
  keys(): Promise<string[]>;
  close(): Promise<void>;
}

export const recordId = "0190aaaa-0000-7000-8000-000000000001";

export async function startScene(fields: readonly FileField[], options: { blobs?: (disk: BlobStore) => BlobStore; images?: ImageProcessOptions } = {}): Promise<Scene> {
  const folder = await mkdtemp(join(tmpdir(), "files-"));
  const disk = createDiskBlobs({ folder: join(folder, "files") });
  await disk.open();
  const blobs = options.blobs?.(disk) ?? disk;
  const storage = createSqliteStorage({ folder: join(folder, "store") });
  await storage.open();
  await storage.system.write({ operations: defineTables(systemTables) });
  const tenant: Tenant = { id: newId(Date.now()), slug: "acme", name: "Acme", createdAt: "2026-01-01T00:00:00.000Z", updatedAt: "2026-01-01T00:00:00.000Z" };
  const store = storage.tenant(tenant.id);
  const collection = fileCollection("docs", fields);
  await store.write({ operations: [...defineTables(tenantTables), { type: "define", table: collection.table, indexes: [] }] });
  const context: TenantContext = {
    tenant, store, stamp: await store.stamp(), collections: new Map([[collection.name, collection]]), settings: defaultSettings, hooks: () => [],
  };
  const tenants = {
    byId: async (id: string) => (id === tenant.id ? context : undefined),
    get: async () => context,
    list: async () => [tenant],
  };
  let offset = 0;
  const clock = { now: () => Date.now() + offset };
  const log: { level: string; message: string }[] = [];
  const logger = Object.fromEntries(["debug", "info", "warn", "error"].map((level) => [level, (_fields: object, message: string) => log.push({ level, message })])) as unknown as Logger;
  const services: FilesService[] = [];
  const another = (other: { blobs?: BlobStore; images?: ImageProcessOptions } = {}): FilesService => {
    const service = createFiles({ blobs: other.blobs ?? blobs, storage, tenants, clock, logger, images: other.images ?? options.images });
    services.push(service);
    return service;
  };
  const files = another();

  return {
    folder, blobs, storage, files, context, collection, clock, log, tenants, another,
    wait: (milliseconds) => { offset += milliseconds; },
    receive: (field, content, name = "photo.jpg") =>
      files.receive(context, collection, recordId, collection.files.find((one) => one.name === field)!, { name, stream: Buffer.isBuffer(content) ? Readable.from(inPieces(content)) : content }),
    async create(...pending) {
      const { set } = mergeFiles({ collection, existing: null, body: {}, pending });
      const now = new Date().toISOString();
      const record = { id: recordId, createdAt: now, updatedAt: now, ...set } as RecordValue;
      const { rows } = await store.write({
        operations: [{ type: "insert", table: collection.table, record, log: { collection: collection.name, content: "record" } }, ...files.variantJobs(context, collection, recordId, pending)],
      });
      files.committed(context, collection, recordId, []);
      return rows[0]!;
    },
    find: (id) => store.table(collection.table).find(id),
    async keys() {
      const found: string[] = [];
      for await (const { key } of disk.list("")) found.push(key);
      return found.sort();
    },
    async close() {
      for (const service of services) await service.close();
      await storage.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function* inPieces(content: Buffer): Generator<Buffer> {
  for (let offset = 0; offset < content.length; offset += 16_384) yield content.subarray(offset, offset + 16_384);
}

export async function bytesOf(body: Readable | Buffer | null): Promise<Buffer> {
  if (body === null) return Buffer.alloc(0);
  if (Buffer.isBuffer(body)) return body;
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** A photograph: soft noise, so that it is neither tiny nor incompressible. */
export function photo(width: number, height: number): Sharp {
  return sharp({ create: { width, height, channels: 3, background: "#446688", noise: { type: "gaussian", mean: 120, sigma: 40 } } });
}

export type { Json };
