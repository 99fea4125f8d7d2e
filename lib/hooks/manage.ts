// Managing a tenant's hooks: what the meta API and host code do with them.
import type { LookupFunction } from "node:net";
import type { Clock } from "../core/clock.js";
import { timestamp } from "../core/clock.js";
import { Conflict, NotFound, ValidationFailed } from "../core/errors.js";
import { isId, newId, newSecret } from "../core/ids.js";
import type { JsonObject } from "../core/record.js";
import { ConditionMissed, StampChanged, type Operation, type Row } from "../storage/storage.js";
import type { TenantContext, TenantRegistry } from "../tenants/context.js";
import { isAllowlisted, parseTarget, resolveTarget, TargetRefused } from "./address.js";
import { checkHook, type HookDraft, type HookInput } from "./check.js";
import { within } from "./deadline.js";
import type { HookDefinition } from "./definition.js";
import type { Dispatch } from "./dispatch.js";
import type { HookLog } from "./log-entry.js";
import { deliveriesTable, listDeliveries, readDelivery, revive, type DeliveryState, type PendingDelivery } from "./pending.js";
import { sampleEnvelope } from "./sample.js";
import { signBody } from "./signature.js";
import { hooksTable, presentHook, readHook, readHooks, writeHook, type HookView } from "./stored.js";

export interface ManageDeps {
  readonly tenants: TenantRegistry;
  readonly clock: Clock;
  readonly log: HookLog;
  readonly lookup: LookupFunction | undefined;
  readonly dispatch: Dispatch;
  readonly wake: (tenantId: string, hookId: string) => void;
}

/** What the Test action reports. */
export interface TestResult {
  /** null where no answer came. */
  readonly status: number | null;
  readonly latencyMs: number;
  /** As sent in `X-Service-Signature`. */
  readonly signature: string;
  /** The answer's body, null where no answer came. */
  readonly body: string | null;
  /** Why no usable answer came; null where one did. */
  readonly error: string | null;
}

export interface DeliveryList {
  readonly items: readonly PendingDelivery[];
  readonly nextCursor: string | null;
}

export interface HookManagement {
  /** In the order of creation. */
  list(context: TenantContext): Promise<HookView[]>;
  /** Throws NotFound. */
  get(context: TenantContext, hookId: string): Promise<HookView>;
  /** The answer shows the secret where it was generated, and never again. Throws ValidationFailed. */
  create(context: TenantContext, input: HookInput): Promise<HookView>;
  /** Members that are left out stay as they are. Throws NotFound, ValidationFailed. */
  update(context: TenantContext, hookId: string, input: HookInput): Promise<HookView>;
  /** Deliveries that are still pending are dropped. Throws NotFound. */
  remove(context: TenantContext, hookId: string): Promise<void>;
  /** Sends a sample, changing nothing. Throws NotFound. */
  test(context: TenantContext, hookId: string): Promise<TestResult>;
  /** Deliveries that are not delivered: newest first, without their envelopes. */
  deliveries(context: TenantContext, query?: { readonly state?: DeliveryState; readonly limit?: number; readonly cursor?: string }): Promise<DeliveryList>;
  /**
   * Sends a delivery again, with the same delivery id and a full plan of attempts. `id` is one of the hook log or of a
   * delivery. Throws NotFound, and Conflict where it has been delivered or is no longer kept.
   */
  redeliver(context: TenantContext, id: string): Promise<{ readonly deliveryId: string }>;
}

const resolveMs = 5_000;
/** Times a save is decided anew because definitions changed meanwhile: as many as may be made at the same time. */
const rounds = 50;

export function createHookManagement(deps: ManageDeps): HookManagement {
  const { clock } = deps;

  async function find(context: TenantContext, hookId: string): Promise<Row> {
    const row = isId(hookId) ? await context.store.table(hooksTable).find(hookId) : undefined;
    if (row === undefined) throw new NotFound("Unknown hook");
    return row;
  }

  /** The same guard as at dispatch; the answer tells nothing about what the name resolved to. */
  async function checkAddress(context: TenantContext, url: string): Promise<void> {
    const target = parseTarget(url);
    if (!("fault" in target) && isAllowlisted(target, context.settings.webhookAllowlist)) return;
    try {
      if ("fault" in target) throw new TargetRefused();
      await within(resolveTarget(target, context.settings.webhookAllowlist, deps.lookup), resolveMs);
    } catch {
      throw new ValidationFailed([{ field: "url", message: new TargetRefused().message }]);
    }
  }

  /** Writes under the definitions that were checked; where those changed meanwhile, everything is decided anew. */
  async function save<Result>(context: TenantContext, decide: (context: TenantContext) => Promise<{ operation: Operation; result: Result }>): Promise<Result> {
    let current = context;
    for (let round = 1; ; round += 1) {
      const { operation, result } = await decide(current);
      try {
        await current.store.write({ operations: [operation], bump: true, stamp: current.stamp });
        return result;
      } catch (error) {
        if (!(error instanceof StampChanged || error instanceof ConditionMissed)) throw error;
        if (round === rounds) throw new Conflict("The tenant's definitions are changing all the time; try again");
        current = await deps.tenants.get(context.tenant.id);
      }
    }
  }

  function complete(draft: HookDraft, id: string, createdAt: string, updatedAt: string): HookDefinition {
    return { id, ...draft, createdAt, updatedAt };
  }

  return {
    async list(context) {
      return (await readHooks(context.store)).map(presentHook);
    },

    async get(context, hookId) {
      return presentHook(readHook(await find(context, hookId)));
    },

    create: (context, input) => save(context, async (current) => {
      const draft = checkHook(input as JsonObject, null, current.collections);
      await checkAddress(current, draft.url);
      const at = timestamp(clock);
      const generated = draft.secret === "";
      const hook = complete({ ...draft, secret: generated ? newSecret() : draft.secret }, newId(clock.now()), at, at);
      return {
        operation: { type: "insert", table: hooksTable, ...writeHook(hook) },
        result: generated ? { ...presentHook(hook), secret: hook.secret } : presentHook(hook),
      };
    }),

    update: (context, hookId, input) => save(context, async (current) => {
      const row = await find(current, hookId);
      const stored = readHook(row);
      const draft = checkHook(input as JsonObject, stored, current.collections);
      if (draft.url !== stored.url) await checkAddress(current, draft.url);
      const hook = complete(draft, stored.id, stored.createdAt, timestamp(clock));
      const { record, hidden } = writeHook(hook);
      return {
        operation: { type: "update", table: hooksTable, id: hookId, revision: row.revision, set: record, setHidden: hidden },
        result: presentHook(hook),
      };
    }),

    async remove(context, hookId) {
      await find(context, hookId);
      await context.store.write({ operations: [{ type: "remove", table: hooksTable, id: hookId, optional: true }], bump: true });
    },

    async test(context, hookId) {
      const hook = readHook(await find(context, hookId));
      const deliveryId = newId(clock.now());
      const envelope = sampleEnvelope(context, hook, deliveryId, clock);
      const text = JSON.stringify(envelope);
      const result = await deps.dispatch({
        tenantId: context.tenant.id,
        hook, deliveryId, text,
        event: hook.event,
        collection: envelope.context.collection,
        allowlist: context.settings.webhookAllowlist,
        readBody: true,
      });
      return {
        status: result.status,
        latencyMs: result.durationMs,
        signature: signBody(text, hook.secret),
        body: result.type === "answer" ? result.body : null,
        error: result.type === "answer" ? null : `${result.reason}: ${result.detail}`,
      };
    },

    async deliveries(context, { state = "dead", limit = 25, cursor } = {}) {
      const size = Math.min(100, Math.max(1, limit));
      const items = await listDeliveries(context.store, state, size + 1, cursor);
      return { items: items.slice(0, size), nextCursor: items.length > size ? items[size - 1]!.id : null };
    },

    async redeliver(context, id) {
      const entry = isId(id) ? await deps.log.find(context, id) : undefined;
      const deliveryId = entry?.deliveryId ?? id;
      const row = isId(deliveryId) ? await context.store.table(deliveriesTable).find(deliveryId) : undefined;
      if (row === undefined) {
        if (entry === undefined) throw new NotFound("Unknown delivery");
        throw new Conflict("This delivery cannot be sent again: it has been delivered, belongs to a before-hook, or is no longer kept");
      }
      const delivery = readDelivery(row);
      if ((await context.store.table(hooksTable).find(delivery.hookId)) === undefined) throw new Conflict("This delivery cannot be sent again: its hook has been deleted");
      await revive(context.store, deliveryId, clock.now());
      deps.wake(context.tenant.id, delivery.hookId);
      return { deliveryId };
    },
  };
}
