// The load in a process of its own where wrk is not installed. The options stand in a file, the figures go to stdout.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Loaded, LoadOptions, Turn } from "./load.js";

interface Result {
  readonly requests: { readonly total: number; readonly average: number };
  readonly latency: { readonly p50: number; readonly p99: number };
  readonly non2xx: number;
  readonly errors: number;
  readonly timeouts: number;
}

const autocannon = createRequire(import.meta.url)("autocannon") as (options: object) => Promise<Result>;
const { url, connections, seconds, headers = {}, body, turns } = JSON.parse(readFileSync(process.argv[2]!, "utf8")) as Omit<LoadOptions, "folder">;

function request({ path, headers: own = {}, body: sent }: Partial<Turn>): object {
  const all = sent === undefined ? own : { ...own, "Content-Type": "application/json" };
  return { ...(path === undefined ? {} : { path }), method: sent === undefined ? "GET" : "POST", headers: all, ...(sent === undefined ? {} : { body: JSON.stringify(sent) }) };
}

const result = await autocannon({ url, connections, duration: seconds, requests: (turns ?? [{ headers, body }]).map(request) });
const loaded: Loaded = {
  requests: result.requests.total, perSecond: result.requests.average, p50: result.latency.p50, p99: result.latency.p99,
  failed: result.non2xx + result.errors + result.timeouts,
};
console.log(JSON.stringify(loaded));
