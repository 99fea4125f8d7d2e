// Turns the driver's errors into those of the contract. Told by name and code, since the driver is loaded late.
import { BadRequest, InsufficientStorage, ServiceError, StorageUnavailable } from "../../core/errors.js";

const unavailable = /^(MongoNetwork|MongoServerSelection|MongoNotConnected|MongoTopologyClosed|MongoClientClosed|MongoWaitQueueTimeout|MongoPoolCleared|MongoPoolClosed|MongoExpiredSession|MongoOperationTimeout|MongoWriteConcern|MongoServerClosed)/;
/** Not the primary, shutting down, interrupted, time limits, write concern. */
const unavailableCodes = new Set([6, 7, 50, 64, 89, 91, 100, 112, 189, 262, 9001, 10058, 10107, 11600, 11602, 13435, 13436]);
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
  if (code === 14031) return new InsufficientStorage(error);
  if (code !== undefined && unavailableCodes.has(code)) return new StorageUnavailable(error);
  // A connection that broke in a write of many is told as a fault of the write, with nothing of the server's in it.
  if (code === undefined && error.name === "MongoBulkWriteError" && writeErrors(error).length === 0) return new StorageUnavailable(error);
  return error;
}
