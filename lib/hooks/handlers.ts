// Handlers in the host's own process: `on(event, scope, handler, priority)`.
import { BadRequest } from "../core/errors.js";
import { hookEvents, type HookEvent } from "./definition.js";
import type { Envelope } from "./hooks.js";

export interface HookScope {
  /** Slug; without it every tenant. */
  readonly tenant?: string | undefined;
  /** Without it every collection. */
  readonly collection?: string | undefined;
}

/**
 * Gets the envelope that a webhook would get, a copy of its own. What it returns is read like the JSON of a webhook's
 * 2xx answer; nothing means: go on. A throw is a failed hook: 502 for before-events, a line in the log for after-events.
 */
export type HookHandler = (envelope: Envelope) => unknown;

export interface Registration {
  readonly scope: HookScope;
  readonly handler: HookHandler;
  readonly priority: number;
}

export interface Handlers {
  /** Returns the function that ends it. Throws BadRequest. */
  on(event: HookEvent, scope: HookScope, handler: HookHandler, priority?: number): () => void;
  /** In priority order; a shared empty list where there is none. */
  matching(event: string, tenantSlug: string, collection: string): readonly Registration[];
}

const none: readonly Registration[] = Object.freeze([]);

export function createHandlers(): Handlers {
  const byEvent = new Map<string, readonly Registration[]>();
  return {
    on(event, scope, handler, priority = 0) {
      if (!hookEvents.includes(event)) throw new BadRequest(`${typeof event === "string" ? `"${event}"` : `a ${typeof event}`} is no hook event: use one of ${hookEvents.join(", ")}`);
      checkScope(scope);
      if (typeof handler !== "function") throw new BadRequest("a hook handler must be a function");
      if (!Number.isFinite(priority)) throw new BadRequest("priority must be a number");
      const registration: Registration = { scope: { ...scope }, handler, priority };
      byEvent.set(event, [...(byEvent.get(event) ?? []), registration].sort((a, b) => a.priority - b.priority));
      return () => {
        const left = (byEvent.get(event) ?? []).filter((other) => other !== registration);
        if (left.length === 0) byEvent.delete(event);
        else byEvent.set(event, left);
      };
    },
    matching(event, tenantSlug, collection) {
      const registrations = byEvent.get(event);
      if (registrations === undefined) return none;
      return registrations.filter(({ scope }) =>
        (scope.tenant === undefined || scope.tenant === tenantSlug) && (scope.collection === undefined || scope.collection === collection));
    },
  };
}

/** A member with a slip in its name would make the handler hear of every tenant. */
function checkScope(scope: unknown): void {
  const isObject = typeof scope === "object" && scope !== null && !Array.isArray(scope);
  const wrong = isObject ? Object.entries(scope).find(([name, value]) => !(name === "tenant" || name === "collection") || (value !== undefined && typeof value !== "string")) : undefined;
  if (!isObject || wrong !== undefined) throw new BadRequest("the scope of a hook handler must be { tenant?, collection? }, both text");
}
