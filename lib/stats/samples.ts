// Durations of the latest so many events, for percentiles that cost nothing while nobody asks.

export interface Percentiles {
  /** Milliseconds; 0 where there was nothing yet. */
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

export interface Samples {
  add(ms: number): void;
  percentiles(): Percentiles;
}

export function createSamples(size = 1_000): Samples {
  const values = new Float64Array(size);
  let count = 0;
  return {
    add(ms) {
      values[count % size] = ms;
      count += 1;
    },
    percentiles() {
      const sorted = values.slice(0, Math.min(count, size)).sort();
      const at = (share: number): number => Math.round((sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0) * 100) / 100;
      return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
    },
  };
}
