// After-events: deliveries that go into the write's own unit, and handlers in process once that unit is durable.
import { bypassesHooks } from "../core/call.js";
import { timestamp, type Clock } from "../core/clock.js";
import { newId } from "../core/ids.js";
import { describeError, type Logger } from "../core/logger.js";
import type { Operation } from "../storage/storage.js";
import { callHandler } from "./chain.js";
import { createEnvelope, type Occasion } from "./envelope.js";
import type { Handlers, Registration } from "./handlers.js";
import type { HookLog } from "./log-entry.js";
import { insertDelivery } from "./pending.js";

export interface AfterDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly log: HookLog;
  readonly handlers: Handlers;
  readonly wake: (tenantId: string, hookId: string) => void;
}

export interface After {
  /** One insert for each webhook that listens. */
  operations(occasion: Occasion): Operation[];
  /** Wakes the deliverer and begins the handlers in process. */
  committed(occasion: Occasion): void;
  /** Resolves once the handlers that were begun have ended. */
  idle(): Promise<void>;
}

export function createAfter({ clock, logger, log, handlers, wake }: AfterDeps): After {
  /** The last handler run about each record, so that the next one follows it. */
  const running = new Map<string, Promise<void>>();

  async function run(registration: Registration, occasion: Occasion): Promise<void> {
    const { context, call, event, subject } = occasion;
    const deliveryId = newId(clock.now());
    const startedAt = timestamp(clock);
    const started = performance.now();
    let failed = false;
    try {
      await callHandler(registration, occasion, deliveryId, startedAt);
    } catch (error) {
      failed = true;
      logger.error({ tenantId: context.tenant.id, event, requestId: call.request.requestId, ...describeError(error) }, "a hook handler failed");
    }
    log.write(context.tenant.id, {
      hookId: null, event, collection: subject.collection, recordId: subject.recordId,
      requestId: call.request.requestId, deliveryId, attempt: 1, startedAt,
      durationMs: Math.round((performance.now() - started) * 1000) / 1000, status: null, outcome: failed ? "failed" : "delivered",
    });
  }

  function begin(registrations: readonly Registration[], occasion: Occasion): void {
    const key = `${occasion.context.tenant.id}/${occasion.subject.collection}/${occasion.subject.recordId ?? newId(clock.now())}`;
    const work = (running.get(key) ?? Promise.resolve()).then(async () => {
      for (const registration of registrations) await run(registration, occasion);
    });
    running.set(key, work);
    void work.finally(() => {
      if (running.get(key) === work) running.delete(key);
    });
  }

  return {
    operations(occasion) {
      const { context, call, event, subject } = occasion;
      const webhooks = context.hooks(event, subject.collection);
      if (webhooks.length === 0 || bypassesHooks(call.caller)) return [];
      const now = clock.now();
      const at = new Date(now).toISOString();
      return webhooks.map((hook) => {
        const id = newId(now);
        const envelope = JSON.stringify(createEnvelope(occasion, hook, id, at));
        return insertDelivery({ id, hookId: hook.id, event, collection: subject.collection, recordId: subject.recordId, requestId: call.request.requestId }, envelope, now);
      });
    },
    committed(occasion) {
      const { context, call, event, subject } = occasion;
      if (bypassesHooks(call.caller)) return;
      for (const hook of context.hooks(event, subject.collection)) wake(context.tenant.id, hook.id);
      const registrations = handlers.matching(event, context.tenant.slug, subject.collection);
      if (registrations.length > 0) begin(registrations, occasion);
    },
    async idle() {
      while (running.size > 0) await Promise.all(running.values());
    },
  };
}
