// The deliverer: takes pending after-hook deliveries out of the tenants' stores and sends them until it is closed.
// It holds no more rows than it is sending, so a long backlog costs no memory.
import { setImmediate as turn } from "node:timers/promises";
import { newId } from "../core/ids.js";
import { watchClock, type Clock } from "../core/clock.js";
import { describeError, type Logger } from "../core/logger.js";
import type { Row, Storage } from "../storage/storage.js";
import type { TenantRegistry } from "../tenants/context.js";
import { sendPending, type AttemptDeps } from "./attempt.js";
import { createLanes, type Filled, type Lane } from "./lanes.js";
import { claim, forgetDead, hooksWithPending, leaseMs, listDue, nextDue, renew, repair } from "./pending.js";
import { createGiveUp } from "./deadline.js";
import type { Dispatch } from "./dispatch.js";
import type { HookLog } from "./log-entry.js";

export interface DelivererDeps {
  readonly storage: Storage;
  readonly tenants: TenantRegistry;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly log: HookLog;
  readonly dispatch: Dispatch;
  /** Days that dead deliveries are kept. */
  readonly keepDeadDays: number;
}

export interface Deliverer {
  /** Looks for work in every tenant, now and again every five minutes. */
  start(): void;
  /** There is, or may be, something to send for this hook. */
  wake(tenantId: string, hookId: string): void;
  /** Takes nothing more, waits up to `graceMs` for what is under way, gives the rest back. */
  close(graceMs: number): Promise<void>;
}

const sweepMs = 300_000;
/** The longest that a lane sleeps. A clock that was set forward is noticed sooner. */
const longestSleep = 60_000;
const shortestSleep = 50;
const sleepAfterFault = 5_000;

export function createDeliverer(deps: DelivererDeps): Deliverer {
  const { clock, logger, storage } = deps;
  const owner = newId(clock.now());
  const underWay = new Set<string>();
  const giveUp = createGiveUp();
  const attemptDeps: AttemptDeps = { ...deps, owner, signal: giveUp.signal };
  const lanes = createLanes(fill);
  let closing = false;
  let sweeping: Promise<void> = Promise.resolve();
  let sweepTimer: NodeJS.Timeout | undefined;
  let leaveClock = (): void => undefined;

  async function fill(lane: Lane, slots: number): Promise<Filled> {
    const jobs: Promise<boolean>[] = [];
    try {
      const store = storage.tenant(lane.tenantId);
      const rows = await listDue(store, lane.hookId, clock.now(), slots);
      let moved = false;
      for (const row of rows) {
        // Ours already, and its lease is only about to be renewed: the clock has jumped.
        if (closing || underWay.has(row.id)) continue;
        moved = true;
        if (await claim(store, row, owner, clock.now())) jobs.push(work(lane, row));
      }
      if (moved && (rows.length === slots || jobs.length < rows.length)) return { jobs, more: true, sleep: null };
      const due = await nextDue(store, lane.hookId);
      return { jobs, more: false, sleep: due === undefined ? null : Math.min(longestSleep, Math.max(shortestSleep, due - clock.now())) };
    } catch (error) {
      if (!closing) logger.warn({ ...lane, ...describeError(error) }, "pending hook deliveries could not be read; trying again");
      return { jobs, more: false, sleep: sleepAfterFault };
    }
  }

  async function work(lane: Lane, row: Row): Promise<boolean> {
    underWay.add(row.id);
    const store = storage.tenant(lane.tenantId);
    const beat = setInterval(() => void renew(store, row.id, owner, clock.now()).catch(() => undefined), leaseMs / 3);
    beat.unref();
    try {
      return await sendPending(attemptDeps, lane.tenantId, row);
    } catch (error) {
      // The lease runs out, and the delivery is taken again.
      logger.warn({ tenantId: lane.tenantId, deliveryId: row.id, ...describeError(error) }, "what became of a hook delivery could not be written; it will be sent again");
      return false;
    } finally {
      clearInterval(beat);
      underWay.delete(row.id);
    }
  }

  /** One tenant after the other: what a process left that is gone, what waits for nothing, what is too old. */
  async function sweep(): Promise<void> {
    const oldest = clock.now() - deps.keepDeadDays * 86_400_000;
    for (const tenant of await deps.tenants.list()) {
      // A read of the embedded store gives no turn to anybody: thousands in a row would hold up requests.
      await turn();
      if (closing) return;
      try {
        const store = storage.tenant(tenant.id);
        await repair(store, clock.now());
        await forgetDead(store, oldest);
        for await (const hookId of hooksWithPending(store)) lanes.wake(tenant.id, hookId);
      } catch (error) {
        if (!closing) logger.warn({ tenantId: tenant.id, ...describeError(error) }, "pending hook deliveries could not be looked for");
      }
    }
  }

  function startSweep(): void {
    sweeping = sweeping.then(sweep).catch((error: unknown) => {
      if (!closing) logger.warn(describeError(error), "pending hook deliveries could not be looked for");
    });
  }

  return {
    start() {
      if (closing || sweepTimer !== undefined) return;
      startSweep();
      leaveClock = watchClock(clock, lanes.wakeSleeping);
      sweepTimer = setInterval(startSweep, sweepMs);
      sweepTimer.unref();
    },
    wake: (tenantId, hookId) => lanes.wake(tenantId, hookId),
    async close(graceMs) {
      closing = true;
      clearInterval(sweepTimer);
      leaveClock();
      lanes.stop();
      const grace = setTimeout(() => giveUp.abort(), graceMs);
      await sweeping;
      await lanes.idle();
      clearTimeout(grace);
    },
  };
}
