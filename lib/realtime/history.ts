// History: how far back `since` reaches. Keeps each tenant's change log at the length of the option.
import { describeError, type Logger } from "../core/logger.js";
import type { ChangeLog, Storage } from "../storage/storage.js";
import type { TenantRegistry } from "../tenants/context.js";

/** Milliseconds between two rounds over all tenants. */
const roundInterval = 3_600_000;

export interface History {
  /** Told of changes that were worked through: a busy tenant is trimmed without waiting for the round. */
  worked(tenantId: string, log: ChangeLog, count: number): void;
  /** Trims the logs of all tenants. */
  trim(): Promise<void>;
  stop(): void;
}

export function createHistory({ tenants, storage, logger, keep }: { readonly tenants: TenantRegistry; readonly storage: Storage; readonly logger: Logger; readonly keep: number }): History {
  const untrimmed = new Map<string, number>();
  const step = Math.max(100, Math.floor(keep / 10));
  let isStopped = false;

  async function trimOne(log: ChangeLog): Promise<void> {
    try {
      await log.trim(keep);
    } catch (error) {
      logger.warn({ error: describeError(error) }, "the change history could not be trimmed");
    }
  }

  async function trim(): Promise<void> {
    for (const tenant of await tenants.list()) {
      if (isStopped) return;
      await trimOne(storage.tenant(tenant.id).changes);
    }
  }

  const timer = setInterval(() => {
    trim().catch((error: unknown) => logger.warn({ error: describeError(error) }, "the change history could not be trimmed"));
  }, roundInterval).unref();

  return {
    worked(tenantId, log, count) {
      const total = (untrimmed.get(tenantId) ?? 0) + count;
      if (total < step) {
        untrimmed.set(tenantId, total);
        return;
      }
      untrimmed.delete(tenantId);
      void trimOne(log);
    },
    trim,
    stop() {
      isStopped = true;
      clearInterval(timer);
      untrimmed.clear();
    },
  };
}
