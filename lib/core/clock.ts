// The service's only source of time. Tests replace it through the option `clock`.

/** Milliseconds since the Unix epoch, as `Date.now()` gives them. */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** Milliseconds between two looks at a clock, and by how much it must have run ahead to have been set. */
const look = { every: 1_000, ahead: 500 } as const;

/**
 * Calls `onJump` within a second of the clock being set forward (by hand, after the machine slept, by a test): timers
 * know nothing of that. Does not hold the process. Returns the function that ends it.
 */
export function watchClock(clock: Clock, onJump: () => void): () => void {
  let [then, mark] = [clock.now(), performance.now()];
  const timer = setInterval(() => {
    const [now, here] = [clock.now(), performance.now()];
    const isAhead = now - then > here - mark + look.ahead;
    [then, mark] = [now, here];
    if (isAhead) onJump();
  }, look.every).unref();
  return () => clearInterval(timer);
}

/** The service's timestamp: ISO 8601, UTC, milliseconds (contract 1). */
export function timestamp(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}
