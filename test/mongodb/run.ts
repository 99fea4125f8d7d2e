// npm run test:mongodb: the conformance suites, the HTTP suite and the faults on MongoDB: on the server that
// TEST_MONGODB_URL names, else on each stand-in that can be built here. `--only=KIND` and `--suite=SUITE` narrow it.
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildStandIns, startStandIn } from "./stand-ins.js";

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

const root = fileURLToPath(new URL("../../", import.meta.url));
const option = (name: string): string | undefined => process.argv.find((each) => each.startsWith(`--${name}=`))?.slice(name.length + 3);
const tests = (folder: string): string[] => readdirSync(join(root, folder)).filter((name) => name.endsWith(".test.ts")).map((name) => join(folder, name));

const suites: Readonly<Record<string, readonly string[]>> = {
  conformance: tests("test/mongodb").filter((name) => !name.includes("faults")),
  http: tests("test/http"),
  faults: ["test/mongodb/faults.test.ts"],
};

/** Suites that a server cannot run, with the reason. */
const leftOut: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ferretdb: { http: "it scans for every query that is not by id and takes seconds for a new database: run it alone with --only=ferretdb --suite=http" },
};

/** Single tests of the HTTP suite that a server cannot pass: title to reason. */
const notOnMongo: Readonly<Record<string, string>> = {
  "otherwise they are made once and kept in the data folder, readable by the owner alone; tokens outlive a restart": "with MongoDB the secrets must be given",
  "T103: stores and logs no token, and shows none in an answer": "it looks into the files of the embedded store",
  "answers 429 while no hashing slot is free, and leaves the token usable": "it counts on the first of two requests being the first to hash",
};
const skippedTests: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "mongo-java-server": {
    "text is compared by code points, whatever its script": "mongo-java-server compares texts by UTF-16 unit",
  },
};

async function runSuite(name: string, files: readonly string[], env: Readonly<Record<string, string>>, skip: Readonly<Record<string, string>>): Promise<Counts> {
  const titles = Object.keys(skip);
  for (const title of titles) console.log(`  skipped: ${title} (${skip[title]})`);
  const counts: Counts = { passed: 0, failed: 0, skipped: titles.length };
  const without = titles.length === 0 ? [] : ["--grep", titles.map((title) => title.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"), "--invert"];
  // Each file in a process of its own: what one leaves cannot harm the next.
  for (const file of files) {
    const child = spawn(process.execPath, [join(root, "node_modules/mocha/bin/mocha.js"), "--import=tsx", "--timeout", "60000", "--exit", "--reporter", "json", ...without, file], {
      cwd: root, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    let errors = "";
    child.stdout.on("data", (piece: Buffer) => (output += piece.toString()));
    child.stderr.on("data", (piece: Buffer) => (errors += piece.toString()));
    await new Promise((done) => child.once("close", done));
    try {
      const report = JSON.parse(output.slice(output.indexOf('{\n  "stats"'))) as Report;
      counts.passed += report.stats.passes;
      counts.failed += report.stats.failures;
      counts.skipped += report.stats.pending;
      for (const each of report.failures) console.log(`  FAILED ${file}: ${each.fullTitle}\n    ${(each.err.message ?? "").split("\n").slice(0, 6).join("\n    ")}`);
      for (const each of report.pending) console.log(`  skipped: ${each.fullTitle}`);
    } catch {
      counts.failed += 1;
      console.log(`  FAILED ${file}: no report\n${errors.slice(-2_000)}`);
    }
  }
  console.log(`  ${name}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  return counts;
}

interface Report {
  readonly stats: { readonly passes: number; readonly failures: number; readonly pending: number };
  readonly failures: readonly { readonly fullTitle: string; readonly err: { readonly message?: string } }[];
  readonly pending: readonly { readonly fullTitle: string }[];
}

async function runOn(name: string, kind: string, url: string): Promise<Counts> {
  console.log(`== ${name}`);
  const total: Counts = { passed: 0, failed: 0, skipped: 0 };
  for (const [suite, files] of Object.entries(suites)) {
    if (option("suite") !== undefined && option("suite") !== suite) continue;
    const reason = leftOut[kind]?.[suite];
    if (reason !== undefined && option("suite") !== suite) {
      console.log(`  ${suite}: left out: ${reason}`);
      continue;
    }
    const counts = await runSuite(suite, files, { TEST_MONGODB_URL: url, TEST_MONGODB_KIND: kind, ...(suite === "http" ? { TEST_STORAGE: url } : {}) }, suite === "http" ? { ...notOnMongo, ...skippedTests[kind] } : {});
    total.passed += counts.passed;
    total.failed += counts.failed;
    total.skipped += counts.skipped;
  }
  console.log(`${name}: ${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  return total;
}

const results: Counts[] = [];
const given = process.env["TEST_MONGODB_URL"];
if (given !== undefined && given !== "") {
  results.push(await runOn("the given server", "given", given));
} else {
  for (const kind of buildStandIns()) {
    if (option("only") !== undefined && option("only") !== kind) continue;
    const server = await startStandIn(kind);
    try {
      results.push(await runOn(server.name, kind, server.url));
    } finally {
      await server.stop();
    }
  }
}
const sum = (of: keyof Counts): number => results.reduce((total, counts) => total + counts[of], 0);
if (results.length === 0) console.log("No MongoDB server: give TEST_MONGODB_URL, or install Go, or Java 17 and Maven");
console.log(`${sum("passed")} passed, ${sum("failed")} failed, ${sum("skipped")} skipped`);
process.exitCode = sum("failed") > 0 || sum("passed") === 0 ? 1 : 0;
