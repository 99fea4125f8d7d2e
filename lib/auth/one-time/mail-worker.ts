// Sends the mails that wait in the tenants' stores: tenants by turns, a few at a time, its own and what processes left
// that are gone. It holds no more jobs than it is sending.
import { setImmediate as turn } from "node:timers/promises";
import { describeError } from "../../core/logger.js";
import type { Row } from "../../storage/storage.js";
import type { OneTimeDeps } from "./deps.js";
import { dropOld, nextDue, removeJob } from "./mail-jobs.js";
import { takeMail, type TakenMail } from "./take-mail.js";

const mostAtATime = 5;
/** Milliseconds between two looks at all tenants, and for each tenant, where that is more. */
const lookMs = { least: 60_000, perTenant: 30 } as const;
/** Milliseconds: the longest that a tenant's timer sleeps, so that a clock that was set is noticed. */
const sleepMs = { least: 50, most: 60_000, afterFault: 5_000 } as const;

export interface MailWorker {
  /** Looks for work in every tenant, now and again from time to time. */
  start(): void;
  /** There may be work for this tenant. */
  wake(tenantId: string): void;
  /** Resolves once nothing is due and nothing is under way. */
  idle(): Promise<void>;
  /** Gives what is due up to these milliseconds; the rest stays in the stores. */
  close(ms: number): Promise<void>;
}

export function createMailWorker(deps: OneTimeDeps): MailWorker {
  const { storage, tenants, outgoing, clock, logger } = deps;
  /** Tenants that may have work, in turns. */
  const waiting = new Set<string>();
  const timers = new Map<string, NodeJS.Timeout>();
  const listeners: (() => void)[] = [];
  let active = 0;
  let taking: Promise<void> | undefined;
  let looking: Promise<void> | undefined;
  let lookTimer: NodeJS.Timeout | undefined;
  let closing = false;
  let stopped = false;

  function pump(): void {
    if (taking !== undefined) return;
    if (!stopped && active < mostAtATime && waiting.size > 0) {
      taking = takeSome().finally(() => {
        taking = undefined;
        pump();
      });
    } else if (active === 0) {
      for (const listener of listeners.splice(0)) listener();
    }
  }

  async function takeSome(): Promise<void> {
    for (let [tenantId] = waiting; tenantId !== undefined && !stopped && active < mostAtATime; [tenantId] = waiting) {
      waiting.delete(tenantId);
      try {
        const taken = await takeMail(deps, tenantId);
        if (taken === "none") await sleepUntilDue(tenantId);
        else if (taken !== "gone") waiting.add(tenantId);
        // What is taken too late for this process is another's once its lease has ended.
        if (typeof taken === "object" && !stopped) void send(tenantId, taken);
      } catch (error) {
        if (!closing) logger.warn({ tenantId, error: describeError(error) }, "mails that wait could not be read; trying again");
        wakeLater(tenantId, sleepMs.afterFault);
      }
    }
  }

  async function send(tenantId: string, { mail, job }: TakenMail): Promise<void> {
    active += 1;
    await outgoing.send(mail);
    await settle(tenantId, job);
    active -= 1;
    pump();
  }

  async function settle(tenantId: string, job: Row): Promise<void> {
    try {
      await removeJob(storage.tenant(tenantId), job);
    } catch (error) {
      if (!stopped) logger.warn({ tenantId, error: describeError(error) }, "what became of a mail could not be written; it may be sent again");
    }
  }

  async function sleepUntilDue(tenantId: string): Promise<void> {
    const due = await nextDue(storage.tenant(tenantId));
    if (due !== undefined) wakeLater(tenantId, Math.min(sleepMs.most, Math.max(sleepMs.least, due - clock.now())));
  }

  function wakeLater(tenantId: string, delay: number): void {
    clearTimeout(timers.get(tenantId));
    if (stopped) return;
    timers.set(tenantId, setTimeout(() => {
      timers.delete(tenantId);
      wake(tenantId);
    }, delay).unref());
  }

  function wake(tenantId: string): void {
    if (stopped) return;
    waiting.add(tenantId);
    pump();
  }

  /** One tenant after the other. Gives how many there are. */
  async function look(): Promise<number> {
    const all = await tenants.list();
    for (const { id } of all) {
      // A read of the embedded store gives no turn to anybody: thousands in a row would hold up requests.
      await turn();
      if (closing) break;
      try {
        const store = storage.tenant(id);
        if (!outgoing.available) await dropOld(store, clock.now());
        else if ((await nextDue(store)) !== undefined) wake(id);
      } catch (error) {
        if (!closing) logger.warn({ tenantId: id, error: describeError(error) }, "mails that wait could not be looked for");
      }
    }
    return all.length;
  }

  async function lookAndLookAgain(): Promise<void> {
    let count = 0;
    try {
      count = await look();
    } catch (error) {
      if (!closing) logger.warn({ error: describeError(error) }, "mails that wait could not be looked for");
    }
    looking = undefined;
    if (!closing) lookTimer = setTimeout(begin, Math.max(lookMs.least, count * lookMs.perTenant)).unref();
  }

  function begin(): void {
    looking ??= lookAndLookAgain();
  }

  async function idle(): Promise<void> {
    while (looking !== undefined) await looking;
    while (taking !== undefined || active > 0) await new Promise<void>((resolve) => listeners.push(resolve));
  }

  return {
    start() {
      if (!closing && lookTimer === undefined) begin();
    },
    wake,
    idle,
    async close(ms) {
      closing = true;
      clearTimeout(lookTimer);
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([idle(), new Promise<void>((resolve) => { timer = setTimeout(resolve, ms); })]);
      clearTimeout(timer);
      stopped = true;
      for (const each of timers.values()) clearTimeout(each);
      await looking;
      await taking;
    },
  };
}
