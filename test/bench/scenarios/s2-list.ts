// S2: list 25 of 1,000 matching records among all, filter and sort indexed, under a listRule.
import { bearer, interleave, withServers, type Scenario } from "../scenario.js";
import { faster } from "../goals.js";

export const list: Scenario = {
  id: "S2",
  run: (bench) => withServers(bench, async ({ bare, limit, mounted, served, own }) => {
    const { owner, accessToken } = bench.seeded;
    const headers = bearer(accessToken);
    const path = `/api/collections/items?sort=n:asc&filter=owner:eq:${owner}`;
    const subjects = await interleave(bench, [
      { name: "bare", server: bare, path: `/items?owner=${owner}` },
      { name: "limit", server: limit, path: `/items?owner=${owner}` },
      { name: "mounted", server: mounted, path, headers },
      { name: "served", server: served, path, headers },
      { name: "own", server: own, path, headers },
    ], 64);
    return {
      title: "list 25 of 1,000 matching, indexed, listRule",
      subjects,
      goals: [faster(subjects, "mounted", "bare", 1.4), faster(subjects, "served", "bare", 1.4), faster(subjects, "own", "bare", 2.2), faster(subjects, "own", "limit", 0.7)],
    };
  }),
};
