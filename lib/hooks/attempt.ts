// One attempt at one pending delivery that was taken: sent, logged, and then removed, put back or given up.
import { timestamp, type Clock } from "../core/clock.js";
import type { Logger } from "../core/logger.js";
import type { Row, Storage } from "../storage/storage.js";
import type { TenantContext, TenantRegistry } from "../tenants/context.js";
import type { HookDefinition } from "./definition.js";
import type { Dispatch } from "./dispatch.js";
import type { HookLog } from "./log-entry.js";
import { end, envelopeOf, putBack, readDelivery, type PendingDelivery } from "./pending.js";
import { delayAfter, verdict } from "./plan.js";
import { hooksTable, readHook } from "./stored.js";

export interface AttemptDeps {
  readonly storage: Storage;
  readonly tenants: TenantRegistry;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly log: HookLog;
  readonly dispatch: Dispatch;
  /** Under which name the row was taken. */
  readonly owner: string;
  readonly signal: AbortSignal;
}

/** False where the target could not take it and will be tried again. Rejects only where the store does. */
export async function sendPending(deps: AttemptDeps, tenantId: string, row: Row): Promise<boolean> {
  const { clock, owner } = deps;
  const delivery = readDelivery(row);
  const context = await deps.tenants.byId(tenantId);
  // The tenant is gone, and its store with it.
  if (context === undefined) return true;
  const { store } = context;
  const hook = await findHook(context, delivery);
  if (hook === undefined || !hook.enabled) {
    await end(store, row, owner, hook === undefined ? "removed" : { deadAfter: delivery.attempt }, clock.now());
    return true;
  }

  const startedAt = timestamp(clock);
  const result = await deps.dispatch({
    tenantId,
    hook,
    event: delivery.event,
    collection: delivery.collection,
    deliveryId: row.id,
    text: envelopeOf(row),
    allowlist: context.settings.webhookAllowlist,
    readBody: false,
    signal: deps.signal,
  });
  // Ended by our own closing: no attempt, the next start sends it.
  if (result.type === "failure" && result.reason === "aborted") {
    await putBack(store, row.id, owner, delivery.attempt, clock.now(), clock.now());
    return true;
  }

  const attempt = delivery.attempt + 1;
  const outcome = verdict(result);
  deps.log.write(tenantId, {
    hookId: hook.id,
    event: delivery.event,
    collection: delivery.collection,
    recordId: delivery.recordId,
    requestId: delivery.requestId,
    deliveryId: row.id,
    attempt,
    startedAt,
    durationMs: result.durationMs,
    status: result.status,
    outcome: outcome === "delivered" ? "delivered" : "failed",
  });
  if (outcome === "delivered") {
    await end(store, row, owner, "removed", clock.now());
    return true;
  }
  const delay = outcome === "again" ? delayAfter(attempt) : null;
  if (delay !== null) {
    await putBack(store, row.id, owner, attempt, clock.now() + delay, clock.now());
    return false;
  }
  deps.logger.warn(
    { tenantId, hookId: hook.id, deliveryId: row.id, requestId: delivery.requestId, attempt, status: result.status },
    "a hook delivery was given up; it can be sent again by hand",
  );
  await end(store, row, owner, { deadAfter: attempt }, clock.now());
  return outcome !== "again";
}

async function findHook(context: TenantContext, { hookId, event, collection }: PendingDelivery): Promise<HookDefinition | undefined> {
  const prepared = context.hooks(event, collection).find((hook) => hook.id === hookId);
  if (prepared !== undefined) return prepared;
  const row = await context.store.table(hooksTable).find(hookId);
  return row === undefined ? undefined : readHook(row);
}
