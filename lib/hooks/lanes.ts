// Who may send next: one lane for each hook with work, served in turn within bounds, so that no tenant and no hook
// starves another.

/** One hook's deliveries. */
export interface Lane {
  readonly tenantId: string;
  readonly hookId: string;
}

export interface Filled {
  /** Deliveries that were begun; they never reject. False: the target could not take it, and will be spared a little. */
  readonly jobs: readonly Promise<boolean>[];
  /** There may be more that is due. */
  readonly more: boolean;
  /** Milliseconds until something will be due; null: nothing is pending. */
  readonly sleep: number | null;
}

/** Begins up to `slots` deliveries of the lane. Never rejects. */
export type Fill = (lane: Lane, slots: number) => Promise<Filled>;

export interface Lanes {
  /** There is, or may be, something due. */
  wake(tenantId: string, hookId: string): void;
  /** What was due later may be due now: the clock was set. */
  wakeSleeping(): void;
  /** Begins nothing more. */
  stop(): void;
  /** Resolves once all that was begun has ended. */
  idle(): Promise<void>;
}

/** Deliveries under way: in all, for one tenant, for one hook. A tenant without any may begin one beyond the first bound, up to `most`. */
export const bounds = { overall: 64, tenant: 8, hook: 4, most: 256 } as const;

/** Milliseconds that a lane rests after a failure, times the failures in a row, and at most. A long backlog to a dead target then costs little. */
const rest = { step: 5, most: 250 } as const;

interface LaneState extends Lane {
  active: number;
  filling: boolean;
  again: boolean;
  timer: NodeJS.Timeout | undefined;
  /** In a row. */
  failures: number;
  resting: NodeJS.Timeout | undefined;
}

export function createLanes(fill: Fill): Lanes {
  const lanes = new Map<string, LaneState>();
  /** Lanes whose turn comes when a slot is free, in that order. */
  const queue = new Set<LaneState>();
  const byTenant = new Map<string, number>();
  const running = new Set<Promise<void>>();
  let overall = 0;
  let stopped = false;

  function turn(lane: LaneState): void {
    if (stopped || lane.resting !== undefined) return;
    if (lane.filling) {
      lane.again = true;
      return;
    }
    queue.add(lane);
    serve();
  }

  function serve(): void {
    for (const lane of queue) {
      const ofTenant = byTenant.get(lane.tenantId) ?? 0;
      const ofAll = ofTenant === 0 && overall < bounds.most ? Math.max(1, bounds.overall - overall) : bounds.overall - overall;
      const free = Math.min(bounds.hook - lane.active, bounds.tenant - ofTenant, ofAll);
      if (free <= 0) continue;
      queue.delete(lane);
      // Where others wait, everybody gets one at a time.
      track(serveOne(lane, queue.size > 0 ? 1 : free));
    }
  }

  function reserve(lane: LaneState, slots: number): void {
    overall += slots;
    lane.active += slots;
    const ofTenant = (byTenant.get(lane.tenantId) ?? 0) + slots;
    if (ofTenant === 0) byTenant.delete(lane.tenantId);
    else byTenant.set(lane.tenantId, ofTenant);
  }

  function track(work: Promise<void>): void {
    running.add(work);
    void work.finally(() => running.delete(work));
  }

  async function serveOne(lane: LaneState, slots: number): Promise<void> {
    clearTimeout(lane.timer);
    lane.timer = undefined;
    lane.filling = true;
    lane.again = false;
    reserve(lane, slots);
    const { jobs, more, sleep } = await fill(lane, slots);
    reserve(lane, jobs.length - slots);
    lane.filling = false;
    for (const job of jobs) {
      track(job.then((succeeded) => {
        reserve(lane, -1);
        lane.failures = succeeded ? 0 : lane.failures + 1;
        if (lane.failures > 0) takeRest(lane);
        else turn(lane);
        serve();
      }));
    }
    if (stopped) return;
    if (more || lane.again) turn(lane);
    else if (sleep !== null) {
      lane.timer = setTimeout(() => turn(lane), sleep);
      lane.timer.unref();
    } else if (lane.active === 0 && lane.resting === undefined) lanes.delete(keyOf(lane));
    serve();
  }

  function takeRest(lane: LaneState): void {
    if (stopped || lane.resting !== undefined) return;
    queue.delete(lane);
    lane.resting = setTimeout(() => {
      lane.resting = undefined;
      turn(lane);
    }, Math.min(rest.most, rest.step * lane.failures));
    lane.resting.unref();
  }

  return {
    wake(tenantId, hookId) {
      if (stopped) return;
      const key = keyOf({ tenantId, hookId });
      let lane = lanes.get(key);
      if (lane === undefined) {
        lane = { tenantId, hookId, active: 0, filling: false, again: false, timer: undefined, failures: 0, resting: undefined };
        lanes.set(key, lane);
      }
      turn(lane);
    },
    wakeSleeping() {
      for (const lane of lanes.values()) if (lane.timer !== undefined) turn(lane);
    },
    stop() {
      stopped = true;
      for (const lane of lanes.values()) {
        clearTimeout(lane.timer);
        clearTimeout(lane.resting);
      }
      queue.clear();
      lanes.clear();
    },
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

function keyOf(lane: Lane): string {
  return `${lane.tenantId}/${lane.hookId}`;
}
