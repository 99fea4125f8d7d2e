// The output of a run: the table, and what has become slower since the figures that were kept.
import { isMet, median, type Figures, type Goal, type ScenarioResult, type Series } from "./figures.js";

export interface Report {
  readonly at: string;
  readonly machine: Readonly<Record<string, string | number>>;
  readonly rounds: number;
  readonly seconds: number;
  readonly scenarios: Readonly<Record<string, ScenarioResult>>;
}

export function printScenario(id: string, { title, subjects, goals, notes = [] }: ScenarioResult): void {
  console.log(`\n${id}  ${title}`);
  for (const [name, figures] of Object.entries(subjects)) console.log(`    ${name.padEnd(20)} ${shown(figures)}`);
  for (const goal of goals) console.log(`  ${isMet(goal) ? "met    " : "NOT MET"} ${shownGoal(goal)}`);
  for (const note of notes) console.log(`    ${note}`);
}

export function printSummary({ scenarios }: Report): void {
  const goals = Object.values(scenarios).flatMap((scenario) => scenario.goals);
  console.log(`\n${goals.filter(isMet).length} of ${goals.length} goals met`);
}

/** Marks what costs more than a tenth more CPU time for each request than in the kept run. */
export function printComparison(now: Report, kept: Report): void {
  console.log(`\nAgainst the kept run of ${kept.at} (CPU time for each request, relative to the yardstick \`bare\` of its run):`);
  let slower = 0;
  for (const [id, { subjects }] of Object.entries(now.scenarios)) {
    for (const [name, figures] of Object.entries(subjects)) {
      const before = relative(kept.scenarios[id]?.subjects, name);
      const after = relative({ ...subjects, [name]: figures }, name);
      if (before === undefined || after === undefined || name === "bare" || name === "limit") continue;
      const change = after / before - 1;
      if (change <= 0.1) continue;
      slower += 1;
      console.log(`  SLOWER ${id} ${name}: ${(change * 100).toFixed(0)} % more CPU time`);
    }
  }
  if (slower === 0) console.log("  nothing has become more than 10 % slower");
}

/** Machines differ and are shared: a subject counts against the yardstick of the same run where there is one. */
function relative(subjects: Readonly<Record<string, Figures>> | undefined, name: string): number | undefined {
  const own = subjects?.[name]?.["cpuUs"];
  if (subjects === undefined || own === undefined) return undefined;
  const yardstick = subjects["bare"]?.["cpuUs"];
  return yardstick === undefined ? median(own) : median(own) / median(yardstick);
}

function shown(figures: Figures): string {
  return Object.entries(figures).map(([name, series]) => `${name} ${spread(series)}`).join("  ");
}

function shownGoal({ text, atLeast, atMost, value, byCpu }: Goal): string {
  const goal = atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`;
  return `${text}: ${spread(value)}, goal ${goal}${byCpu === undefined ? "" : `; by CPU time ${spread(byCpu)}`}`;
}

function spread(series: Series): string {
  const [low, middle, high] = [Math.min(...series), median(series), Math.max(...series)].map(short);
  return series.length === 1 ? middle! : `${middle} (${low}-${high})`;
}

function short(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2);
}
