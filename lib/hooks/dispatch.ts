// Sends one envelope to one hook: bytes, headers and signature made here, then delivered under the tenant's rules.
import type { LookupFunction } from "node:net";
import type { Clock } from "../core/clock.js";
import type { Agents } from "./agents.js";
import type { HookDefinition } from "./definition.js";
import { deliver, type DeliveryResult } from "./deliver.js";
import { deliveryHeaders } from "./headers.js";

export interface DispatchOptions {
  readonly clock: Clock;
  readonly lookup: LookupFunction | undefined;
  readonly standardWebhooks: boolean;
  readonly agents: Agents;
}

export interface Parcel {
  readonly tenantId: string;
  readonly hook: HookDefinition;
  readonly event: string;
  readonly collection: string;
  readonly deliveryId: string;
  /** The envelope's JSON. */
  readonly text: string;
  readonly allowlist: readonly string[];
  readonly readBody: boolean;
  readonly signal?: AbortSignal | undefined;
}

export type Dispatch = (parcel: Parcel) => Promise<DeliveryResult>;

export function createDispatch({ clock, lookup, standardWebhooks, agents }: DispatchOptions): Dispatch {
  return ({ tenantId, hook, event, collection, deliveryId, text, allowlist, readBody, signal }) => {
    const body = Buffer.from(text);
    const headers = deliveryHeaders({
      event, collection, deliveryId, body,
      secret: hook.secret,
      static: hook.headers,
      standardAt: standardWebhooks ? clock.now() : null,
    });
    return deliver({ url: hook.url, method: hook.method, headers, body, timeoutMs: hook.timeoutMs, allowlist, lookup, agents, partition: tenantId, readBody, signal });
  };
}
