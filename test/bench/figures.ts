// Figures over rounds: each kept as it was measured, shown as median with minimum and maximum; ratios are taken round
// by round, since only what ran one after the other can be compared.

/** One value for each round. */
export type Series = readonly number[];

export function median(series: Series): number {
  const sorted = [...series].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length === 0 ? Number.NaN : sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function ratio(of: Series, to: Series): Series {
  return of.map((value, round) => value / to[round]!);
}

/** What a scenario measured of one subject, by figure. Names end with their unit. */
export type Figures = Readonly<Record<string, Series>>;

/** What `performance.md` asks for, and what came out. */
export interface Goal {
  readonly text: string;
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly value: Series;
  /** The same comparison by CPU time for each request, where there is one: steadier on a busy machine. */
  readonly byCpu?: Series;
}

export function isMet({ atLeast, atMost, value }: Goal): boolean {
  const reached = median(value);
  return (atLeast === undefined || reached >= atLeast) && (atMost === undefined || reached <= atMost);
}

export interface ScenarioResult {
  readonly title: string;
  readonly subjects: Readonly<Record<string, Figures>>;
  readonly goals: readonly Goal[];
  readonly notes?: readonly string[];
}
