// S5: 8 readers beside 32 writers, synchronous=FULL: how much the writes cost the reads.
import { ratio, type Figures } from "../figures.js";
import { load } from "../load.js";
import { bearer, recordBody, withServers, type Scenario } from "../scenario.js";

export const readsBesideWrites: Scenario = {
  id: "S5",
  run: (bench) => withServers(bench, async (servers) => {
    const { seeded, folder, seconds } = bench;
    const subjects: Record<string, Figures> = {};
    const measured: Record<string, Record<string, number[]>> = {};
    for (let round = 0; round <= bench.rounds; round += 1) {
      for (const name of ["bare", "mounted", "own"] as const) {
        const items = name === "bare" ? "/items" : "/api/collections/items";
        const headers = name === "bare" ? {} : bearer(seeded.accessToken);
        const url = servers[name].url + items;
        const read = () => load({ url: `${url}/${seeded.ids[0]}`, connections: 8, seconds, headers, folder });
        const alone = await read();
        const [beside, writes] = await Promise.all([read(), load({ url, connections: 32, seconds, headers, body: recordBody(seeded), folder })]);
        if (round === 0) continue;
        const series = (measured[name] ??= { aloneP99Ms: [], besideP99Ms: [], readsPerSecond: [], writesPerSecond: [] });
        series["aloneP99Ms"]!.push(alone.p99);
        series["besideP99Ms"]!.push(beside.p99);
        series["readsPerSecond"]!.push(beside.perSecond);
        series["writesPerSecond"]!.push(writes.perSecond);
      }
    }
    Object.assign(subjects, measured);
    const goal = (name: string) => ({ text: `${name}: p99 of reads beside writes / alone`, atMost: 1.5, value: ratio(measured[name]!["besideP99Ms"]!, measured[name]!["aloneP99Ms"]!) });
    return { title: "8 readers beside 32 writers, read p99", subjects, goals: [goal("mounted"), goal("own")] };
  }),
};
