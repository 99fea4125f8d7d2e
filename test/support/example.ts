// Runs an example as a person would: a process of its own, in a folder of its own, on the package as it is built.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = new URL("../../", import.meta.url);
/** Milliseconds for a process to say what is waited for. */
const patience = 25_000;

export interface Running {
  readonly process: ChildProcess;
  readonly folder: string;
  /** Everything that it has printed so far. */
  output(): string;
  /** The first group of the pattern, once the output matches; rejects where the process ends before. */
  said(pattern: RegExp): Promise<string>;
  /** Sends the signal and resolves to the exit status (null: ended by the signal). */
  end(signal?: NodeJS.Signals): Promise<number | null>;
  /** The exit status. */
  readonly ended: Promise<number | null>;
  /** Ends what is left and removes the folder. */
  remove(): Promise<void>;
}

export interface RunOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A folder that is kept. @default a new one, removed afterwards */
  readonly folder?: string;
}

/** A TypeScript file of the repository. */
export function runExample(file: string, options: RunOptions = {}): Promise<Running> {
  return run(["--import", pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href, fileURLToPath(new URL(file, root)), ...(options.args ?? [])], options);
}

/** The built command `records-service`. */
export function runCommand(words: readonly string[], options: RunOptions = {}): Promise<Running> {
  return run([fileURLToPath(new URL("dist/command-line/main.cjs", root)), ...words], options);
}

async function run(args: readonly string[], { env = {}, folder: given }: RunOptions): Promise<Running> {
  const folder = given ?? (await mkdtemp(join(tmpdir(), "records-example-")));
  const { PATH = "", HOME = "", NODE_V8_COVERAGE } = process.env;
  const child = spawn(process.execPath, args, { cwd: folder, env: { PATH, HOME, ...(NODE_V8_COVERAGE === undefined ? {} : { NODE_V8_COVERAGE }), ...env }, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end();
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => void (output += text));
  const ended = once(child, "close").then(([status]) => status as number | null);

  return {
    process: child,
    folder,
    ended,
    output: () => output,
    async said(pattern) {
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(), patience);
      try {
        for (;;) {
          const match = pattern.exec(output);
          if (match !== null) return match[1] ?? match[0];
          if (deadline.signal.aborted) throw new Error(`waited in vain for ${pattern}:\n${output}`);
          const status = await Promise.race([ended, once(child.stdout, "data", { signal: deadline.signal }).then(() => "more", () => "late")]);
          if (status !== "more" && status !== "late" && !pattern.test(output)) throw new Error(`ended with ${status} before it said ${pattern}:\n${output}`);
        }
      } finally {
        clearTimeout(timer);
        deadline.abort();
      }
    },
    end(signal = "SIGTERM") {
      child.kill(signal);
      return ended;
    },
    async remove() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGKILL");
        await ended;
      }
      if (given === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}
