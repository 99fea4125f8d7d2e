// M4: two nodes over one store. How long a change takes from the start of its request on one node until its event
// comes at a stream of the other, while clients write on both.
import { setTimeout as wait } from "node:timers/promises";
import { openStream, type TestStream } from "../../support/event-stream.js";
import type { Goal } from "../figures.js";
import { bearer, type MongoScenario } from "../scenario.js";
import { startServer } from "../server.js";

const writers = 4;
/** Milliseconds that a writer rests between two writes. */
const rest = 40;
/** Milliseconds after the last write in which every event must have come. */
const mostWait = 20_000;

/** Milliseconds of each event that came at `stream` from the other node, until all of `sent` have come. */
async function listen(stream: TestStream, sent: ReadonlyMap<string, number>, expected: number): Promise<number[]> {
  const times: number[] = [];
  while (times.length < expected) {
    const { data } = await stream.next();
    const start = sent.get(String(data.record?.["title"]));
    if (start !== undefined) times.push(performance.now() - start);
  }
  return times;
}

function percentile(times: readonly number[], part: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!;
}

export const twoNodes: MongoScenario = {
  id: "M4",
  async run(bench) {
    const { server, users } = bench.mongo;
    const each = bench.quick ? 25 : 75;
    const nodes = await Promise.all(["mounted", "own"].map(async (kind) => await startServer("service.ts", [server.url, kind])));
    const figures: Record<string, Record<string, number[]>> = { "first to second": { p50Ms: [], p99Ms: [], events: [] }, "second to first": { p50Ms: [], p99Ms: [], events: [] } };
    try {
      for (let round = 0; round <= bench.rounds; round += 1) {
        const streams = await Promise.all(nodes.map(async ({ url }) => {
          const stream = await openStream(url);
          const { status } = await stream.subscribe(bearer(users[0]!.accessToken)["Authorization"], ["shared"]);
          if (status >= 300) throw new Error(`subscribe: ${status}`);
          return stream;
        }));
        const sent = nodes.map(() => new Map<string, number>());
        const write = async (node: number, writer: number): Promise<void> => {
          for (let at = 0; at < each; at += 1) {
            const title = `${round} ${node} ${writer} ${at}`;
            sent[node]!.set(title, performance.now());
            const answer = await fetch(`${nodes[node]!.url}/api/collections/shared`, {
              method: "POST", headers: { ...bearer(users[writer % users.length]!.accessToken), "Content-Type": "application/json" }, body: JSON.stringify({ title }),
            });
            if (answer.status !== 201) throw new Error(`create: ${answer.status} ${await answer.text()}`);
            await answer.arrayBuffer();
            await wait(rest);
          }
        };
        const told = Promise.all([listen(streams[1]!, sent[0]!, each * writers), listen(streams[0]!, sent[1]!, each * writers)]);
        await Promise.all(nodes.flatMap((_, node) => Array.from({ length: writers }, async (__, writer) => await write(node, writer))));
        const heard = await Promise.race([told, wait(mostWait, undefined)]);
        if (heard === undefined) throw new Error(`not every event came within ${mostWait} ms after the last write`);
        for (const stream of streams) stream.close();
        if (round === 0) continue;
        for (const [index, series] of Object.values(figures).entries()) {
          series["p50Ms"]!.push(percentile(heard[index]!, 0.5));
          series["p99Ms"]!.push(percentile(heard[index]!, 0.99));
          series["events"]!.push(heard[index]!.length);
        }
      }
    } finally {
      await Promise.all(nodes.map((node) => node.stop()));
    }
    const goals: Goal[] = Object.entries(figures).map(([name, series]) => ({ text: `${name}: p99 from the request until the event, milliseconds`, atMost: 1000, value: series["p99Ms"]! }));
    return { title: `two nodes over one store (${server.name}): a change on one until its event at a stream of the other`, subjects: figures, goals };
  },
};
