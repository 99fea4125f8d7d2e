// HookLogEntry: what is kept of one attempt or one blocking call. Metadata only, never the envelope or the answer.
import type { TenantContext } from "../tenants/context.js";

/** What came of it. The first five are of before-events, `delivered` and `failed` of after-events. */
export type HookOutcome = "allowed" | "modified" | "rejected" | "failed" | "failedOpen" | "delivered";

export interface HookLogEntry {
  readonly id: string;
  /** null: a handler in the host's own process. */
  readonly hookId: string | null;
  readonly event: string;
  readonly collection: string | null;
  readonly recordId: string | null;
  readonly requestId: string;
  readonly deliveryId: string;
  /** From 1 on; blocking calls are never repeated. */
  readonly attempt: number;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly durationMs: number;
  /** Of the HTTP answer; null where there was none. */
  readonly status: number | null;
  readonly outcome: HookOutcome;
}

/** Where entries go, and where they are found again. */
export interface HookLog {
  /** Never blocks and never throws. */
  write(tenantId: string, entry: Omit<HookLogEntry, "id">): void;
  find(context: TenantContext, id: string): Promise<HookLogEntry | undefined>;
}
