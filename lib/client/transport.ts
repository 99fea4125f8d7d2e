// Transport: one request to the service, with its credential, refreshed and repeated once where the token was refused.
import { ConnectionError, toError } from "./errors.js";
import type { Session } from "./session.js";

export interface RequestOptions {
  /** An object is sent as JSON, a FormData as it is. */
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Send no credential. */
  readonly anonymous?: boolean;
  /** This credential instead of the session's. */
  readonly token?: string | undefined;
}

export interface TransportDeps {
  /** Where the service is mounted, without a slash at its end. */
  readonly url: string;
  /** Slug. */
  readonly tenant: string | undefined;
  /** A fixed credential: an API key or a token from elsewhere. */
  readonly credential: string | undefined;
  readonly fetch: typeof globalThis.fetch;
  readonly session: () => Session;
}

export interface Transport {
  readonly url: string;
  /** The successful answer. Throws RecordsError, ConnectionError, and the signal's reason. */
  send(method: string, path: string, options?: RequestOptions): Promise<Response>;
  /** The parsed body of the successful answer; undefined where it has none. */
  json<T>(method: string, path: string, options?: RequestOptions): Promise<T>;
}

export function createTransport({ url, tenant, credential, fetch, session }: TransportDeps): Transport {
  async function attempt(method: string, path: string, options: RequestOptions, token: string | undefined): Promise<Response> {
    const { body, query = {}, headers = {}, signal } = options;
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
    const search = parameters.size > 0 ? `?${parameters}` : "";
    const isForm = body instanceof FormData;
    try {
      return await fetch(`${url}${path}${search}`, {
        method,
        headers: {
          ...(tenant === undefined ? {} : { "X-Tenant": tenant }),
          ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
          ...(body === undefined || isForm ? {} : { "Content-Type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      if (signal?.aborted === true) throw error;
      throw new ConnectionError(error);
    }
  }

  async function send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    const given = options.token ?? credential;
    const token = options.anonymous === true ? undefined : (given ?? (await session().token()));
    let response = await attempt(method, path, options, token);
    if (response.status === 401 && token !== undefined && given === undefined) {
      const renewed = await session().renew(token);
      if (renewed !== undefined && renewed !== token) {
        await response.body?.cancel();
        response = await attempt(method, path, options, renewed);
      }
    }
    if (!response.ok && response.status !== 304) throw await toError(response);
    return response;
  }

  return {
    url,
    send,
    async json<T>(method: string, path: string, options?: RequestOptions): Promise<T> {
      const response = await send(method, path, options);
      try {
        const text = await response.text();
        return (text === "" ? undefined : JSON.parse(text)) as T;
      } catch (error) {
        throw new ConnectionError(error);
      }
    },
  };
}
