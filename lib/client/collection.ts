// A collection's records, typed: list, get, create, update, delete, subscribe.
import type { Live } from "./live.js";
import type { Subscription, SubscriptionOptions } from "./subscribers.js";
import type { RequestOptions, Transport } from "./transport.js";

/** The fields that a collection's schema defines. */
export type Fields = object;
/** A record with its system fields. */
export type Stored<T extends Fields> = T & { readonly id: string; readonly createdAt: string; readonly updatedAt: string };

/** What a create or update may carry. A Blob (or File) goes into a FILE field, and makes the request multipart. */
export type Body<T extends Fields> = { readonly [K in keyof T]?: T[K] | Blob | readonly Blob[] | readonly string[] | null };

export interface ListOptions {
  readonly offset?: number;
  /** 1 to 100. @default 25 */
  readonly limit?: number;
  /** `<field>:eq:<value>` */
  readonly filter?: string;
  /** `<field>:asc` or `<field>:desc` */
  readonly sort?: string;
  /** An expression in the rule grammar; it only narrows. */
  readonly where?: string;
  /** Only these fields, and the id. */
  readonly fields?: readonly string[];
  /** Relations to be read along. */
  readonly expand?: readonly string[];
  /** `nextCursor` of the page before. */
  readonly cursor?: string;
  /** Count all that match, as `total`. */
  readonly count?: boolean;
  readonly signal?: AbortSignal;
}

export interface Page<T extends Fields> {
  readonly items: readonly Stored<T>[];
  readonly offset: number;
  readonly limit: number;
  readonly hasMore: boolean;
  /** null at the end. */
  readonly nextCursor: string | null;
  /** With `count` only. */
  readonly total?: number;
}

/** A change of a record that the caller may see; or that changes were missed, so that everything shown must be read again. */
export type Change<T extends Fields> =
  | { readonly action: "create" | "update" | "delete"; readonly id: string; readonly record: Stored<T> }
  | { readonly action: "resync"; readonly id: null; readonly record: null };

export interface WriteOptions<T extends Fields> {
  /** The record as `get`, `create` or `update` gave it: RecordsError 412 where it has changed since. */
  readonly ifUnchanged?: Stored<T>;
}

export interface Collection<T extends Fields> {
  list(options?: ListOptions): Promise<Page<T>>;
  /** Every record that matches, page by page. */
  each(options?: Omit<ListOptions, "offset" | "cursor" | "count">): AsyncGenerator<Stored<T>, void, undefined>;
  /** Throws RecordsError 404 where there is none that the caller may see. */
  get(id: string, options?: { readonly fields?: readonly string[]; readonly expand?: readonly string[]; readonly signal?: AbortSignal }): Promise<Stored<T>>;
  create(body: Body<T>): Promise<Stored<T>>;
  update(id: string, body: Body<T>, options?: WriteOptions<T>): Promise<Stored<T>>;
  delete(id: string, options?: WriteOptions<T>): Promise<void>;
  /** Calls the listener with each change from now on, over lost connections too. */
  subscribe(listener: (change: Change<T>) => void, options?: SubscriptionOptions): Subscription;
}

export function createCollection<T extends Fields>(transport: Transport, live: Live, name: string): Collection<T> {
  const path = `/api/collections/${encodeURIComponent(name)}`;
  const pathOf = (id: string): string => `${path}/${encodeURIComponent(id)}`;
  /** The entity tags of single records that were read. */
  const tags = new WeakMap<object, string>();

  async function single(method: string, to: string, options: RequestOptions): Promise<Stored<T>> {
    const response = await transport.send(method, to, options);
    const record = (await response.json()) as Stored<T>;
    const tag = response.headers.get("ETag");
    if (tag !== null) tags.set(record, tag);
    return record;
  }

  function guard({ ifUnchanged }: WriteOptions<T> = {}): Pick<RequestOptions, "headers"> {
    if (ifUnchanged === undefined) return {};
    const tag = tags.get(ifUnchanged);
    if (tag === undefined) throw new TypeError("ifUnchanged must be a record as get, create or update gave it");
    return { headers: { "If-Match": tag } };
  }

  function list({ fields, expand, signal, ...options }: ListOptions = {}): Promise<Page<T>> {
    return transport.json("GET", path, { query: { ...options, ...listed({ fields, expand }) }, ...(signal === undefined ? {} : { signal }) });
  }

  return {
    list,
    async *each(options = {}) {
      let cursor: string | null | undefined;
      while (cursor !== null) {
        const page: Page<T> = await list({ limit: 100, ...options, ...(cursor === undefined ? {} : { cursor }) });
        yield* page.items;
        cursor = page.nextCursor;
      }
    },
    get: (id, { signal, ...options } = {}) => single("GET", pathOf(id), { query: listed(options), ...(signal === undefined ? {} : { signal }) }),
    create: (body) => single("POST", path, { body: toBody(body) }),
    update: async (id, body, options) => await single("PATCH", pathOf(id), { body: toBody(body), ...guard(options) }),
    async delete(id, options) {
      await transport.send("DELETE", pathOf(id), guard(options));
    },
    subscribe: (listener, options) => live.subscribe(name, listener as (change: Change<Fields>) => void, options),
  };
}

function listed(options: { readonly fields?: readonly string[] | undefined; readonly expand?: readonly string[] | undefined }): Record<string, string | undefined> {
  return { fields: options.fields?.join(","), expand: options.expand?.join(",") };
}

/** JSON, or a form where there are files in it. In a form null is an empty part, and other values are text. */
function toBody(body: object): unknown {
  const entries = Object.entries(body) as [string, unknown][];
  if (!entries.some(([, value]) => value instanceof Blob || hasBlobs(value))) return body;
  const form = new FormData();
  for (const [name, value] of entries) {
    if (value instanceof Blob) form.append(name, value);
    else if (hasBlobs(value)) for (const file of value) form.append(name, file);
    else if (value !== undefined) form.append(name, value === null ? "" : typeof value === "string" ? value : JSON.stringify(value));
  }
  return form;
}

function hasBlobs(value: unknown): value is readonly Blob[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => item instanceof Blob);
}
