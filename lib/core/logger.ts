// What the service asks of a logger. pino fits as it is, and so do most others.

/** A pino-compatible logger: `(fields, message)`. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** What of a thrown value may stand in a log: its class, code and message. Never its options, input or stack. */
export function describeError(error: unknown): { name: string; message: string; code?: string } {
  if (!(error instanceof Error)) return { name: "Error", message: "a value that is no Error was thrown" };
  const code = (error as { code?: unknown }).code;
  return { name: error.name, message: error.message, ...(typeof code === "string" ? { code } : {}) };
}
