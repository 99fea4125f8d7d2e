// The single superadmin's row in the system store, and how it is read.
import type { Row, Storage } from "../storage/storage.js";

/** The id of the only row, and of the superadmin as a caller. */
export const superadminId = "superadmin";
export const superadminTable = "superadmin";
/** Changes of the superadmin that end sessions and tokens are logged in the system store under this name. */
export const superadminLog = { collection: "$superadmin", content: "id" } as const;

/** What the row says, typed. Secrets are in its hidden columns. */
export interface Superadmin {
  readonly username: string;
  readonly createdAt: string;
  readonly twoFactorEnabled: boolean;
  /** The last time step of which a TOTP code was taken. */
  readonly totpStep: number;
  /** PHC string. */
  readonly passwordHash: string;
  /** Raised by every change that ends the sessions and tokens made before. */
  readonly generation: number;
  /** Sealed; null without second factor. */
  readonly totpSecret: string | null;
  /** Sealed; null where no enrolment is under way. */
  readonly pendingTotpSecret: string | null;
  /** JSON text of the hashes of unused recovery codes; null without second factor. */
  readonly recoveryHashes: string | null;
  readonly pendingRecoveryHashes: string | null;
  /** Wrong codes since `codeFailuresSince`, over all attempts. */
  readonly codeFailures: number;
  /** Milliseconds since the epoch. */
  readonly codeFailuresSince: number;
}

/** The hidden columns of a superadmin who has just been set up with this hash. */
export function freshColumns(passwordHash: string): Record<string, string | number | null> {
  return {
    passwordHash,
    totpSecret: null,
    pendingTotpSecret: null,
    recoveryHashes: null,
    pendingRecoveryHashes: null,
    codeFailures: 0,
    codeFailuresSince: 0,
  };
}

/** The superadmin as he is now; undefined before the first setup. */
export async function readSuperadmin(storage: Storage): Promise<Superadmin | undefined> {
  const row = await storage.system.table(superadminTable).find(superadminId);
  return row === undefined ? undefined : fromRow(row);
}

function fromRow({ record, hidden }: Row): Superadmin {
  return {
    username: String(record["username"]),
    createdAt: record.createdAt,
    twoFactorEnabled: record["twoFactorEnabled"] === true,
    totpStep: Number(record["totpStep"] ?? 0),
    passwordHash: String(hidden["passwordHash"] ?? ""),
    generation: Number(hidden["generation"] ?? 0),
    totpSecret: textOrNull(hidden["totpSecret"]),
    pendingTotpSecret: textOrNull(hidden["pendingTotpSecret"]),
    recoveryHashes: textOrNull(hidden["recoveryHashes"]),
    pendingRecoveryHashes: textOrNull(hidden["pendingRecoveryHashes"]),
    codeFailures: Number(hidden["codeFailures"] ?? 0),
    codeFailuresSince: Number(hidden["codeFailuresSince"] ?? 0),
  };
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
