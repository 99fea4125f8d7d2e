// One test file in a mocha process of its own: its counts, and the end of every process it has started.
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface FileResult {
  readonly passed: number;
  readonly failures: readonly { readonly title: string; readonly message: string }[];
  /** Full titles. */
  readonly skipped: readonly string[];
  /** Milliseconds. */
  readonly took: number;
  /** Why there is no report, where there is none. */
  readonly broken: string | undefined;
}

interface Report {
  readonly stats: { readonly passes: number };
  readonly failures: readonly { readonly fullTitle: string; readonly err: { readonly message?: string } }[];
  readonly pending: readonly { readonly fullTitle: string }[];
}

const root = fileURLToPath(new URL("../../", import.meta.url));
const running = new Set<number>();

/** Kills what test files have started, with all their children. For the runner's own end. */
export function killTestProcesses(): void {
  for (const group of running) killGroup(group);
}

/** Runs the file, for `deadline` milliseconds at most: what still runs then is killed, and the file has failed. */
export async function runTestFile(file: string, env: Readonly<Record<string, string>>, deadline: number): Promise<FileResult> {
  const start = performance.now();
  const folder = await mkdtemp(join(tmpdir(), "mongodb-suite-"));
  const reportFile = join(folder, "report.json");
  const child = spawn(process.execPath, [
    join(root, "node_modules/mocha/bin/mocha.js"), "--import=tsx", "--require", "test/mongodb/skip-hook.ts", "--timeout", "120000", "--exit",
    "--reporter", "json", "--reporter-option", `output=${reportFile}`, file,
  ], { cwd: root, env: { ...process.env, ...env }, stdio: ["ignore", "ignore", "pipe"], detached: true });
  const group = child.pid;
  if (group !== undefined) running.add(group);
  let errors = "";
  child.stderr.on("data", (piece: Buffer) => (errors = (errors + piece.toString()).slice(-2_000)));
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    if (group !== undefined) killGroup(group);
  }, deadline);
  try {
    // Not "close": a grandchild that was left behind may hold the pipe for ever.
    await new Promise<void>((done) => {
      child.once("exit", () => done());
      child.once("error", (error) => {
        errors += error.message;
        done();
      });
    });
    const took = performance.now() - start;
    const text = await readFile(reportFile, "utf8").catch(() => undefined);
    if (text === undefined) {
      const broken = late ? `it was not done within ${Math.round(deadline / 1000)} s, and was stopped` : `it ended without a report\n${errors}`;
      return { passed: 0, failures: [], skipped: [], took, broken };
    }
    const report = JSON.parse(text) as Report;
    return {
      passed: report.stats.passes,
      failures: report.failures.map(({ fullTitle, err }) => ({ title: fullTitle, message: err.message ?? "" })),
      skipped: report.pending.map(({ fullTitle }) => fullTitle),
      took,
      broken: undefined,
    };
  } finally {
    clearTimeout(timer);
    if (group !== undefined) {
      killGroup(group);
      running.delete(group);
    }
    await rm(folder, { recursive: true, force: true });
  }
}

function killGroup(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // Nobody of it is left.
  }
}
