// Load from another process: wrk where it is installed, else autocannon.
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface LoadOptions {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON with POST. */
  readonly body?: unknown;
  /** Requests to be sent in turn, in place of the one that the URL names. */
  readonly turns?: readonly Turn[];
  /** For the scripts of wrk. */
  readonly folder: string;
}

export interface Turn {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON with POST. */
  readonly body?: unknown;
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

async function byWrk({ url, connections, seconds, headers = {}, body, turns, folder }: LoadOptions): Promise<Loaded> {
  const script: string[] = [];
  if (body !== undefined || turns !== undefined) {
    const file = join(folder, `script-${(scripts += 1)}.lua`);
    writeFileSync(file, turns === undefined ? `wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\nwrk.body = ${luaText(JSON.stringify(body))}\n` : luaTurns(turns));
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

/** The requests are put together once, so that their number costs the load nothing. */
function luaTurns(turns: readonly Turn[]): string {
  const calls = turns.map(({ path, headers = {}, body }) => {
    const all = body === undefined ? headers : { ...headers, "Content-Type": "application/json" };
    const table = Object.entries(all).map(([name, value]) => `[ ${luaText(name)} ] = ${luaText(value)}`).join(", ");
    return `  add(${body === undefined ? "\"GET\"" : "\"POST\""}, ${luaText(path)}, { ${table} }, ${body === undefined ? "nil" : luaText(JSON.stringify(body))})\n`;
  });
  return [
    "local requests, at = {}, 0\n",
    "local function add(method, path, headers, body) requests[#requests + 1] = wrk.format(method, path, headers, body) end\n",
    `function init()\n${calls.join("")}end\n`,
    "function request() at = at % #requests + 1 return requests[at] end\n",
  ].join("");
}

function luaText(text: string): string {
  return `[==[${text}]==]`;
}

function milliseconds(text = "0ms"): number {
  const [, value, unit] = /^([\d.]+)(us|ms|s|m)$/.exec(text) ?? [];
  return Number(value) * { us: 0.001, ms: 1, s: 1000, m: 60_000 }[(unit ?? "ms") as "us" | "ms" | "s" | "m"];
}

async function byAutocannon({ folder, ...options }: LoadOptions): Promise<Loaded> {
  const file = join(folder, `load-${(scripts += 1)}.json`);
  writeFileSync(file, JSON.stringify(options));
  const { stdout } = await run(process.execPath, ["--import", "tsx", fileURLToPath(new URL("./autocannon.ts", import.meta.url)), file]);
  return JSON.parse(stdout) as Loaded;
}
