// Every error that the service answers with, in one table: status, body, headers. `cause` is for the log, never sent.
import type { Json } from "./record.js";

/** One entry of a validation failure. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** Base of all: what the client is told, and nothing else. */
export class ServiceError extends Error {
  readonly status: number;
  /** The body as it is sent. */
  readonly body: Json;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, options: { body?: Json; headers?: Record<string, string>; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.status = status;
    this.body = options.body ?? { error: message };
    this.headers = options.headers ?? {};
  }
}

/** 400 with the array of entries. */
export class ValidationFailed extends ServiceError {
  readonly entries: readonly FieldError[];
  constructor(entries: readonly FieldError[]) {
    super(400, entries.map((entry) => `${entry.field}: ${entry.message}`).join("; "), {
      body: entries.map(({ field, message }) => ({ field, message })),
    });
    this.entries = entries;
  }
}

export class BadRequest extends ServiceError {
  constructor(message: string, cause?: unknown) { super(400, message, { cause }); }
}

export class Unauthorized extends ServiceError {
  constructor(message = "Unauthorized") { super(401, message, { headers: { "WWW-Authenticate": "Bearer" } }); }
}

export class Forbidden extends ServiceError {
  constructor(message = "Forbidden") { super(403, message); }
}

export class NotFound extends ServiceError {
  constructor(message = "Not found") { super(404, message); }
}

export class MethodNotAllowed extends ServiceError {
  constructor(allow: readonly string[]) { super(405, "Method not allowed", { headers: { Allow: allow.join(", ") } }); }
}

export class Conflict extends ServiceError {
  constructor(message: string) { super(409, message); }
}

export class PreconditionFailed extends ServiceError {
  constructor() { super(412, "The record has changed since it was read"); }
}

export class PayloadTooLarge extends ServiceError {
  constructor() { super(413, "The body is larger than 4 MiB"); }
}

export class UnsupportedMediaType extends ServiceError {
  constructor(message: string) { super(415, message); }
}

export class RangeNotSatisfiable extends ServiceError {
  constructor(size: number) { super(416, "Range not satisfiable", { headers: { "Content-Range": `bytes */${size}` } }); }
}

/** No hashing slot was free within the wait (interface, Limits). */
export class TooManyRequests extends ServiceError {
  constructor() { super(429, "Too many requests", { headers: { "Retry-After": "1" } }); }
}

/** A before-hook refused: its status and its error as the body. */
export class HookRejected extends ServiceError {
  constructor(status: number, message: string, body: Json) { super(status, message, { body, headers: status === 401 ? { "WWW-Authenticate": "Bearer" } : {} }); }
}

/** A before-hook could not be asked, and it does not fail open. */
export class HookFailed extends ServiceError {
  constructor(cause?: unknown) { super(502, "A hook could not be reached or gave no usable answer", { cause }); }
}

/** The storage engine cannot be reached. */
export class StorageUnavailable extends ServiceError {
  constructor(cause?: unknown) { super(503, "The storage is unavailable", { cause }); }
}

/** The service is closing. */
export class ShuttingDown extends ServiceError {
  constructor() { super(503, "The service is shutting down", { headers: { Connection: "close" } }); }
}

/** No room for files. */
export class InsufficientStorage extends ServiceError {
  constructor(cause?: unknown) { super(507, "There is no room left for files", { cause }); }
}

/** A sort without an index was too large for the engine (contract 1). */
export class SortTooLarge extends ServiceError {
  constructor(field: string, cause?: unknown) { super(400, `Sorting by ${field} needs an index on ${field}: add one to the collection`, { cause }); }
}

/** Why a credential was not taken. Told to the request log, never to the client: every answer is the same 401. */
export type Rejection = "unknown" | "expired" | "revoked" | "source";

/** A credential was presented and refused. */
export class CredentialRejected extends Unauthorized {
  constructor(
    readonly rejection: Rejection,
    /** Where the key was recognised. */
    readonly key: { readonly id: string; readonly name: string; readonly tenantId: string } | null = null,
    /** The tenant that it was one of, where that is known. It may be gone. */
    readonly tenantId: string | null = key?.tenantId ?? null,
  ) { super(); }
}
