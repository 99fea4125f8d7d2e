// S13: a list that no index serves, over all rows, beside reads of single records.
import { load } from "../load.js";
import { bearer, withServers, type Scenario } from "../scenario.js";

export const scan: Scenario = {
  id: "S13",
  run: (bench) => withServers(bench, async ({ mounted, own }) => {
    const { seeded, folder, seconds } = bench;
    const headers = bearer(seeded.accessToken);
    const subjects: Record<string, Record<string, number[]>> = {};
    for (const [name, server] of Object.entries({ mounted, own })) {
      const series = (subjects[name] = { aloneP99Ms: [], besideP99Ms: [], scansPerSecond: [] } as Record<string, number[]>);
      const items = `${server.url}/api/collections/items`;
      const read = () => load({ url: `${items}/${seeded.ids[0]}`, connections: 4, seconds, headers, folder });
      for (let round = 0; round <= bench.rounds; round += 1) {
        const alone = await read();
        const [beside, scans] = await Promise.all([read(), load({ url: `${items}?sort=text:desc`, connections: 1, seconds, headers, folder })]);
        if (round === 0) continue;
        series["aloneP99Ms"]!.push(alone.p99);
        series["besideP99Ms"]!.push(beside.p99);
        series["scansPerSecond"]!.push(scans.perSecond);
      }
    }
    const goals = Object.entries(subjects).map(([name, series]) => ({ text: `${name}: p99 of reads beside scans, milliseconds`, atMost: 25, value: series["besideP99Ms"]! }));
    return { title: "a list without an index, beside reads", subjects, goals };
  }),
};
