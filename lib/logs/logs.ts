// The front door of logs/: the request log and the hook log, of each tenant and, where the tenant is unknown, of the
// instance (contract 7). Metadata only: no bodies, no query values, no credentials.
import type { Clock } from "../core/clock.js";
import type { Rejection } from "../core/errors.js";
import type { Logger } from "../core/logger.js";
import type { Storage, Store } from "../storage/storage.js";
import type { TenantContext, TenantRegistry } from "../tenants/context.js";
import { createAppendLog, type AppendLog, type LogEntryBase } from "./append-log.js";
import { findInLog, readLog, type LogPage, type LogQuery } from "./read-log.js";
import type { Retention } from "./retention.js";

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

export type HookOutcome = "allowed" | "modified" | "rejected" | "failed" | "failedOpen" | "delivered";

export interface HookLogEntry {
  readonly id: string;
  readonly hookId: string;
  readonly event: string;
  readonly collection: string | null;
  readonly recordId: string | null;
  readonly requestId: string;
  readonly deliveryId: string;
  /** 1 for the first. */
  readonly attempt: number;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly durationMs: number;
  /** HTTP status of the hook's answer; null where there was none. */
  readonly status: number | null;
  readonly outcome: HookOutcome;
}

export interface RequestLogQuery extends LogQuery {
  readonly requestId?: string | undefined;
  /** Requests that an API key made, or that were refused in its name. */
  readonly keyId?: string | undefined;
  readonly status?: number | undefined;
}

export interface HookLogQuery extends LogQuery {
  readonly hookId?: string | undefined;
  readonly requestId?: string | undefined;
  readonly status?: number | undefined;
}

export interface Logs {
  readonly requests: {
    /** Takes the entry and returns at once. `tenantId`: null where the tenant is unknown. */
    write(tenantId: string | null, entry: Omit<RequestLogEntry, "id">): void;
    /** Newest first. `context`: null for the instance's own. */
    list(context: TenantContext | null, query: RequestLogQuery): Promise<LogPage<RequestLogEntry>>;
  };
  readonly hooks: {
    write(tenantId: string, entry: Omit<HookLogEntry, "id">): void;
    list(context: TenantContext, query: HookLogQuery): Promise<LogPage<HookLogEntry>>;
    find(context: TenantContext, id: string): Promise<HookLogEntry | undefined>;
  };
  /** Resolves when all that was written before is in the store. */
  flush(): Promise<void>;
  /** To be called before a tenant is removed: what waits for it is thrown away. */
  forget(tenantId: string): void;
  /** Writes what waits and stops. */
  close(): Promise<void>;
}

export interface LogsDeps {
  readonly storage: Storage;
  /** Tells whether a tenant is still there, so that a late entry does not bring its store back. */
  readonly tenants: Pick<TenantRegistry, "byId">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly retention: Retention;
}

const requestTable = "request_log";
const hookTable = "hook_log";

export function createLogs(deps: LogsDeps): Logs {
  const { storage, tenants, clock, logger, retention } = deps;
  const store = async (owner: string | null): Promise<Store | undefined> => (owner === null ? storage.system : (await tenants.byId(owner))?.store);
  const open = <Entry extends LogEntryBase>(table: string): AppendLog<Entry> => createAppendLog<Entry>({ table, clock, logger, retention, store });
  const requests = open<RequestLogEntry>(requestTable);
  const hooks = open<HookLogEntry>(hookTable);

  return {
    requests: {
      write: requests.write,
      async list(context, query) {
        await requests.flush(context?.tenant.id ?? null);
        return readLog<RequestLogEntry>({
          store: context?.store ?? storage.system, table: requestTable, retention, now: clock.now(), ...page(query),
          matches: (entry) =>
            isWanted(query.requestId, entry.requestId) && isWanted(query.status, entry.status) &&
            (query.keyId === undefined || (entry.caller.type === "apiKey" && entry.caller.id === query.keyId)),
        });
      },
    },
    hooks: {
      write: hooks.write,
      async list(context, query) {
        await hooks.flush(context.tenant.id);
        return readLog<HookLogEntry>({
          store: context.store, table: hookTable, retention, now: clock.now(), ...page(query),
          matches: (entry) => isWanted(query.hookId, entry.hookId) && isWanted(query.requestId, entry.requestId) && isWanted(query.status, entry.status),
        });
      },
      async find(context, id) {
        await hooks.flush(context.tenant.id);
        return findInLog<HookLogEntry>({ store: context.store, table: hookTable, id });
      },
    },
    async flush() {
      await Promise.all([requests.flushAll(), hooks.flushAll()]);
    },
    forget(tenantId) {
      requests.forget(tenantId);
      hooks.forget(tenantId);
    },
    async close() {
      await Promise.all([requests.close(), hooks.close()]);
    },
  };
}

function isWanted(wanted: unknown, value: unknown): boolean {
  return wanted === undefined || wanted === value;
}

function page({ limit, cursor }: LogQuery): LogQuery {
  return { limit, cursor };
}
