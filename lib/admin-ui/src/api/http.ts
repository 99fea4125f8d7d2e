// One door to the service: addresses relative to the page, errors as ApiError, and a session that ran out is asked
// for again and the request repeated, so that a form keeps what was typed.
import type { FieldError, Json } from "./types.js";

/** The mount path of the service, as an address that ends with a slash. The page stands at `<mount>/admin/`. */
export const mountUrl = new URL("../", location.href.split("#")[0]);

export class ApiError extends Error {
  constructor(
    /** HTTP status; 0 where no answer came. */
    readonly status: number,
    message: string,
    readonly fields: readonly FieldError[] = [],
    /** The answer's body as it was. */
    readonly body: unknown = null,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

export interface Ask {
  readonly body?: unknown;
  /** Multipart, or a file to be restored or imported. */
  readonly raw?: BodyInit | undefined;
  readonly contentType?: string | undefined;
  /** Slug of the tenant, for the data plane. */
  readonly tenant?: string | undefined;
  readonly query?: Readonly<Record<string, string | number | boolean | null | undefined>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Give a 401 back instead of asking to sign in again. */
  readonly plain401?: boolean | undefined;
}

export interface Answer<T> {
  readonly status: number;
  readonly data: T;
  readonly headers: Headers;
}

let signInAgain: () => Promise<void> = () => Promise.reject(new ApiError(401, "Sign in first"));

/** Says what to do with a request whose session ran out: resolves once there is a new one. */
export function onSessionExpired(handler: () => Promise<void>): void {
  signInAgain = handler;
}

/** The address of a path of the service, with its query. */
export function addressOf(path: string, query: Ask["query"] = {}): string {
  const url = new URL(path.replace(/^\//, ""), mountUrl);
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") url.searchParams.set(name, String(value));
  }
  return url.href;
}

/** How long a session that answered is taken for granted. */
const trustMs = 5000;
let provenAt = -Infinity;

/**
 * Without its cookie a request to the data plane would be a guest's, and answered as one: the session is asked for first.
 */
export async function proveSession(): Promise<void> {
  if (performance.now() - provenAt < trustMs) return;
  await ask("GET", "/api/admin/me");
  provenAt = performance.now();
}

/** Sends one request. Throws ApiError on every answer that is no success. */
export async function ask<T = unknown>(method: string, path: string, options: Ask = {}): Promise<Answer<T>> {
  if (options.tenant !== undefined) await proveSession();
  const answer = await send(method, path, options);
  if (answer.status === 401 && options.plain401 !== true) {
    await signInAgain();
    return readAnswer<T>(await send(method, path, options));
  }
  return readAnswer<T>(answer);
}

/** The body of a successful answer. */
export async function get<T>(path: string, options: Ask = {}): Promise<T> {
  return (await ask<T>("GET", path, options)).data;
}

async function send(method: string, path: string, options: Ask): Promise<Response> {
  const headers: Record<string, string> = { Accept: "application/json", ...options.headers };
  if (options.tenant !== undefined) headers["X-Tenant"] = options.tenant;
  let body: BodyInit | null = options.raw ?? null;
  if (options.body !== undefined) {
    headers["Content-Type"] = "application/json";
    body = JSON.stringify(options.body);
  } else if (options.contentType !== undefined) {
    headers["Content-Type"] = options.contentType;
  }
  try {
    return await fetch(addressOf(path, options.query), { method, headers, body, credentials: "same-origin", cache: "no-store", redirect: "error", signal: options.signal ?? null });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "The service could not be reached. Nothing you typed is lost: check the connection and try again.");
  }
}

/** The body of an answer. Throws ApiError where it is no success. */
export async function readAnswer<T>(response: Response): Promise<Answer<T>> {
  const text = await response.text();
  const data = parse(text);
  if (response.ok) return { status: response.status, data: data as T, headers: response.headers };
  throw toError(response, data);
}

function parse(text: string): Json {
  if (text === "") return null;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function toError(response: Response, data: Json): ApiError {
  if (Array.isArray(data)) {
    const fields = data.filter((entry): entry is Json & FieldError => typeof entry === "object" && entry !== null && "field" in entry && "message" in entry);
    return new ApiError(response.status, fields.map((entry) => (entry.field === "" ? entry.message : `${entry.field}: ${entry.message}`)).join("\n"), fields, data);
  }
  const message = typeof data === "object" && data !== null && "error" in data && typeof data.error === "string" ? data.error : null;
  return new ApiError(response.status, message ?? fallback(response), [], data);
}

function fallback(response: Response): string {
  if (response.status === 413) return "The body is too large for the service, or for the proxy in front of it.";
  if (response.status === 503) return "The service is not ready at the moment. Try again shortly.";
  return `The service answered ${response.status}${response.statusText === "" ? "" : ` ${response.statusText}`}.`;
}

/** What to tell a person about any failure. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
