// Membership: what one subscribe has set up: whose credential, as which person, for which collections and records.
import { bypassesRules, type Caller } from "../core/call.js";
import type { RecordValue } from "../core/record.js";
import type { RecordEvent } from "./record-event.js";
import type { Wanted } from "./subscriptions.js";

/** Who receives events: a stream, or an iterator of host code. */
export interface Subscriber {
  readonly mountPath: string;
  deliver(event: RecordEvent): void;
  /** The history does not reach back to `since`. */
  resync(position: string): void;
  /** Where in the history the subscription begins. */
  position(position: string): void;
  /** Resolves once the subscriber can take more of a replay. */
  ready(): Promise<void>;
  /** A collection is removed, or its realtime is off now: nothing of it comes any more. */
  collectionGone(): void;
  /** The subscription is over: expired, revoked, removed. */
  end(): void;
  /** It cannot be served on; the receiver may come back with `since`. */
  abort(): void;
}

/** What a subscription hangs on: when one of these goes, it ends. */
export interface Credential {
  readonly type: Caller["type"];
  readonly userId: string | null;
  readonly keyId: string | null;
  readonly familyId: string | null;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number | null;
  /** Collection rules are not asked. */
  readonly bypasses: boolean;
  /** Ends when the user's tokens are revoked. Host code holds no token. */
  readonly revocable: boolean;
}

export function credentialOf(caller: Caller, revocable: boolean): Credential {
  return {
    type: caller.type,
    userId: caller.type === "user" || caller.type === "apiKey" ? caller.user.id : null,
    keyId: caller.type === "apiKey" ? caller.keyId : null,
    familyId: caller.type === "user" ? caller.familyId : null,
    expiresAt: caller.type === "user" || caller.type === "apiKey" || caller.type === "superadmin" ? (caller.expiresAt ?? null) : null,
    // A key's `bypassRules` holds on /api/collections alone (interface, Rules for API keys); events are always for its user.
    bypasses: caller.type !== "apiKey" && bypassesRules(caller),
    revocable,
  };
}

/** The `@auth` of rules: one for all subscriptions of a user, so that a change of the user is read once. */
export interface Person {
  /** null for guests and for those whom no rule is asked for. */
  auth: RecordValue | null;
  readonly bypasses: boolean;
}

export class Membership {
  /** Set when it is over; a membership that is not yet in force then never comes into it. */
  hasEnded = false;
  /** The generation of the user's tokens when it was set up. */
  generation: number | null = null;

  constructor(
    readonly tenantId: string,
    readonly subscriber: Subscriber,
    readonly credential: Credential,
    readonly wanted: Wanted,
    readonly person: Person,
    /** Whether this membership is the one in force for its subscriber. */
    readonly isCurrent: (membership: Membership) => boolean,
  ) {}

  end(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    if (this.isCurrent(this)) this.subscriber.end();
  }
}
