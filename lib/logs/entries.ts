// The entries of the two logs, and the short form in which they are stored: a list of values without names, in an
// order that only ever grows at its end.
import type { Rejection } from "../core/errors.js";
import type { Json } from "../core/record.js";
import type { HookLogEntry, HookOutcome } from "../hooks/log-entry.js";

export interface RequestLogEntry {
  readonly id: string;
  readonly requestId: string;
  /** When the request came, ISO 8601. */
  readonly time: string;
  readonly method: string;
  /** Below the mount path, without the query. */
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
  /** Of these, spent in blocking hooks. */
  readonly hookMs: number;
  readonly caller: {
    readonly type: "guest" | "user" | "apiKey" | "superadmin";
    /** Of the user or the API key. */
    readonly id: string | null;
    readonly keyName: string | null;
  };
  readonly rulesBypassed: boolean;
  readonly hooksBypassed: boolean;
  readonly rejection: Rejection | null;
}

export type { HookLogEntry, HookOutcome };

/** What is written of a request; `startedAt` in milliseconds since the epoch. */
export type NewRequestLogEntry = Omit<RequestLogEntry, "id" | "time"> & { readonly startedAt: number };
export type NewHookLogEntry = Omit<HookLogEntry, "id">;

export function packRequest(entry: NewRequestLogEntry): Json {
  const { caller } = entry;
  const bypassed = (entry.rulesBypassed ? 1 : 0) + (entry.hooksBypassed ? 2 : 0);
  return [
    entry.requestId, entry.startedAt, entry.method, entry.path, entry.status, entry.durationMs, entry.hookMs,
    caller.type, caller.id, caller.keyName, bypassed, entry.rejection,
  ];
}

export function unpackRequest(stored: Json, id: string): RequestLogEntry {
  const [requestId, startedAt, method, path, status, durationMs, hookMs, type, callerId, keyName, bypassed, rejection] = stored as unknown as [
    string, number, string, string, number, number, number, RequestLogEntry["caller"]["type"], string | null, string | null, number, Rejection | null,
  ];
  return {
    id, requestId, time: new Date(startedAt).toISOString(), method, path, status, durationMs, hookMs,
    caller: { type, id: callerId, keyName }, rulesBypassed: (bypassed & 1) !== 0, hooksBypassed: (bypassed & 2) !== 0, rejection,
  };
}

export function packHookCall(entry: NewHookLogEntry): Json {
  return [
    entry.hookId, entry.event, entry.collection, entry.recordId, entry.requestId, entry.deliveryId, entry.attempt,
    entry.startedAt, entry.durationMs, entry.status, entry.outcome,
  ];
}

export function unpackHookCall(stored: Json, id: string): HookLogEntry {
  const [hookId, event, collection, recordId, requestId, deliveryId, attempt, startedAt, durationMs, status, outcome] = stored as unknown as [
    string, string, string | null, string | null, string, string, number, string, number, number | null, HookOutcome,
  ];
  return { id, hookId, event, collection, recordId, requestId, deliveryId, attempt, startedAt, durationMs, status, outcome };
}
