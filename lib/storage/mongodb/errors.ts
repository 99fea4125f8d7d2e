// Turns the driver's errors into those of the contract. Told by name and code, since the driver is loaded late.
import { BadRequest, InsufficientStorage, ServiceError, StorageUnavailable } from "../../core/errors.js";

const unavailable = /^(MongoNetwork|MongoServerSelection|MongoNotConnected|MongoTopologyClosed|MongoClientClosed|MongoWaitQueueTimeout|MongoPoolCleared|MongoPoolClosed|MongoExpiredSession|MongoOperationTimeout|MongoWriteConcern|MongoServerClosed)/;
/** Not the primary, shutting down, interrupted, time limits, write concern. */
const unavailableCodes = new Set([6, 7, 50, 64, 89, 91, 100, 112, 189, 262, 9001, 10058, 10107, 11600, 11602, 13435, 13436]);
/** Authentication failed: of MongoDB, and of Atlas. */
const signInCodes = new Set([18, 8000]);
const duplicate = 11000;

/** The server's code of the error, where it has one. */
export function codeOf(error: unknown): number | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "number" ? code : undefined;
}

export function isDuplicate(error: unknown): boolean {
  return codeOf(error) === duplicate;
}

/** The same as a failed write of many: every single fault is a taken id. */
export function onlyDuplicates(error: unknown): boolean {
  return isDuplicate(error) && writeErrors(error).every(isDuplicate);
}

function writeErrors(error: unknown): readonly unknown[] {
  const faults = (error as { writeErrors?: unknown } | null)?.writeErrors;
  return Array.isArray(faults) ? (faults as unknown[]) : faults === undefined ? [] : [faults];
}

/** The fault of a URL that the driver does not take. Tells of the URL only hosts and names of options. */
export function unusable(error: unknown): TypeError {
  const message = error instanceof Error ? error.message.replace(/,? got:? .*$/s, "") : "";
  return new TypeError(`the mongodb:// URL cannot be used: ${message}`);
}

/** The same for what comes to light when one connects; undefined where the error is about the servers. */
export function urlFault(error: unknown): TypeError | undefined {
  const code = codeOf(error);
  if (code !== undefined && signInCodes.has(code)) return new TypeError("the servers refuse the user or the password of the mongodb:// URL, or the way of signing in (authSource, authMechanism)");
  return error instanceof Error && error.name === "MongoParseError" ? unusable(error) : undefined;
}

/** For what no document of MongoDB can hold: 16 MiB, in which the log repeats a changed row. */
export function tooLarge(cause?: unknown): BadRequest {
  return new BadRequest("This is too large for one write to MongoDB (about 16 MB, in which a changed record counts twice): write less at a time", cause);
}

/** The contract's error for one of the driver's; any other is given back as it is. */
export function translate(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ServiceError) return error;
  if (unavailable.test(error.name)) return new StorageUnavailable(error);
  const code = codeOf(error);
  if (code === 10334 || (code === undefined && error.name === "MongoInvalidArgumentError" && error.message.includes("larger than"))) {
    return tooLarge(error);
  }
  // The names of a mongodb+srv:// URL cannot be looked up.
  if (/^query(?:Srv|Txt|A)/.test(String((error as { syscall?: unknown }).syscall))) return new StorageUnavailable(error);
  if (code !== undefined && signInCodes.has(code)) return new StorageUnavailable(error);
  if (code === 14031) return new InsufficientStorage(error);
  if (code !== undefined && unavailableCodes.has(code)) return new StorageUnavailable(error);
  // A connection that broke in a write of many is told as a fault of the write, with nothing of the server's in it.
  if (code === undefined && error.name === "MongoBulkWriteError" && writeErrors(error).length === 0) return new StorageUnavailable(error);
  return error;
}
