// What a client throws: the service's refusals, and the loss of the connection.

/** One entry of a validation failure. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** The service answered with a status of 400 or more. */
export class RecordsError extends Error {
  /** HTTP status. */
  readonly status: number;
  /** The parsed body. */
  readonly body: unknown;
  /** The entries of a validation failure (400); empty otherwise. */
  readonly fields: readonly FieldError[];
  /** Seconds to wait before another try, where the service says so (429). */
  readonly retryAfter: number | null;

  constructor(status: number, body: unknown, retryAfter: number | null = null) {
    super(messageOf(status, body));
    this.name = "RecordsError";
    this.status = status;
    this.body = body;
    this.fields = Array.isArray(body) ? (body as readonly FieldError[]) : [];
    this.retryAfter = retryAfter;
  }
}

/** No answer came: the network, the server or a proxy failed. Whether a write took place is unknown. */
export class ConnectionError extends Error {
  constructor(cause: unknown) {
    super("The service cannot be reached", { cause });
    this.name = "ConnectionError";
  }
}

/** The error of an answer that is no success. */
export async function toError(response: Response): Promise<RecordsError> {
  const text = await response.text().catch(() => "");
  const seconds = Number(response.headers.get("Retry-After") ?? "");
  return new RecordsError(response.status, parse(text), seconds > 0 ? seconds : null);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function messageOf(status: number, body: unknown): string {
  if (Array.isArray(body)) return (body as readonly FieldError[]).map(({ field, message }) => `${field}: ${message}`).join("; ");
  const error = typeof body === "object" && body !== null ? ((body as { error?: unknown }).error ?? (body as { message?: unknown }).message) : undefined;
  return typeof error === "string" ? error : `The service answered ${status}`;
}
