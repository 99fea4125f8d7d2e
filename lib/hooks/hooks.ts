// The front door of hooks/, as the record pipeline and the auth routes use it.
import type { Call } from "../core/call.js";
import type { Json, JsonObject, RecordValue } from "../core/record.js";
import type { Operation } from "../storage/storage.js";
import type { TenantContext } from "../tenants/context.js";
import type { HookEvent } from "./definition.js";

/** What a hook is told about an operation. */
export interface HookSubject {
  /** Name of the collection; `users` for auth events and for beforeRequest on auth routes. */
  readonly collection: string;
  readonly recordId: string | null;
  /** The incoming payload, without secrets; null for beforeList, beforeView, beforeDelete. */
  readonly body: JsonObject | null;
  /** Before: the record before the operation. After: the record after it (afterDelete: as it last was). */
  readonly record: RecordValue | null;
}

/** How a before-chain ended, where it did not throw. */
export interface ChainOutcome {
  /** The body to go on with: the last replacement, else the one given in. Not yet validated. */
  readonly body: JsonObject | null;
  /** beforeLogin only: sign this user in without a password (`issueTokenFor`). */
  readonly issueTokenFor?: string | undefined;
}

export interface Hooks {
  /**
   * Runs the global beforeRequest hooks that match, then nothing else. Throws HookRejected or HookFailed.
   * Returns at once where none matches or the caller bypasses hooks.
   */
  beforeRequest(context: TenantContext, call: Call, subject: HookSubject): Promise<ChainOutcome>;
  /** Runs the before-hooks of the event, in-process and webhooks, by priority. Throws HookRejected or HookFailed. */
  before(context: TenantContext, call: Call, event: HookEvent, subject: HookSubject): Promise<ChainOutcome>;
  /** Whether any after-hook listens, so that a write may spare itself the work. */
  hasAfter(context: TenantContext, call: Call, event: HookEvent, collection: string): boolean;
  /** The operations that put the after-hook deliveries into the write's unit, one insert per hook. */
  after(context: TenantContext, call: Call, event: HookEvent, subject: HookSubject): Operation[];
  /** To be called once that unit is durable: wakes the deliverer and runs the in-process after-handlers. */
  committed(context: TenantContext, call: Call, event: HookEvent, subject: HookSubject): void;
}

/** The body of a delivery (interface, Delivery request). */
export interface Envelope {
  readonly service: { readonly version: 1; readonly event: string; readonly deliveryId: string; readonly timestamp: string };
  readonly context: {
    readonly collection: string;
    readonly recordId: string | null;
    readonly auth: { readonly id: string | null; readonly role: string | null };
    readonly http: { readonly method: string; readonly path: string; readonly headers: Readonly<Record<string, readonly string[]>> };
  };
  readonly data: { readonly body: Json; readonly record: RecordValue | null };
  readonly schema: { readonly fields: Json } | null;
}
