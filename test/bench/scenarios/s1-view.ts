// S1: read one record, with an access token under a viewRule.
import { bearer, interleave, withServers, type Scenario } from "../scenario.js";
import { faster } from "../goals.js";

export const view: Scenario = {
  id: "S1",
  run: (bench) => withServers(bench, async ({ bare, limit, mounted, served, own }) => {
    const id = bench.seeded.ids[0]!;
    const headers = bearer(bench.seeded.accessToken);
    const subjects = await interleave(bench, [
      { name: "bare", server: bare, path: `/items/${id}` },
      { name: "limit", server: limit, path: `/items/${id}` },
      { name: "mounted", server: mounted, path: `/api/collections/items/${id}`, headers },
      { name: "served", server: served, path: `/api/collections/items/${id}`, headers },
      { name: "own", server: own, path: `/api/collections/items/${id}`, headers },
    ], 64);
    return {
      title: "read one, access token, viewRule",
      subjects,
      goals: [faster(subjects, "mounted", "bare", 1.1), faster(subjects, "served", "bare", 1.1), faster(subjects, "own", "bare", 3), faster(subjects, "own", "limit", 0.7)],
    };
  }),
};
