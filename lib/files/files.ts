// The front door of files/, as the record pipeline and the file routes use it.
import type { Readable } from "node:stream";
import type { RequestFacts } from "../core/call.js";
import type { FileReference, RecordValue } from "../core/record.js";
import type { Collection } from "../collections/collection.js";
import type { FileField } from "../schema/collection.js";
import type { Operation } from "../storage/storage.js";
import type { TenantContext } from "../tenants/context.js";

/** A file that is stored already but belongs to no record yet. Dropped, or swept, unless a record takes it. */
export interface PendingFile {
  readonly field: string;
  readonly reference: FileReference;
  /** The blob's key. */
  readonly key: string;
}

export interface Download {
  /** 200 whole, 206 a range, 304 not modified. */
  readonly status: 200 | 206 | 304;
  readonly headers: Readonly<Record<string, string>>;
  /** null for HEAD and 304. A Buffer where it is small. */
  readonly body: Readable | Buffer | null;
}

export interface DownloadRequest {
  readonly field: string;
  readonly fileId: string | null;
  /** The query's text, unchecked; null without one. */
  readonly width: string | null;
  readonly method: "GET" | "HEAD";
  /** Header texts as they came; null where they did not. */
  readonly ifNoneMatch: string | null;
  readonly range: string | null;
  readonly ifRange: string | null;
}

export interface Files {
  /**
   * Streams one upload into the blob store: safe name, sniffed type, size and mimeTypes checked. Throws
   * ValidationFailed with the field where the file is not allowed; nothing stays behind then.
   */
  receive(context: TenantContext, collection: Collection, recordId: string, field: FileField, upload: { readonly name: string; readonly stream: Readable }): Promise<PendingFile>;
  /** Drops files that no record took. Never throws. */
  drop(files: readonly PendingFile[]): Promise<void>;
  /** The operations that queue image variants for these files, for the write's unit. */
  variantJobs(context: TenantContext, collection: Collection, recordId: string, files: readonly PendingFile[]): Operation[];
  /** To be called once that unit is durable: wakes the worker, removes the bytes of files that left the record. */
  committed(context: TenantContext, collection: Collection, recordId: string, removed: readonly FileReference[]): void;
  /** Removes every byte of a collection or a tenant. */
  removeCollection(tenantId: string, collectionId: string): Promise<void>;
  removeTenant(tenantId: string): Promise<void>;
  /** Serves a file of a record that the caller may view. Throws NotFound, BadRequest (width), RangeNotSatisfiable. */
  download(context: TenantContext, collection: Collection, record: RecordValue, request: DownloadRequest): Promise<Download>;
  /** The record with a `url` in each file reference (absolute path, with the mount path). */
  present(call: { readonly request: Pick<RequestFacts, "mountPath"> }, collection: Collection, record: RecordValue): RecordValue;
}

/** The whole feature, as service.ts keeps it. */
export interface FilesService extends Files {
  /** Begins the background work: images left to scale, the sweep at start and each hour. Blobs and storage are open by then. */
  start(): void;
  /** Sweeps now. The number of blobs removed; undefined where another process is at it. */
  sweep(): Promise<number | undefined>;
  /** Resolves once no background work is left: no image to scale, no removal. */
  idle(): Promise<void>;
  /** The process that scales images, while it runs. */
  imageProcessId(): number | undefined;
  /** Ends the background work after the image at hand; what is left stays in the queue. */
  close(): Promise<void>;
}
