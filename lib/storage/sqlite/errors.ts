// Turns the driver's errors into those of the contract, and carries errors over the border between two threads.
import { BadRequest, InsufficientStorage, ServiceError, StorageUnavailable } from "../../core/errors.js";
import { ConditionMissed, HeadMoved, StampChanged, UniqueViolation } from "../storage.js";
import { sqliteCode } from "./driver.js";
import { fieldsOfIndex } from "./names.js";

const unavailable = /^SQLITE_(BUSY|IOERR|CANTOPEN|CORRUPT|NOTADB|READONLY|PERM|AUTH|NOMEM|LOCKED|PROTOCOL|INTERRUPT)/;

/** Whether the connection should be opened anew before its next use. */
export function isBroken(error: unknown): boolean {
  const code = sqliteCode(error);
  return unavailable.test(code) && !code.startsWith("SQLITE_BUSY");
}

/** Whether the statement named a table that is not there. */
export function isNoTable(error: unknown): boolean {
  return sqliteCode(error) === "SQLITE_ERROR" && (error as Error).message.startsWith("no such table");
}

/** The contract's error for one of the driver's or the file system's; any other is given back as it is. */
export function translate(error: unknown): unknown {
  const code = sqliteCode(error);
  if (code === "SQLITE_FULL") return new InsufficientStorage(error);
  if (unavailable.test(code)) return new StorageUnavailable(error);
  if (code === "SQLITE_ERROR" && /Expression tree is too large|too many SQL variables|parser stack overflow/.test((error as Error).message)) {
    return new BadRequest("The filter is too large: write it shorter", error);
  }
  const system = error instanceof Error && !(error instanceof ServiceError) ? (error as NodeJS.ErrnoException).code : undefined;
  if (system === "ENOSPC" || system === "EDQUOT") return new InsufficientStorage(error);
  if (system !== undefined && /^E(ACCES|PERM|IO|ROFS|NOENT|NOTDIR|MFILE|NFILE)$/.test(system)) return new StorageUnavailable(error);
  return error;
}

/** The violated index's fields where the error tells of one. */
export function violatedFields(error: unknown): string[] | undefined {
  const code = sqliteCode(error);
  if (code !== "SQLITE_CONSTRAINT_UNIQUE" && code !== "SQLITE_CONSTRAINT_PRIMARYKEY") return undefined;
  const index = /index '(.*)'$/s.exec((error as Error).message)?.[1];
  return index === undefined ? ["id"] : fieldsOfIndex(index);
}

/** An error as plain data. */
export interface PlainError {
  readonly name: string;
  readonly message: string;
  readonly code?: string | undefined;
  readonly operation?: number | undefined;
  readonly fields?: readonly string[] | undefined;
}

export function toPlainError(error: unknown): PlainError {
  if (error instanceof UniqueViolation) return { name: error.name, message: "", operation: error.operation, fields: error.fields };
  if (error instanceof ConditionMissed) return { name: error.name, message: "", operation: error.operation };
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const code = (error as { code?: unknown }).code;
  if (error instanceof StorageUnavailable && error.cause instanceof Error) return { name: error.name, message: error.cause.message };
  return { name: error.name, message: error.message, ...(typeof code === "string" ? { code } : {}) };
}

export function fromPlainError(plain: PlainError): unknown {
  switch (plain.name) {
    case "UniqueViolation":
      return new UniqueViolation(plain.operation ?? 0, plain.fields ?? []);
    case "ConditionMissed":
      return new ConditionMissed(plain.operation ?? 0);
    case "StampChanged":
      return new StampChanged();
    case "HeadMoved":
      return new HeadMoved();
    case "StorageUnavailable":
      return new StorageUnavailable(new Error(plain.message));
    case "BadRequest":
      return new BadRequest(plain.message);
    default: {
      const error = new Error(plain.message);
      error.name = plain.name;
      return translate(plain.code === undefined ? error : Object.assign(error, { code: plain.code }));
    }
  }
}
