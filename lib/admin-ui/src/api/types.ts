// The shapes that the HTTP interface answers with. Definitions are the server's own types, so the two cannot drift.
export type { CollectionDefinition, Field, FieldType, FileField, Index, RuleName } from "../../../schema/collection.js";
export type { FileReference, Json, JsonObject } from "../../../core/record.js";
export type { Settings, Tenant } from "../../../core/tenant.js";
export type { FieldError } from "../../../core/errors.js";
export type { HookDefinition, HookEvent } from "../../../hooks/definition.js";
export type { ApiKey as ApiKeyEntry } from "../../../api-keys/key.js";
export type { HookLogEntry, RequestLogEntry } from "../../../logs/entries.js";
import type { FileReference, Json } from "../../../core/record.js";
import type { HookView } from "../../../hooks/stored.js";

/** A hook as it is shown: no secret, but in the answer that generated it. */
export type HookEntry = HookView;

/** A delivery of an after-hook that has not arrived. */
export interface DeliveryEntry {
  readonly id: string;
  readonly hookId: string;
  readonly event: string;
  readonly collection: string | null;
  readonly recordId: string | null;
  readonly state: string;
  readonly attempt: number;
  readonly dueAt: string | null;
  readonly createdAt: string;
}

/** A record as the data plane answers it. */
export interface RecordBody {
  readonly id: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly [field: string]: Json;
}

/** A file reference as it is presented, with its address. */
export interface PresentedFile extends FileReference { readonly url: string }

export interface RecordPage {
  readonly items: readonly RecordBody[];
  readonly offset: number;
  readonly limit: number;
  readonly hasMore: boolean;
  readonly nextCursor?: string | null;
  readonly total?: number;
}

export interface HookTest {
  readonly status: number | null;
  readonly latencyMs: number;
  readonly signature: string | null;
  readonly body: Json;
  readonly error: string | null;
}

export interface Superadmin {
  readonly username: string;
  readonly twoFactorEnabled: boolean;
  readonly recoveryCodesLeft?: number;
}
