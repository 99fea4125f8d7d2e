// Stats: what the dashboard draws, of this process and of what it stores.
import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../core/clock.js";
import type { Slots } from "../hasher/slots.js";
import type { RealtimeStats } from "../realtime/realtime.js";
import { always } from "../storage/filter.js";
import type { Storage } from "../storage/storage.js";
import type { TenantRegistry } from "../tenants/context.js";
import type { Figures, FiguresRead } from "./figures.js";

export interface Stats extends FiguresRead {
  readonly uptimeSeconds: number;
  readonly requests: FiguresRead["requests"] & { readonly inFlight: number };
  readonly streams: RealtimeStats;
  /** Slots of password hashing. */
  readonly hashing: { readonly size: number; readonly busy: number; readonly waiting: number };
  readonly stored: Stored;
  readonly process: { readonly memoryBytes: number; readonly heapBytes: number; readonly cpuSeconds: number };
}

/** Of all tenants; null where there are too many of them to be counted at once. */
export interface Stored {
  readonly tenants: number;
  readonly collections: number | null;
  readonly records: number | null;
  readonly users: number | null;
  /** Of the databases, files left out. */
  readonly databaseBytes: number | null;
}

export interface StatsDeps {
  readonly storage: Storage;
  readonly tenants: TenantRegistry;
  readonly clock: Clock;
  readonly figures: Figures;
  readonly slots: Slots;
  readonly streams: () => RealtimeStats;
  readonly inFlight: () => number;
}

/** Tenants that are counted one by one. */
const mostTenants = 100;
/** Milliseconds that a count holds. */
const countHolds = 30_000;

export interface StatsReader {
  /** Counts of what is stored are up to half a minute old. */
  read(): Promise<Stats>;
}

export function createStats(deps: StatsDeps): StatsReader {
  const startedAt = deps.clock.now();
  let counted: { readonly at: number; readonly stored: Promise<Stored> } | undefined;

  function stored(): Promise<Stored> {
    const now = deps.clock.now();
    if (counted === undefined || now - counted.at > countHolds || now < counted.at) {
      const counting = count(deps);
      counted = { at: now, stored: counting };
      // What failed is counted anew next time.
      counting.catch(() => {
        if (counted?.stored === counting) counted = undefined;
      });
    }
    return counted.stored;
  }

  return {
    async read() {
      const { requests, hooks } = deps.figures.read();
      const { rss, heapUsed } = process.memoryUsage();
      const { user, system } = process.cpuUsage();
      return {
        uptimeSeconds: Math.max(0, Math.round((deps.clock.now() - startedAt) / 1_000)),
        requests: { ...requests, inFlight: deps.inFlight() },
        streams: deps.streams(),
        hashing: deps.slots.stats(),
        hooks,
        stored: await stored(),
        process: { memoryBytes: rss, heapBytes: heapUsed, cpuSeconds: (user + system) / 1_000_000 },
      };
    },
  };
}

async function count({ storage, tenants }: StatsDeps): Promise<Stored> {
  const all = await tenants.list();
  if (all.length > mostTenants) return { tenants: all.length, collections: null, records: null, users: null, databaseBytes: null };
  const sum = { collections: 0, records: 0, users: 0, databaseBytes: await storage.system.size() };
  for (const { id } of all) {
    const context = await tenants.byId(id);
    if (context === undefined) continue;
    sum.collections += context.collections.size;
    sum.databaseBytes += await context.store.size();
    for (const { table, isUsers } of context.collections.values()) {
      // The embedded store counts small tables at once: hundreds of them in a row would hold up requests.
      await turn();
      sum[isUsers ? "users" : "records"] += await context.store.table(table).count(always);
    }
  }
  return { tenants: all.length, ...sum };
}
