// What a scenario is given, and the rounds that most of them are made of.
import type { Figures, ScenarioResult, Series } from "./figures.js";
import { load, type Loaded, type Turn } from "./load.js";
import type { Seeded } from "./seed.js";
import type { SeededMongo } from "./seed-mongodb.js";
import { startServer, type BenchServer } from "./server.js";

/** What every scenario is given. */
export interface Terms {
  /** Temporary; gone after the run. */
  readonly folder: string;
  readonly rounds: number;
  /** Seconds of each load. */
  readonly seconds: number;
  /** One short round: smaller sizes where a scenario has any. */
  readonly quick: boolean;
}

export interface Bench extends Terms {
  readonly seeded: Seeded;
}

/** Of the scenarios on a MongoDB server. */
export interface MongoBench extends Terms {
  readonly mongo: SeededMongo;
}

export interface Scenario {
  readonly id: string;
  run(bench: Bench): Promise<ScenarioResult>;
}

export interface MongoScenario {
  readonly id: string;
  run(bench: MongoBench): Promise<ScenarioResult>;
}

export interface Subject extends Turn {
  readonly name: string;
  readonly server: BenchServer;
  /** Requests that are sent in turn, in place of one and the same; paths below the server's URL. */
  readonly turns?: readonly Turn[];
}

/** Seconds of a warm-up's load. */
const warmUpSeconds = 5;
/** A warm-up goes on until the compiler has seen so many requests: on a slow server that takes more than one load. */
const warmUpRequests = 6_000;
const mostWarmUps = 4;

/** Loads one subject after the other, round by round. A warm-up comes first and does not count. */
export async function interleave(bench: Terms, subjects: readonly Subject[], connections: number): Promise<Record<string, Figures>> {
  const results = new Map(subjects.map(({ name }) => [name, { perSecond: [], cpuUs: [], p50Ms: [], p99Ms: [], rssMb: [] } as Record<string, number[]>]));
  for (const subject of subjects) await warmUp(bench, subject, connections);
  for (let round = 0; round < bench.rounds; round += 1) {
    for (const subject of subjects) {
      const before = await subject.server.usage();
      const loaded = await loadSubject(bench, subject, connections, bench.seconds);
      const after = await subject.server.usage();
      const series = results.get(subject.name)!;
      series["perSecond"]!.push(loaded.perSecond);
      series["cpuUs"]!.push((after.cpu - before.cpu) / loaded.requests);
      series["p50Ms"]!.push(loaded.p50);
      series["p99Ms"]!.push(loaded.p99);
      series["rssMb"]!.push(after.rss / 1e6);
    }
  }
  return Object.fromEntries(results);
}

async function warmUp(bench: Terms, subject: Subject, connections: number): Promise<void> {
  let requests = 0;
  for (let load = 0; load < (bench.quick ? 1 : mostWarmUps) && requests < warmUpRequests; load += 1) {
    requests += (await loadSubject(bench, subject, connections, bench.quick ? bench.seconds : warmUpSeconds)).requests;
  }
}

async function loadSubject({ folder }: Terms, { name, server, path, headers = {}, body, turns }: Subject, connections: number, seconds: number): Promise<Loaded> {
  const { pathname } = new URL(server.url);
  const base = pathname === "/" ? "" : pathname;
  const placed = turns === undefined ? {} : { turns: turns.map((turn) => ({ ...turn, path: base + turn.path })) };
  const loaded = await load({ url: server.url + path, connections, seconds, headers, body, folder, ...placed });
  if (loaded.requests === 0 || loaded.failed > loaded.requests / 1000) throw new Error(`${name}: ${loaded.failed} of ${loaded.requests} requests failed`);
  return loaded;
}

export interface Servers {
  readonly bare: BenchServer;
  readonly limit: BenchServer;
  /** In a host's Express app. */
  readonly mounted: BenchServer;
  /** In such an app that `listen` serves. */
  readonly served: BenchServer;
  readonly own: BenchServer;
}

/** Runs with the two yardsticks and the service in its three mountings, each a process of its own. */
export async function withServers<Result>({ seeded }: Bench, run: (servers: Servers) => Promise<Result>): Promise<Result> {
  const servers = await Promise.all([
    startServer("bare.ts", [seeded.file, "FULL", seeded.download]), startServer("limit.ts", [seeded.file]),
    startServer("service.ts", [seeded.folder, "mounted"]), startServer("service.ts", [seeded.folder, "served"]), startServer("service.ts", [seeded.folder, "own"]),
  ]);
  const [bare, limit, mounted, served, own] = servers as [BenchServer, BenchServer, BenchServer, BenchServer, BenchServer];
  try {
    return await run({ bare, limit, mounted, served, own });
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

/** Runs with the yardstick on MongoDB and the service in both mountings. */
export async function withMongoServers<Result>({ mongo: { server } }: MongoBench, run: (servers: Omit<Servers, "limit" | "served">) => Promise<Result>): Promise<Result> {
  const servers = await Promise.all([
    startServer("bare-mongodb.ts", [server.url, server.bareName]), startServer("service.ts", [server.url, "mounted"]), startServer("service.ts", [server.url, "own"]),
  ]);
  const [bare, mounted, own] = servers as [BenchServer, BenchServer, BenchServer];
  try {
    return await run({ bare, mounted, own });
  } finally {
    await Promise.all(servers.map((each) => each.stop()));
  }
}

/** A record of the usual size, as a client sends it. */
export function recordBody({ owner }: Seeded): object {
  return { owner, n: 5, title: "Record number 5", text: "a text of some length that stands for what people write ".repeat(2).slice(0, 90) };
}

export const bearer = (credential: string): Record<string, string> => ({ Authorization: `Bearer ${credential}` });

export function of(subjects: Readonly<Record<string, Figures>>, subject: string, figure: string): Series {
  return subjects[subject]![figure]!;
}
