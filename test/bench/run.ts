// npm run bench: builds, seeds into a temporary folder, runs the scenarios, prints the table, writes the figures.
//   --quick          one short round, small sizes
//   --rounds=5       rounds of each scenario
//   --seconds=4      seconds of each load
//   --records=100000 seeded records
//   --only=S1,S2     these scenarios alone
//   --name=NAME      results/NAME.json (default: latest); `kept` is what later runs are compared with
//   --no-build       takes dist as it is
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus, release, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { ScenarioResult } from "./figures.js";
import { loaderName } from "./load.js";
import { printComparison, printScenario, printSummary, type Report } from "./report.js";
import type { Bench, Scenario } from "./scenario.js";

const { values: options } = parseArgs({
  options: {
    "quick": { type: "boolean", default: false }, "rounds": { type: "string" }, "seconds": { type: "string" }, "records": { type: "string" },
    "only": { type: "string" }, "name": { type: "string", default: "latest" }, "no-build": { type: "boolean", default: false },
  },
});
const root = fileURLToPath(new URL("../..", import.meta.url));
const results = fileURLToPath(new URL("./results", import.meta.url));
if (!options["no-build"]) execFileSync("npm", ["run", "build"], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });

// Only now: these import the build.
const { scenarios } = await import("./scenarios.js");
const { seed } = await import("./seed.js");

const wanted = options.only?.split(",");
const chosen: Scenario[] = scenarios.filter(({ id }) => wanted === undefined || wanted.includes(id));
const rounds = Number(options.rounds ?? (options.quick ? 1 : 5));
const seconds = Number(options.seconds ?? (options.quick ? 1 : 4));
const records = Number(options.records ?? (options.quick ? 10_000 : 100_000));
const folder = mkdtempSync(join(tmpdir(), "records-bench-"));
const done: Record<string, ScenarioResult> = {};
const report: Report = { at: new Date().toISOString(), machine: await describeMachine(), rounds, seconds, scenarios: done };
console.log(Object.entries({ ...report.machine, records, rounds, seconds }).map(([name, value]) => `${name} ${value}`).join(", "));
try {
  const bench: Bench = { folder, seeded: await seed(folder, records), rounds, seconds, quick: options.quick };
  for (const scenario of chosen) {
    try {
      const result = await scenario.run(bench);
      done[scenario.id] = result;
      printScenario(scenario.id, result);
    } catch (error) {
      // One that cannot run on this machine must not hide the others.
      process.exitCode = 1;
      console.log(`\n${scenario.id}  failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  printSummary(report);
  const kept = join(results, "kept.json");
  if (options.name !== "kept" && existsSync(kept)) printComparison(report, JSON.parse(readFileSync(kept, "utf8")) as Report);
  writeFileSync(join(results, `${options.name}.json`), `${JSON.stringify(report, undefined, 1)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function describeMachine(): Promise<Report["machine"]> {
  const version = (name: string): string => {
    const { version: found } = JSON.parse(readFileSync(createRequire(import.meta.url).resolve(`${name}/package.json`), "utf8")) as { version: string };
    return found;
  };
  const cores = cpus();
  return {
    node: process.versions.node, express: version("express"), "better-sqlite3": version("better-sqlite3"), load: await loaderName(),
    cores: cores.length, processor: cores[0]?.model.trim() ?? "", memoryGb: Math.round(totalmem() / 1e9), kernel: release(),
  };
}
