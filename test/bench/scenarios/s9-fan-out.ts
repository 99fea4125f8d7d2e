// S9: one event to many streams, Public and under a rule with many identities. S10: ten events in one tick.
import { join } from "node:path";
import { createRecordsService } from "records-service";
import { median, ratio, type Figures } from "../figures.js";
import { bearer, type Bench, type Scenario } from "../scenario.js";
import { startServer, type BenchServer } from "../server.js";

interface House {
  readonly folder: string;
  readonly tokens: readonly string[];
}

const rules = { createRule: "true" };

/** A tenant with many users and two collections: one for everybody, one where the rule has to look at each caller. */
async function openHouse(bench: Bench, users: number): Promise<House> {
  const folder = join(bench.folder, `streams-${users}`);
  const plain = { hash: async (password: string) => `$plain$${password}`, verify: async () => true, needsRehash: () => false };
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const service = createRecordsService({ storage: folder, logger: silent, hasher: plain, accessTokenTtl: 86_400 });
  await service.ready();
  await service.tenants.create({ slug: "bench" });
  const tenant = service.tenant("bench");
  const fields = [{ name: "owner", type: "TEXT" }, { name: "shared", type: "BOOLEAN" }, { name: "text", type: "TEXT" }];
  await tenant.collections.create({ name: "open", fields, viewRule: "true", ...rules });
  await tenant.collections.create({ name: "ruled", fields, viewRule: "owner = @auth.id || shared", ...rules });
  const tokens: string[] = [];
  for (let index = 0; index < users; index += 1) {
    await tenant.users.create({ username: `user${index}`, password: "a long enough password" });
    tokens.push((await tenant.auth.login({ username: `user${index}`, password: "a long enough password" })).accessToken);
  }
  await service.close();
  return { folder, tokens };
}

interface Consumers {
  readonly clients: BenchServer;
  readonly count: number;
}

async function open(url: string, count: number, tokens: readonly string[], collection: string): Promise<Consumers> {
  const clients = await startServer("stream-clients.ts", []);
  await clients.ask({ open: { url, count, tokens, collection } });
  return { clients, count };
}

/** Milliseconds from the first to the last delivery, and the server's CPU time for all of them. */
async function deliver(server: BenchServer, { clients, count }: Consumers, events: number, fire: () => Promise<unknown>): Promise<{ ms: number; cpuMs: number }> {
  await clients.ask({ expect: count * events });
  const before = await server.usage();
  const done = clients.told<{ firstNs: string; lastNs: string }>();
  await fire();
  const { firstNs, lastNs } = await done;
  const after = await server.usage();
  return { ms: Number(BigInt(lastNs) - BigInt(firstNs)) / 1e6, cpuMs: (after.cpu - before.cpu) / 1000 };
}

async function measure(bench: Bench, server: BenchServer, count: number, tokens: readonly string[], collection: string, events: number, fire: () => Promise<unknown>): Promise<Figures> {
  const idle = await server.usage();
  const consumers = await open(server.url, count, tokens, collection);
  const busy = await server.usage();
  const figures = { spreadMs: [] as number[], cpuMs: [] as number[], perSecond: [] as number[], kbPerStream: [(busy.rss - idle.rss) / count / 1024] };
  for (let round = 0; round <= bench.rounds; round += 1) {
    const { ms, cpuMs } = await deliver(server, consumers, events, fire);
    if (round === 0) continue;
    figures.spreadMs.push(ms);
    figures.cpuMs.push(cpuMs);
    figures.perSecond.push((count * events) / ms * 1000);
  }
  await consumers.clients.stop();
  return figures;
}

async function post(url: string, token: string, body: object): Promise<void> {
  const answer = await fetch(url, { method: "POST", headers: { ...bearer(token), "Content-Type": "application/json" }, body: JSON.stringify(body) });
  if (answer.status >= 300) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  await answer.arrayBuffer();
}

const record = { owner: "nobody", shared: true, text: "x".repeat(120) };

export const fanOut: Scenario = {
  id: "S9",
  async run(bench) {
    const count = bench.quick ? 1_000 : 8_000;
    const { folder, tokens } = await openHouse(bench, bench.quick ? 100 : 1_000);
    const figures: Record<string, Figures> = {};
    const raw = await startServer("raw-streams.ts", []);
    figures["raw loop"] = await measure(bench, raw, count, [], "", 1, () => raw.ask("fire 1"));
    await raw.stop();
    for (const kind of ["mounted", "own"]) {
      for (const collection of ["open", "ruled"]) {
        const server = await startServer("service.ts", [folder, kind]);
        figures[`${kind}, ${collection}`] = await measure(bench, server, count, tokens, collection, 1, () => post(`${server.url}/api/collections/${collection}`, tokens[0]!, record));
        await server.stop();
      }
    }
    const goals = ["mounted", "own"].flatMap((kind) => [
      { text: `${kind}: first to last delivery / raw loop`, atMost: 1.3, value: ratio(figures[`${kind}, open`]!["spreadMs"]!, figures["raw loop"]!["spreadMs"]!) },
      { text: `${kind}: kilobytes for each stream`, atMost: 20, value: figures[`${kind}, open`]!["kbPerStream"]! },
      { text: `${kind}: CPU with a rule / without`, atMost: 1.15, value: ratio(figures[`${kind}, ruled`]!["cpuMs"]!, figures[`${kind}, open`]!["cpuMs"]!) },
    ]);
    return { title: `one event to ${count} streams of ${tokens.length} identities`, subjects: figures, goals };
  },
};

export const burst: Scenario = {
  id: "S10",
  async run(bench) {
    const count = bench.quick ? 500 : 2_000;
    const { folder, tokens } = await openHouse(bench, 10);
    const figures: Record<string, Figures> = {};
    const raw = await startServer("raw-streams.ts", []);
    figures["one coalesced write"] = await measure(bench, raw, count, [], "", 10, () => raw.ask("fire 10"));
    await raw.stop();
    for (const kind of ["mounted", "own"]) {
      const server = await startServer("service.ts", [folder, kind]);
      const requests = Array.from({ length: 10 }, () => ({ method: "POST", collection: "open", body: record }));
      figures[kind] = await measure(bench, server, count, tokens, "open", 10, () => post(`${server.url}/api/batch`, tokens[0]!, { requests }));
      await server.stop();
    }
    const goals = ["mounted", "own"].map((kind) => ({ text: `${kind}: deliveries a second / one coalesced write`, atLeast: 0.8, value: ratio(figures[kind]!["perSecond"]!, figures["one coalesced write"]!["perSecond"]!) }));
    return { title: `10 events in one tick to ${count} streams`, subjects: figures, goals, notes: [`deliveries a second on the own listener: ${Math.round(median(figures["own"]!["perSecond"]!))}`] };
  },
};
