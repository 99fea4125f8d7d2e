// The front door of logs/: the request log and the hook log, of each tenant and, where the tenant is unknown, of the
// instance (contract 7). Metadata only: no bodies, no query values, no credentials.
import type { Clock } from "../core/clock.js";
import type { Logger } from "../core/logger.js";
import type { Storage, Store } from "../storage/storage.js";
import type { TenantContext, TenantRegistry } from "../tenants/context.js";
import { createAppendLog } from "./append-log.js";
import { packHookCall, packRequest, unpackHookCall, unpackRequest, type HookLogEntry, type NewHookLogEntry, type NewRequestLogEntry, type RequestLogEntry } from "./entries.js";
import { findInLog, readLog, type LogPage, type LogQuery } from "./read-log.js";
import type { Retention } from "./retention.js";

export type { HookLogEntry, HookOutcome, NewHookLogEntry, NewRequestLogEntry, RequestLogEntry } from "./entries.js";

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
    write(tenantId: string | null, entry: NewRequestLogEntry): void;
    /** Newest first. `context`: null for the instance's own. */
    list(context: TenantContext | null, query: RequestLogQuery): Promise<LogPage<RequestLogEntry>>;
  };
  readonly hooks: {
    write(tenantId: string, entry: NewHookLogEntry): void;
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
  const common = { clock, logger, retention, store };
  const requests = createAppendLog<NewRequestLogEntry>({ table: requestTable, pack: packRequest, ...common });
  const hooks = createAppendLog<NewHookLogEntry>({ table: hookTable, pack: packHookCall, ...common });

  return {
    requests: {
      write: requests.write,
      async list(context, query) {
        await requests.flush(context?.tenant.id ?? null);
        return readLog({
          store: context?.store ?? storage.system, table: requestTable, unpack: unpackRequest, retention, now: clock.now(), ...page(query),
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
        return readLog({
          store: context.store, table: hookTable, unpack: unpackHookCall, retention, now: clock.now(), ...page(query),
          matches: (entry) => isWanted(query.hookId, entry.hookId) && isWanted(query.requestId, entry.requestId) && isWanted(query.status, entry.status),
        });
      },
      async find(context, id) {
        await hooks.flush(context.tenant.id);
        return findInLog({ store: context.store, table: hookTable, unpack: unpackHookCall, id });
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
