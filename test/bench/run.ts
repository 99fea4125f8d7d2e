// npm run bench: builds, seeds into a temporary folder, runs the scenarios, prints the table, writes the figures.
//   --quick          one short round, small sizes
//   --rounds=5       rounds of each scenario
//   --seconds=4      seconds of each load
//   --records=100000 seeded records
//   --only=S1,S2     these scenarios alone
//   --name=NAME      results/NAME.json (default: latest); `kept` is what later runs are compared with
//   --no-build       takes dist as it is
//   --mongodb=URL    the server of M1 to M4 (default: TEST_MONGODB_URL; without one they are left out)
//   --stand-in[=KIND] starts a stand-in for it, and removes it after the run
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
import type { Bench, MongoBench, Terms } from "./scenario.js";

const { values: options } = parseArgs({
  options: {
    "quick": { type: "boolean", default: false }, "rounds": { type: "string" }, "seconds": { type: "string" }, "records": { type: "string" },
    "only": { type: "string" }, "name": { type: "string", default: "latest" }, "no-build": { type: "boolean", default: false },
    "mongodb": { type: "string" }, "stand-in": { type: "string" },
  },
  // `--stand-in` alone stands for the first one that can be built here.
  args: process.argv.slice(2).map((argument) => (argument === "--stand-in" ? "--stand-in=" : argument)),
});
const root = fileURLToPath(new URL("../..", import.meta.url));
const results = fileURLToPath(new URL("./results", import.meta.url));
if (!options["no-build"]) execFileSync("npm", ["run", "build"], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });

// Only now: these import the build.
const { mongoScenarios, scenarios } = await import("./scenarios.js");
const { seed } = await import("./seed.js");
const { seedMongo } = await import("./seed-mongodb.js");
const { openMongoServer } = await import("./mongodb.js");

const wanted = options.only?.split(",");
const isWanted = ({ id }: { readonly id: string }): boolean => wanted === undefined || wanted.includes(id);
const chosen = scenarios.filter(isWanted);
const chosenMongo = mongoScenarios.filter(isWanted);
const rounds = Number(options.rounds ?? (options.quick ? 1 : 5));
const seconds = Number(options.seconds ?? (options.quick ? 1 : 4));
const records = Number(options.records ?? (options.quick ? 10_000 : 100_000));
const folder = mkdtempSync(join(tmpdir(), "records-bench-"));
const done: Record<string, ScenarioResult> = {};
const report: Report = { at: new Date().toISOString(), machine: await describeMachine(), rounds, seconds, scenarios: done };
console.log(Object.entries({ ...report.machine, records, rounds, seconds }).map(([name, value]) => `${name} ${value}`).join(", "));
try {
  const terms: Terms = { folder, rounds, seconds, quick: options.quick };
  if (chosen.length > 0) {
    const bench: Bench = { ...terms, seeded: await seed(folder, records) };
    for (const scenario of chosen) await run(scenario.id, () => scenario.run(bench));
  }
  if (chosenMongo.length > 0) await runOnMongo(terms);
  printSummary(report);
  const kept = join(results, "kept.json");
  if (options.name !== "kept" && existsSync(kept)) printComparison(report, JSON.parse(readFileSync(kept, "utf8")) as Report);
  writeFileSync(join(results, `${options.name}.json`), `${JSON.stringify(report, undefined, 1)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function run(id: string, scenario: () => Promise<ScenarioResult>): Promise<void> {
  try {
    const result = await scenario();
    done[id] = result;
    printScenario(id, result);
  } catch (error) {
    // One that cannot run on this machine must not hide the others.
    process.exitCode = 1;
    console.log(`\n${id}  failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function runOnMongo(terms: Terms): Promise<void> {
  const server = await openMongoServer({ url: options.mongodb ?? process.env["TEST_MONGODB_URL"], standIn: options["stand-in"] });
  if (server === undefined) {
    console.log(`\n${chosenMongo.map(({ id }) => id).join(", ")}  left out: no MongoDB server. Give --mongodb=URL, TEST_MONGODB_URL or --stand-in`);
    return;
  }
  try {
    // A stand-in reads every document for a list.
    const size = server.isStandIn ? Math.min(records, 600) : records;
    console.log(`\nMongoDB: ${server.name}, ${size} records`);
    const bench: MongoBench = { ...terms, mongo: await seedMongo(server, size) };
    for (const scenario of chosenMongo) await run(scenario.id, () => scenario.run(bench));
  } finally {
    await server.stop();
  }
}

async function describeMachine(): Promise<Report["machine"]> {
  const version = (name: string): string => {
    const { version: found } = JSON.parse(readFileSync(createRequire(import.meta.url).resolve(`${name}/package.json`), "utf8")) as { version: string };
    return found;
  };
  const cores = cpus();
  return {
    node: process.versions.node, express: version("express"), "better-sqlite3": version("better-sqlite3"), mongodb: version("mongodb"), load: await loaderName(),
    cores: cores.length, processor: cores[0]?.model.trim() ?? "", memoryGb: Math.round(totalmem() / 1e9), kernel: release(),
  };
}
