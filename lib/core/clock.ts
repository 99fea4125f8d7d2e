// The service's only source of time. Tests replace it through the option `clock`.

/** Milliseconds since the Unix epoch, as `Date.now()` gives them. */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** The service's timestamp: ISO 8601, UTC, milliseconds (contract 1). */
export function timestamp(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}
