// createClient: the service for browsers and for Node, over fetch and nothing else.
import { createAuth, type Auth } from "./auth.js";
import { createCollection, type Collection, type Fields } from "./collection.js";
import { createFiles, type Files } from "./files.js";
import { createLive, type Live, type LiveOptions } from "./live.js";
import { createMemoryStorage, createSession, type SessionStorage, type TokenPair } from "./session.js";
import { createTransport, type RequestOptions } from "./transport.js";

export interface ClientOptions {
  /** Where the service is mounted, such as `https://example.com/backend`. */
  readonly url: string;
  /** Slug of the tenant. */
  readonly tenant?: string;
  /** An API key or an access token from elsewhere, in place of signing in. */
  readonly apiKey?: string;
  /** @default globalThis.fetch */
  readonly fetch?: typeof globalThis.fetch;
  /** Where the session is kept, such as `localStorage`. @default in memory */
  readonly storage?: SessionStorage;
  readonly realtime?: LiveOptions;
}

export interface BatchRequest {
  readonly method: "POST" | "PATCH" | "DELETE";
  readonly collection: string;
  readonly id?: string;
  readonly body?: object;
}

export interface BatchResult {
  readonly status: number;
  readonly body: unknown;
}

/** `Collections` maps names of collections to the types of their fields. */
export interface Client<Collections extends Record<string, Fields> = Record<string, Record<string, unknown>>> {
  readonly auth: Auth<Collections extends { users: infer U extends Fields } ? U : Record<string, unknown>>;
  readonly files: Files;
  readonly realtime: Pick<Live, "state" | "onState">;
  collection<Name extends keyof Collections & string>(name: Name): Collection<Collections[Name]>;
  collection<T extends Fields>(name: string): Collection<T>;
  /** All or nothing. */
  batch(requests: readonly BatchRequest[]): Promise<readonly BatchResult[]>;
  /** Any other request, with the client's credential; the parsed body. */
  request<T>(method: string, path: string, options?: RequestOptions): Promise<T>;
  /** Ends the realtime connection. Requests stay possible. */
  close(): void;
}

/** A client of one service and tenant. It opens nothing before it is used. */
export function createClient<Collections extends Record<string, Fields> = Record<string, Record<string, unknown>>>(options: ClientOptions): Client<Collections> {
  const { tenant, apiKey, storage = createMemoryStorage() } = options;
  const url = options.url.replace(/\/+$/, "");
  const fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  const transport = createTransport({ url, tenant, credential: apiKey, fetch, session: () => session });
  const session = createSession({
    storage,
    key: `records-service:${url}:${tenant ?? ""}`,
    refresh: (refreshToken) => transport.json<TokenPair>("POST", "/api/auth/refresh", { anonymous: true, body: { refreshToken } }),
  });
  const live = createLive(transport, apiKey === undefined ? session : null, options.realtime);

  return {
    auth: createAuth(transport, session, tenant),
    files: createFiles(transport),
    realtime: live,
    collection: <T extends Fields>(name: string) => createCollection<T>(transport, live, name),
    async batch(requests) {
      return (await transport.json<{ results: readonly BatchResult[] }>("POST", "/api/batch", { body: { requests } })).results;
    },
    request: (method, path, request) => transport.json(method, path, request),
    close: () => live.close(),
  };
}
