// S14: the latency that a blocking hook on loopback adds, against one call with got alone.
import { Agent } from "node:http";
import { join } from "node:path";
import got from "got";
import { createRecordsService } from "records-service";
import { ratio, median } from "../figures.js";
import { bearer, type Bench, type Scenario } from "../scenario.js";
import { startServer } from "../server.js";

async function prepare(bench: Bench, hookUrl: string): Promise<{ folder: string; token: string; plain: string; hooked: string }> {
  const folder = join(bench.folder, "hooks");
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const service = createRecordsService({ storage: folder, logger: silent, accessTokenTtl: 86_400 });
  await service.ready();
  await service.tenants.create({ slug: "bench" });
  const tenant = service.tenant("bench");
  await tenant.users.create({ username: "owner", password: bench.seeded.password });
  await tenant.settings.update({ webhookAllowlist: [new URL(hookUrl).host] });
  for (const name of ["plain", "hooked"]) await tenant.collections.create({ name, fields: [{ name: "text", type: "TEXT" }], viewRule: "true" });
  await tenant.hooks.create({ collection: "hooked", event: "beforeView", url: hookUrl });
  const data = tenant.as("system");
  const { id: plain } = await data.collection("plain").create({ text: "x" });
  const { id: hooked } = await data.collection("hooked").create({ text: "x" });
  const { accessToken: token } = await tenant.auth.login({ username: "owner", password: bench.seeded.password });
  await service.close();
  return { folder, token, plain, hooked };
}

/** The median of so many calls, one after the other, in milliseconds. */
async function each(calls: number, call: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < calls; count += 1) {
    const start = performance.now();
    await call();
    times.push(performance.now() - start);
  }
  return median(times);
}

export const hook: Scenario = {
  id: "S14",
  async run(bench) {
    const receiver = await startServer("hook.ts", []);
    const { folder, token, plain, hooked } = await prepare(bench, receiver.url);
    const agent = new Agent({ keepAlive: true });
    const calls = bench.quick ? 100 : 500;
    const subjects: Record<string, Record<string, number[]>> = { "got alone": { p50Ms: [] } };
    for (const kind of ["mounted", "own"]) {
      const server = await startServer("service.ts", [folder, kind]);
      const read = async (collection: string, id: string): Promise<void> => {
        const answer = await fetch(`${server.url}/api/collections/${collection}/${id}`, { headers: bearer(token) });
        if (answer.status !== 200) throw new Error(`${collection}: ${answer.status}`);
        await answer.arrayBuffer();
      };
      const series = (subjects[kind] = { plainP50Ms: [], hookedP50Ms: [], addedMs: [], aloneMs: [] } as Record<string, number[]>);
      for (let round = 0; round <= bench.rounds; round += 1) {
        const alone = await each(calls, () => got.post(receiver.url, { json: { body: null }, agent: { http: agent }, retry: { limit: 0 } }).json());
        const without = await each(calls, () => read("plain", plain));
        const withHook = await each(calls, () => read("hooked", hooked));
        if (round === 0) continue;
        subjects["got alone"]!["p50Ms"]!.push(alone);
        series["plainP50Ms"]!.push(without);
        series["hookedP50Ms"]!.push(withHook);
        series["addedMs"]!.push(withHook - without);
        series["aloneMs"]!.push(alone);
      }
      await server.stop();
    }
    agent.destroy();
    await receiver.stop();
    const goals = ["mounted", "own"].map((kind) => ({ text: `${kind}: added latency / one call with got`, atMost: 1.3, value: ratio(subjects[kind]!["addedMs"]!, subjects[kind]!["aloneMs"]!) }));
    return { title: "a blocking hook on loopback, added latency", subjects, goals };
  },
};
