// When a failed after-hook delivery is tried again (contract 7).
import type { DeliveryResult } from "./deliver.js";

/** Milliseconds before the second, third, fourth and fifth attempt. */
const delays = [10_000, 60_000, 600_000, 3_600_000] as const;

/** How many attempts a delivery gets. */
export const attempts = delays.length + 1;

/** Milliseconds until the next attempt, never less than the plan says and up to a fifth more; null after the last. */
export function delayAfter(attempt: number, random: () => number = Math.random): number | null {
  const delay = delays[attempt - 1];
  return delay === undefined ? null : Math.round(delay * (1 + random() / 5));
}

/** What an attempt came to. `again`: a network error, a time-out, 5xx or 429. */
export function verdict(result: DeliveryResult): "delivered" | "again" | "dead" {
  if (result.type === "failure") return result.reason === "refused" ? "dead" : "again";
  if (result.status >= 200 && result.status <= 299) return "delivered";
  return result.status >= 500 || result.status === 429 ? "again" : "dead";
}
