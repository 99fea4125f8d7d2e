// The front doors of auth/ and users/, as http/, records/ and host code use them.
import type { Call, Caller } from "../core/call.js";
import type { FieldError } from "../core/errors.js";
import type { Json, JsonObject, RecordValue, Scalar } from "../core/record.js";
import type { Hidden, Operation, Row } from "../storage/storage.js";
import type { TenantContext } from "../tenants/context.js";
import type { Origin } from "./origin.js";

export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly tokenType: "Bearer";
  /** Seconds. */
  readonly expiresIn: number;
}

/** A new account, in its outgoing shape. */
export interface Registered {
  readonly id: string;
  readonly revision: number;
  readonly record: RecordValue;
  /** The record as JSON text. */
  readonly text: string;
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

/** Signing up, in and out (contract 6). A context that is undefined stands for an unknown tenant. */
export interface Auth {
  /** `{ username, email?, password, …custom fields }`; the new account as GET by id gives it. Throws Forbidden("Registration is disabled"), ValidationFailed, TooManyRequests, HookRejected, HookFailed. */
  register(context: TenantContext | undefined, origin: Origin, input: JsonObject): Promise<Registered>;
  /** `{ username, password }`. Throws Unauthorized("Invalid credentials"), Forbidden("Email not verified"), TooManyRequests, HookRejected, HookFailed. */
  login(context: TenantContext | undefined, origin: Origin, input: JsonObject): Promise<TokenPair>;
  /** `{ refreshToken }`; the tenant is the token's. Throws Unauthorized, HookRejected, HookFailed. */
  refresh(origin: Origin, input: JsonObject): Promise<TokenPair>;
  /** The tenant whose refresh token this is; undefined where the service never issued it. Says nothing about whether it is still good. */
  tenantOf(refreshToken: unknown): Promise<TenantContext | undefined>;
  /** `{ scope? }`: all tokens of the caller's user, or with `session` those of the session presented. Throws Unauthorized, ValidationFailed, HookRejected, HookFailed. */
  logout(context: TenantContext, call: Call, input?: JsonObject): Promise<void>;
  /** The caller's own record, without `role`. Throws Unauthorized, HookRejected, HookFailed. */
  me(context: TenantContext, call: Call): Promise<RecordValue>;
  /** `{ userId }`: tokens of another user, for those among the token issuers. Throws Unauthorized, Forbidden, ValidationFailed, NotFound, HookRejected, HookFailed. */
  issueToken(context: TenantContext, call: Call, input: JsonObject): Promise<TokenPair>;
}

/** What the record pipeline leaves to users/ on the built-in collection. */
export interface UserPolicy {
  /** Parts a client's body: `role`, `emailVerified`, hidden names and secrets are taken out; the rest is what hooks see and what is validated. */
  split(body: JsonObject): { readonly body: JsonObject; readonly secrets: UserSecrets };
  /** Entries for a password that is missing (create) or of a wrong length. */
  check(secrets: UserSecrets, mode: "create" | "update"): FieldError[];
  /**
   * Refuses a credential change to whoever is neither the account's owner nor free of rules: 403 whatever the update
   * rule says, and whether there is such an account or not. `visible`: the row where the caller may view it.
   */
  demandOwner(call: Call, userId: string, visible: Row | undefined, body: JsonObject, secrets: UserSecrets): void;
  /**
   * Before the before-hooks of an update: whether a credential change is allowed to this caller, with the proof by
   * `oldPassword` where it is his own account. Throws Forbidden, ValidationFailed (oldPassword), TooManyRequests.
   */
  authorize(context: TenantContext, call: Call, row: Row, body: JsonObject, secrets: UserSecrets): Promise<void>;
  /** System-managed members and hidden columns of a new user. Hashes the password: TooManyRequests. */
  createColumns(secrets: UserSecrets, system?: SystemColumns): Promise<{ readonly record: Readonly<Record<string, Json>>; readonly hidden: Hidden }>;
  /** What an update adds: hash, emailVerified, dropped one-time tokens, a raised generation, and the conditions that keep races out. */
  updateColumns(row: Row, set: Readonly<Record<string, Json>>, secrets: UserSecrets, system?: SystemColumns): Promise<UserColumns>;
  /** What goes with a user that is removed: refresh families, API keys (revoked). */
  removeOperations(context: TenantContext, userId: string): Promise<Operation[]>;
}

/** System-managed members and hidden columns of an account, set by the superadmin's editor alone. */
export interface SystemColumns {
  /** `role`, `emailVerified`. */
  readonly record: Readonly<Record<string, Json>>;
  /** `active`, and a hash that is brought along: `passwordHash`, `passwordSalt`. */
  readonly hidden: Hidden;
  /** The hidden columns hold a hash, so no password is needed. */
  readonly hasHash: boolean;
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
