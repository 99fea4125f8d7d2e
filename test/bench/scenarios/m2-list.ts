// M2: list 25 on MongoDB, filter and sort on one index, under a listRule; the callers take turns.
import { faster } from "../goals.js";
import { bearer, interleave, withMongoServers, type MongoScenario } from "../scenario.js";

export const mongoList: MongoScenario = {
  id: "M2",
  run: (bench) => withMongoServers(bench, async ({ bare, mounted, own }) => {
    const { users } = bench.mongo;
    const asked = users.map(({ id, accessToken }) => ({ path: `/api/collections/items?sort=n:asc&filter=owner:eq:${id}`, headers: bearer(accessToken) }));
    const subjects = await interleave(bench, [
      { name: "bare", server: bare, path: "", turns: users.map(({ id }) => ({ path: `/items?owner=${id}` })) },
      { name: "mounted", server: mounted, path: "", turns: asked },
      { name: "own", server: own, path: "", turns: asked },
    ], 64);
    const matching = Math.min(...users.map(({ ids }) => ids.length));
    return {
      title: `list ${Math.min(25, matching)} of ${matching} matching on MongoDB (${bench.mongo.server.name}), indexed, listRule`,
      subjects,
      goals: [faster(subjects, "mounted", "bare", 0.8)],
    };
  }),
};
