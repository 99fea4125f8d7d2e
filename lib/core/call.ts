// Call: all that the service may know of a request, as plain immutable data. Made once, by http/ or by host code;
// always the first argument. Nothing of Express below http/.
import type { RecordValue } from "./record.js";
import type { Tenant } from "./tenant.js";

export type Caller =
  | { readonly type: "guest" }
  | UserCaller
  | KeyCaller
  /** `expiresAt`: when the token or session presented expires, milliseconds since the epoch, where it does. */
  | { readonly type: "superadmin"; readonly id: string; readonly expiresAt?: number | null }
  /** Host code that said `.as("system")`: no rules; hooks and validation still apply. */
  | { readonly type: "system" };

export interface UserCaller {
  readonly type: "user";
  /** The user's record as it is now, with `role`, without anything hidden. */
  readonly user: RecordValue;
  /** The refresh family of the token presented, null for an issued or in-process identity. */
  readonly familyId: string | null;
  /** When the token presented expires, milliseconds since the epoch; null without a token. */
  readonly expiresAt: number | null;
}

export interface KeyCaller {
  readonly type: "apiKey";
  /** The record of the user that the key is bound to. */
  readonly user: RecordValue;
  readonly keyId: string;
  readonly keyName: string;
  readonly bypassRules: boolean;
  readonly bypassHooks: boolean;
  /** Milliseconds since the epoch; null where the key has no expiry. */
  readonly expiresAt: number | null;
}

/** Facts of the request that hooks and logs may tell. */
export interface RequestFacts {
  readonly requestId: string;
  readonly method: string;
  /** Path below the mount path, without the query. */
  readonly path: string;
  /** Lower-case names. Only what the service may ever forward: never a credential. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  /** Where the router is mounted (`/backend`, or empty), for links to files. */
  readonly mountPath: string;
}

export interface Call {
  readonly tenant: Tenant;
  readonly caller: Caller;
  readonly request: RequestFacts;
  /** Milliseconds spent in blocking hooks, added up for the request log. */
  readonly meter: { hookMs: number };
}

/** The record of the caller's user, null for guests, superadmins and the system. */
export function callerUser(caller: Caller): RecordValue | null {
  return caller.type === "user" || caller.type === "apiKey" ? caller.user : null;
}

/** Whether collection rules are not asked for this caller. */
export function bypassesRules(caller: Caller): boolean {
  return caller.type === "superadmin" || caller.type === "system" || (caller.type === "apiKey" && caller.bypassRules);
}

/** Whether no hook runs for this caller. */
export function bypassesHooks(caller: Caller): boolean {
  return caller.type === "apiKey" && caller.bypassHooks;
}
