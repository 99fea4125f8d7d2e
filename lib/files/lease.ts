// A lease in the system store: work that only one process may do at a time, for as long as it keeps renewing it.
import { timestamp, type Clock } from "../core/clock.js";
import { ConditionMissed, UniqueViolation, type Operation, type Store } from "../storage/storage.js";

const table = "leases";

export interface Lease {
  /** Whether it is still ours; renews it. */
  renew(): Promise<boolean>;
  release(): Promise<void>;
}

/** Takes the lease; undefined where another process holds it. It ends by itself after so many milliseconds without renewal. */
export async function takeLease(system: Store, clock: Clock, name: string, duration: number): Promise<Lease | undefined> {
  const row = await system.table(table).find(name);
  const now = timestamp(clock);
  const until = (): string => new Date(clock.now() + duration).toISOString();
  if (row !== undefined && String(row.record.until) > now) return undefined;
  let held = until();
  const taken = await tryWrite(system, row === undefined
    ? { type: "insert", table, record: { id: name, createdAt: now, updatedAt: now, until: held } }
    : { type: "update", table, id: name, revision: row.revision, set: { until: held, updatedAt: now } });
  if (!taken) return undefined;
  const revision = { value: (row?.revision ?? 0) + 1 };

  return {
    async renew() {
      held = until();
      const kept = await tryWrite(system, { type: "update", table, id: name, revision: revision.value, set: { until: held, updatedAt: timestamp(clock) } });
      if (kept) revision.value += 1;
      return kept;
    },
    async release() {
      await tryWrite(system, { type: "update", table, id: name, revision: revision.value, set: { until: "", updatedAt: timestamp(clock) } });
    },
  };
}

async function tryWrite(system: Store, operation: Operation): Promise<boolean> {
  try {
    await system.write({ operations: [operation] });
    return true;
  } catch (error) {
    if (error instanceof ConditionMissed || error instanceof UniqueViolation) return false;
    throw error;
  }
}
