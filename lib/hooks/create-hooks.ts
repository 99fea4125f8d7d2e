// createHooks: connects the parts of hooks/ and gives the front door that the rest of the service uses.
import type { LookupFunction } from "node:net";
import { bypassesHooks } from "../core/call.js";
import type { Clock } from "../core/clock.js";
import type { Logger } from "../core/logger.js";
import type { Storage } from "../storage/storage.js";
import type { TenantRegistry } from "../tenants/context.js";
import { createAfter } from "./after.js";
import { createAgents } from "./agents.js";
import { createChain } from "./chain.js";
import { createGiveUp } from "./deadline.js";
import type { HookEvent } from "./definition.js";
import { createDeliverer } from "./deliverer.js";
import { createDispatch } from "./dispatch.js";
import { createHandlers, type HookHandler, type HookScope } from "./handlers.js";
import type { Hooks } from "./hooks.js";
import type { HookLog } from "./log-entry.js";
import { createHookManagement, type HookManagement } from "./manage.js";

export interface HooksDeps {
  readonly storage: Storage;
  readonly tenants: TenantRegistry;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly log: HookLog;
  /** Option `hooks.lookup`. */
  readonly lookup?: LookupFunction | undefined;
  /** Option `hooks.standardWebhooks`. */
  readonly standardWebhooks?: boolean | undefined;
  /** Option `logRetention.days`: dead deliveries are kept as long as their log. @default 14 */
  readonly keepDeadDays?: number | undefined;
}

export interface HooksFeature extends Hooks {
  readonly manage: HookManagement;
  /** Calls the handler on the event, in the chain of webhooks by priority (default 0). Returns the function that ends it. */
  on(event: HookEvent, scope: HookScope, handler: HookHandler, priority?: number): () => void;
  /** Goes on with what earlier processes left. Returns at once. */
  start(): void;
  /** Waits up to `graceMs` (default 5000) for deliveries and handlers under way; what is left is sent after the next start. */
  close(graceMs?: number): Promise<void>;
}

export function createHooks(deps: HooksDeps): HooksFeature {
  const { clock, logger, log, tenants, storage } = deps;
  const handlers = createHandlers();
  const giveUp = createGiveUp();
  const agents = createAgents();
  const dispatch = createDispatch({ clock, agents, lookup: deps.lookup, standardWebhooks: deps.standardWebhooks ?? false });
  const deliverer = createDeliverer({ storage, tenants, clock, logger, log, dispatch, keepDeadDays: deps.keepDeadDays ?? 14 });
  const chain = createChain({ clock, logger, log, dispatch, handlers, signal: giveUp.signal });
  const after = createAfter({ clock, logger, log, handlers, wake: deliverer.wake });

  return {
    beforeRequest(context, call, subject) {
      const webhooks = context.hooks("beforeRequest", null);
      const matching = webhooks.length === 0 ? webhooks : webhooks.filter(({ match }) =>
        (match?.collections === undefined || match.collections.includes(subject.collection)) &&
        (match?.methods === undefined || match.methods.includes(call.request.method)));
      return chain({ context, call, event: "beforeRequest", subject }, matching);
    },
    before: (context, call, event, subject) => chain({ context, call, event, subject }, context.hooks(event, subject.collection)),
    hasAfter: (context, call, event, collection) =>
      (context.hooks(event, collection).length > 0 || handlers.matching(event, context.tenant.slug, collection).length > 0) && !bypassesHooks(call.caller),
    after: (context, call, event, subject) => after.operations({ context, call, event, subject }),
    committed: (context, call, event, subject) => after.committed({ context, call, event, subject }),
    on: handlers.on,
    manage: createHookManagement({ tenants, clock, log, dispatch, lookup: deps.lookup, wake: deliverer.wake }),
    start: deliverer.start,
    async close(graceMs = 5_000) {
      const grace = setTimeout(() => giveUp.abort(), graceMs);
      let timer: NodeJS.Timeout | undefined;
      // A handler of the host's that never ends holds nobody up.
      const patience = new Promise<void>((resolve) => void (timer = setTimeout(resolve, graceMs)));
      await Promise.all([deliverer.close(graceMs), Promise.race([after.idle(), patience])]);
      clearTimeout(grace);
      clearTimeout(timer);
      giveUp.abort();
      agents.close();
    },
  };
}
