// Connections of hooks: kept for a second after use, each pool for one tenant, one target and exactly the addresses that
// were checked. Whoever takes one has passed the address check of his own dispatch before.
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { LookupAddress } from "node:dns";
import { pinnedLookup, type Target } from "./address.js";

/** What got takes as `agent`. */
export type HookAgent = { readonly http: HttpAgent } | { readonly https: HttpsAgent };

export interface Agents {
  /** `partition`: the tenant, whose connections are never used for another. */
  get(partition: string, target: Target, addresses: readonly LookupAddress[]): HookAgent;
  /** Closes the connections that are not in use; the others close when they are done. */
  close(): void;
}

/**
 * Milliseconds that a connection waits for its next use. So short that a receiver hardly ever closes it at the moment of
 * a new use: such a request would fail, and is never repeated.
 */
const idleMs = 1_000;
const maxPools = 256;
const maxIdle = 4;

export function createAgents(): Agents {
  const pools = new Map<string, HookAgent>();

  return {
    get(partition, target, addresses) {
      const checked = addresses.map(({ address }) => address).sort().join(" ");
      const key = `${partition} ${target.url.protocol}//${target.key} ${checked}`;
      const known = pools.get(key);
      if (known !== undefined) {
        // Moved to the end: the one used longest ago goes first.
        pools.delete(key);
        pools.set(key, known);
        return known;
      }
      const options = { keepAlive: true, timeout: idleMs, maxFreeSockets: maxIdle, scheduling: "lifo", lookup: pinnedLookup(addresses) } as const;
      const made: HookAgent = target.url.protocol === "https:" ? { https: new HttpsAgent(options) } : { http: new HttpAgent(options) };
      pools.set(key, made);
      // Left to itself: what is in use goes on, what is idle closes after its second.
      if (pools.size > maxPools) pools.delete(pools.keys().next().value!);
      return made;
    },
    close() {
      for (const pool of pools.values()) {
        const agent = "https" in pool ? pool.https : pool.http;
        for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
      }
      pools.clear();
    },
  };
}
