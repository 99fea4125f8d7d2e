// The only place that turns an error into an answer.
import { describeError, type Logger } from "../core/logger.js";
import { ServiceError } from "../core/errors.js";
import type { Reply } from "./exchange.js";

/** What the client is told. Anything unexpected is a 500 without a word; the log has the rest. */
export function errorReply(error: unknown, logger: Logger, requestId: string): Reply {
  if (error instanceof ServiceError) {
    if (error.status >= 500) logger.warn({ requestId, status: error.status, cause: error.cause === undefined ? undefined : describeError(error.cause) }, error.message);
    return { status: error.status, json: error.body, headers: error.headers };
  }
  if (error instanceof URIError) return { status: 400, json: { error: "The path is not valid" } };
  logger.error({ requestId, error: describeError(error), stack: error instanceof Error ? error.stack : undefined }, "unexpected failure");
  return { status: 500, json: { error: "Internal server error" } };
}
