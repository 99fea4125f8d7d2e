// DataHandle: the records of a tenant for host code, in the name of one caller (contract 10).
import type { Readable } from "node:stream";
import type { Call } from "../core/call.js";
import { BadRequest } from "../core/errors.js";
import type { RecordValue } from "../core/record.js";
import type { PendingFile } from "../files/files.js";
import type { BatchRequest, BatchResult } from "../records/batch.js";
import type { ListValue } from "../records/list.js";
import type { RecordAnswer } from "../records/operation.js";
import type { ListParameters } from "../records/list-query.js";
import type { WatchEvent } from "../realtime/watcher.js";
import type { Records } from "../records/records.js";
import type { TenantContext } from "../tenants/context.js";
import { hostCall, type Who } from "./call.js";
import { bodyOf, fileOf, filesOf, idOf, listParametersOf, optionsOf } from "./input.js";
import type { NewFile, UploadTarget } from "./uploads.js";

/** The fields that a collection's schema defines, for typed access. */
export type Fields = Record<string, unknown>;
/** A record with its system fields. */
export type Stored<T extends Fields> = T & { readonly id: string; readonly createdAt: string; readonly updatedAt: string };

export interface Page<T extends Fields> extends Omit<ListValue, "items"> {
  readonly items: readonly Stored<T>[];
}

/** One change, as a subscriber sees it. */
export type ChangeEvent<T extends Fields> =
  | {
    /** Change id, for `since`. */
    readonly id: string;
    readonly action: "create" | "update" | "delete";
    /** For a delete, as it last was. */
    readonly record: Stored<T>;
  }
  /** The history no longer reaches back to `since`: read the records anew. */
  | { readonly id: string; readonly action: "resync"; readonly record: null };

export interface SubscribeOptions {
  /** Only this record. */
  readonly id?: string;
  /** Replay what was missed after this change first. */
  readonly since?: string;
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
}

/** What must still hold of the record, else PreconditionFailed. */
export interface WriteCondition<T extends Fields = Fields> {
  /** Its entity tag, as HTTP gives it. */
  readonly ifMatch?: string;
  /** The record as `get`, `create` or `update` gave it: that very object. */
  readonly ifUnchanged?: Stored<T>;
}

export interface CreateOptions {
  /** Stored with the record, as the parts of a form are. */
  readonly files?: readonly NewFile[];
}

/** `files`: take the place of a single field's file, come behind those of a multiple one. */
export interface UpdateOptions<T extends Fields = Fields> extends WriteCondition<T>, CreateOptions {}

export interface CollectionHandle<T extends Fields = Fields> {
  /** The HTTP parameters by name. */
  list(parameters?: ListParameters): Promise<Page<T>>;
  /** Throws NotFound where there is none or the viewRule hides it. */
  get(id: string): Promise<Stored<T>>;
  create(body: Partial<T>, options?: CreateOptions): Promise<Stored<T>>;
  update(id: string, body: Partial<T>, options?: UpdateOptions<T>): Promise<Stored<T>>;
  delete(id: string, options?: WriteCondition<T>): Promise<void>;
  /** Changes that the caller may see, from the call on. */
  subscribe(options?: SubscribeOptions): AsyncIterableIterator<ChangeEvent<T>>;
}

export interface FilesHandle {
  /** Stores a file in the field: replaces the one of a single field, appends to a multiple one. */
  upload(collection: string, id: string, field: string, file: { readonly name: string; readonly stream: Readable }): Promise<RecordValue>;
  /** The bytes of a file, with its headers. `fileId` only for a multiple field; `width` as over HTTP. */
  read(collection: string, id: string, field: string, options?: { readonly fileId?: string; readonly width?: number }): Promise<{ readonly stream: Readable; readonly headers: Readonly<Record<string, string>> }>;
  /** `fileId` only for a multiple field; `ifMatch`: the record's entity tag or the file's. */
  delete(collection: string, id: string, field: string, options?: { readonly fileId?: string; readonly ifMatch?: string }): Promise<void>;
  /** A short-lived token that a browser's `<img>` may carry as `?token=`, with the caller's rights, for viewing only. */
  token(): Promise<{ readonly token: string; readonly expiresIn: number }>;
}

export interface DataHandle {
  collection<T extends Fields = Fields>(name: string): CollectionHandle<T>;
  /** All or nothing, each request under its own rule and hooks. Throws BatchFailed. */
  batch(requests: readonly BatchRequest[]): Promise<BatchResult[]>;
  readonly files: FilesHandle;
}

export interface DataDeps {
  readonly records: Records;
  readonly files: {
    receive(context: TenantContext, call: Call, target: UploadTarget, uploads: readonly NewFile[]): Promise<{ readonly id: string; readonly files: readonly PendingFile[] }>;
    upload(context: TenantContext, call: Call, collection: string, id: string, field: string, file: { readonly name: string; readonly stream: Readable }): Promise<RecordValue>;
    read(context: TenantContext, call: Call, collection: string, id: string, field: string, options: { readonly fileId?: string | undefined; readonly width?: number | undefined }): Promise<{ readonly stream: Readable; readonly headers: Readonly<Record<string, string>> }>;
    remove(context: TenantContext, call: Call, collection: string, id: string, field: string, options: { readonly fileId?: string | undefined; readonly ifMatch?: string | undefined }): Promise<unknown>;
    token(context: TenantContext, call: Call): Promise<{ readonly token: string; readonly expiresIn: number }>;
  };
  readonly watch: (context: TenantContext, call: Call, collection: string, options: SubscribeOptions) => AsyncIterableIterator<WatchEvent>;
  /** The tenant as it is now. Throws NotFound. */
  readonly context: () => Promise<TenantContext>;
  readonly mountPath: () => string;
}

export function createDataHandle(deps: DataDeps, who: Who): DataHandle {
  const { records, files } = deps;

  /** `path`: where HTTP does it, or what follows after /api/collections. Throws NotFound where a part of it is no text. */
  async function asked<T>(method: string, path: string | readonly string[], run: (context: TenantContext, call: Call) => Promise<T>): Promise<T> {
    const place = typeof path === "string" ? path : ["/api/collections", ...path.map(idOf)].join("/");
    const context = await deps.context();
    return await run(context, await hostCall(context, who, { method, path: place, mountPath: deps.mountPath() }));
  }

  return {
    collection<T extends Fields>(name: string): CollectionHandle<T> {
      return {
        list: (parameters) => asked("GET", [name], async (context, call) => {
          records.collection(context, name);
          return (await records.list(context, call, name, listParametersOf(parameters))).value as unknown as Page<T>;
        }),
        get: (id) => asked("GET", [name, id], async (context, call) => tagged<T>(await records.view(context, call, name, id))),
        create: (body, options) => asked("POST", [name], async (context, call) => {
          const input = { body: bodyOf(body) };
          const uploads = filesOf(options?.files);
          const stored = uploads.length === 0 ? {} : await files.receive(context, call, { collection: name, recordId: null }, uploads);
          return tagged<T>(await records.create(context, call, name, { ...input, ...stored }));
        }),
        update: (id, body, options) => asked("PATCH", [name, id], async (context, call) => {
          const input = { recordId: id, body: bodyOf(body), ifMatch: tagOf(options) };
          const uploads = filesOf(options?.files);
          const stored = uploads.length === 0 ? {} : { files: (await files.receive(context, call, { collection: name, recordId: id }, uploads)).files };
          return tagged<T>(await records.update(context, call, name, { ...input, ...stored }));
        }),
        delete: (id, options) => asked("DELETE", [name, id], (context, call) => records.remove(context, call, name, { recordId: id, ifMatch: tagOf(options) })),
        subscribe: (options) => begun(asked("GET", "/api/realtime", async (context, call) => ({
          iterator: deps.watch(context, call, idOf(name), optionsOf(options, { id: "text", since: "text", signal: "signal" })) as unknown as AsyncIterableIterator<ChangeEvent<T>>,
        }))),
      };
    },

    batch: (requests) => asked("POST", "/api/batch", (context, call) => records.batch(context, call, { requests })),

    files: {
      upload: (collection, id, field, file) => asked("PATCH", [collection, id], (context, call) => files.upload(context, call, collection, id, idOf(field), fileOf(file))),
      read: (collection, id, field, options) => asked("GET", [collection, id, "files", field], (context, call) =>
        files.read(context, call, collection, id, field, optionsOf(options, { fileId: "text", width: "number" }))),
      token: () => asked("POST", "/api/files/token", (context, call) => files.token(context, call)),
      delete: async (collection, id, field, options) => {
        await asked("DELETE", [collection, id, "files", field], (context, call) => files.remove(context, call, collection, id, field, optionsOf(options, { fileId: "text", ifMatch: "text" })));
      },
    },
  };
}

/** The entity tags of records that were given out, for `ifUnchanged`. */
const tags = new WeakMap<object, string>();

function tagged<T extends Fields>({ value, etag }: RecordAnswer): Stored<T> {
  tags.set(value, etag);
  return value as unknown as Stored<T>;
}

function tagOf<T extends Fields>(condition: WriteCondition<T> | undefined): string | undefined {
  const { ifMatch, ifUnchanged } = condition ?? {};
  if (ifMatch !== undefined && typeof ifMatch !== "string") throw new BadRequest("ifMatch must be an entity tag");
  if (ifUnchanged === undefined) return ifMatch;
  if (ifMatch !== undefined) throw new BadRequest("give ifMatch or ifUnchanged, not both");
  const tag = tags.get(ifUnchanged);
  if (tag === undefined) throw new BadRequest("ifUnchanged must be a record as get, create or update gave it");
  return tag;
}

/** An iterator that began with the call, not with its first `next()`: nothing written after the call is missed. */
function begun<T>(starting: Promise<{ readonly iterator: AsyncIterableIterator<T> }>): AsyncIterableIterator<T> {
  // Whoever never asks for an event must not be told of a failure by the process.
  starting.catch(() => undefined);
  const iterator: AsyncIterableIterator<T> = {
    next: async () => (await starting).iterator.next(),
    return: async (value?: unknown) => {
      // Where it never began there is nothing to end; why is told by next().
      const started = await starting.catch(() => undefined);
      return started?.iterator.return === undefined ? { done: true, value } : started.iterator.return(value);
    },
    [Symbol.asyncIterator]: () => iterator,
  };
  return iterator;
}
