// The front doors of auth/ and users/, as http/, records/ and host code use them.
import type { Call, Caller } from "../core/call.js";
import type { FieldError } from "../core/errors.js";
import type { Json, JsonObject, RecordValue, Scalar } from "../core/record.js";
import type { Hidden, Operation, Row } from "../storage/storage.js";
import type { TenantContext } from "../tenants/context.js";

export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly tokenType: "Bearer";
  /** Seconds. */
  readonly expiresIn: number;
}

export interface Identity {
  readonly caller: Caller;
  /** The credential's tenant; null for the superadmin, who names one. */
  readonly context: TenantContext | null;
}

/** Turns a credential into a caller. */
export interface Authenticator {
  /**
   * From the text of an `Authorization` header (access token, API key or admin token) and the TCP peer's address.
   * Throws CredentialRejected. undefined: no such header at all.
   */
  authenticate(authorization: string | undefined, peer: string | undefined): Promise<Identity | undefined>;
}

/** What the record pipeline leaves to users/ on the built-in collection. */
export interface UserPolicy {
  /** Parts a client's body: `role`, `emailVerified`, hidden names and secrets are taken out; the rest is what hooks see and what is validated. */
  split(body: JsonObject): { readonly body: JsonObject; readonly secrets: UserSecrets };
  /** Entries for a password that is missing (create) or of a wrong length. */
  check(secrets: UserSecrets, mode: "create" | "update"): FieldError[];
  /**
   * Before the before-hooks of an update: whether a credential change is allowed to this caller, with the proof by
   * `oldPassword` where it is his own account. Throws Forbidden, ValidationFailed (oldPassword), TooManyRequests.
   */
  authorize(context: TenantContext, call: Call, row: Row, body: JsonObject, secrets: UserSecrets): Promise<void>;
  /** System-managed members and hidden columns of a new user. Hashes the password: TooManyRequests. */
  createColumns(secrets: UserSecrets): Promise<{ readonly record: Readonly<Record<string, Json>>; readonly hidden: Hidden }>;
  /** What an update adds: hash, emailVerified, dropped one-time tokens, a raised generation, and the conditions that keep races out. */
  updateColumns(row: Row, set: Readonly<Record<string, Json>>, secrets: UserSecrets): Promise<UserColumns>;
  /** What goes with a user that is removed: refresh families, API keys (revoked). */
  removeOperations(context: TenantContext, userId: string): Promise<Operation[]>;
}

export interface UserSecrets {
  /** undefined: not in the body, or empty on an update. */
  readonly password?: unknown;
  readonly oldPassword?: unknown;
}

export interface UserColumns {
  readonly set: Readonly<Record<string, Json>>;
  readonly setHidden: Hidden;
  readonly increment: Readonly<Record<string, number>>;
  readonly hiddenIs: Hidden;
}

/**
 * Hidden columns of a user row: `passwordHash` (PHC, or raw base64 where legacy), `passwordSalt` (legacy only),
 * `generation` (number), `active` (boolean), `resetHash`, `resetExpires` (ms), `verifyHash`, `verifyExpires` (ms),
 * `revokedFamilies` (JSON text of [familyId, untilMs][]).
 */
export type UserHidden = Readonly<Record<string, Scalar>>;

/** What of a user row a caller carries: the public record, with `role`. */
export type UserRecord = RecordValue;
