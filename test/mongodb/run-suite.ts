// Runs a part of the suite on one server: two files at once, each with databases of its own, and tells what came out.
import { withDatabase } from "../support/mongo-url.js";
import { removeDatabasesBelow } from "./server.js";
import type { Suite } from "./suites.js";
import { runTestFile, type FileResult } from "./test-process.js";

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

export interface RunOn {
  readonly kind: string;
  readonly url: string;
  /** Title to reason, of tests that are left out. */
  readonly skips: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  /** When the server's time is over, by `performance.now()`. */
  readonly until: number;
}

/** Milliseconds for one file. */
const longestFile = 480_000;
const atOnce = 2;
let lastPrefix = 0;

/** `met` gets the titles that were in fact left out. */
export async function runSuite(name: string, suite: Suite, on: RunOn, met: Set<string>): Promise<Counts> {
  const counts: Counts = { passed: 0, failed: 0, skipped: 0 };
  const waiting = [...suite.files];
  const start = performance.now();

  async function work(): Promise<void> {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const left = on.until - performance.now();
      if (left <= 0) {
        counts.failed += 1;
        console.log(`  FAILED ${file}: not run: the time for this server is over`);
        continue;
      }
      lastPrefix += 1;
      const own = withDatabase(on.url, `r${process.pid.toString(36)}x${lastPrefix}_`);
      const result = await runTestFile(file, {
        ...on.env, TEST_MONGODB_URL: own, TEST_MONGODB_KIND: on.kind, ...(suite.service ? { TEST_STORAGE: own } : {}),
      }, Math.min(longestFile, left));
      tell(file, result);
      // FerretDB takes seconds for each database, and its folder goes as a whole.
      if (on.kind !== "ferretdb") await removeDatabasesBelow(own).catch((error: unknown) => console.log(`  ${file}: its databases stay behind: ${String(error)}`));
    }
  }

  function tell(file: string, { passed, failures, skipped, broken, took }: FileResult): void {
    counts.passed += passed;
    counts.failed += failures.length;
    counts.skipped += skipped.length;
    if (took > 60_000) console.log(`  ${file}: ${Math.round(took / 1000)} s`);
    for (const { title, message } of failures) console.log(`  FAILED ${file}: ${title}\n    ${message.split("\n").slice(0, 6).join("\n    ")}`);
    for (const title of skipped) {
      const skip = Object.entries(on.skips).find(([test]) => title === test || title.endsWith(` ${test}`) || title.includes(` ${test} (left out`));
      if (skip !== undefined) met.add(skip[0]);
      // Another test may say in its title why it is left out; one that does not has failed to be run.
      const hasReason = skip !== undefined || title.includes("(left out: ");
      if (!hasReason) counts.failed += 1;
      console.log(`  ${hasReason ? "skipped" : "FAILED, skipped without a reason"}: ${title}${skip === undefined || title.includes("(left out: ") ? "" : ` (left out: ${skip[1]})`}`);
    }
    if (broken !== undefined) {
      counts.failed += 1;
      console.log(`  FAILED ${file}: ${broken}`);
    }
  }

  await Promise.all(Array.from({ length: suite.alone ? 1 : atOnce }, work));
  console.log(`  ${name}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped (${Math.round((performance.now() - start) / 1000)} s)`);
  return counts;
}
