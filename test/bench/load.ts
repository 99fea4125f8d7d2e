// Load from another process: wrk where it is installed, else autocannon.
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface LoadOptions {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON with POST. */
  readonly body?: unknown;
  /** For the scripts of wrk. */
  readonly folder: string;
}

export interface Loaded {
  readonly requests: number;
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Answers that were no success, and connections that failed. */
  readonly failed: number;
}

const hasWrk = run("wrk", ["-v"]).then(() => true, (error: { code?: unknown }) => error.code !== "ENOENT");

export async function loaderName(): Promise<string> {
  return (await hasWrk) ? "wrk" : "autocannon";
}

export async function load(options: LoadOptions): Promise<Loaded> {
  return (await hasWrk) ? await byWrk(options) : await byAutocannon(options);
}

let scripts = 0;

async function byWrk({ url, connections, seconds, headers = {}, body, folder }: LoadOptions): Promise<Loaded> {
  const script: string[] = [];
  if (body !== undefined) {
    const file = join(folder, `post-${(scripts += 1)}.lua`);
    writeFileSync(file, `wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\nwrk.body = ${luaText(JSON.stringify(body))}\n`);
    script.push("-s", file);
  }
  const { stdout } = await run("wrk", [
    "-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "10s", "--latency",
    ...Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]), ...script, url,
  ]);
  const sockets = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(stdout)?.slice(1).map(Number) ?? [];
  return {
    requests: Number(/(\d+) requests in/.exec(stdout)?.[1] ?? 0),
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1] ?? 0),
    p50: milliseconds(/\s50%\s+(\S+)/.exec(stdout)?.[1]),
    p99: milliseconds(/\s99%\s+(\S+)/.exec(stdout)?.[1]),
    failed: Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0) + sockets.reduce((sum, count) => sum + count, 0),
  };
}

function luaText(text: string): string {
  return `[==[${text}]==]`;
}

function milliseconds(text = "0ms"): number {
  const [, value, unit] = /^([\d.]+)(us|ms|s|m)$/.exec(text) ?? [];
  return Number(value) * { us: 0.001, ms: 1, s: 1000, m: 60_000 }[(unit ?? "ms") as "us" | "ms" | "s" | "m"];
}

async function byAutocannon({ url, connections, seconds, headers = {}, body }: LoadOptions): Promise<Loaded> {
  const program = createRequire(import.meta.url).resolve("autocannon");
  const { stdout } = await run(process.execPath, [
    program, "-c", String(connections), "-d", String(seconds), "--json", "--no-progress",
    ...Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}=${value}`]),
    ...(body === undefined ? [] : ["-m", "POST", "-H", "Content-Type=application/json", "-b", JSON.stringify(body)]), url,
  ], { maxBuffer: 64 * 1024 * 1024 });
  const result = JSON.parse(stdout) as { requests: { total: number; average: number }; latency: { p50: number; p99: number }; non2xx: number; errors: number; timeouts: number };
  return {
    requests: result.requests.total, perSecond: result.requests.average, p50: result.latency.p50, p99: result.latency.p99,
    failed: result.non2xx + result.errors + result.timeouts,
  };
}
