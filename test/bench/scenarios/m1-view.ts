// M1: read one record on MongoDB, with an access token under a viewRule; the callers and records take turns.
import { faster } from "../goals.js";
import { bearer, interleave, withMongoServers, type MongoScenario } from "../scenario.js";

const recordsOfEach = 20;

export const mongoView: MongoScenario = {
  id: "M1",
  run: (bench) => withMongoServers(bench, async ({ bare, mounted, own }) => {
    const turns = Array.from({ length: recordsOfEach }, (_, at) => bench.mongo.users.map(({ ids, accessToken }) => ({ id: ids[at % ids.length]!, accessToken }))).flat();
    const asked = turns.map(({ id, accessToken }) => ({ path: `/api/collections/items/${id}`, headers: bearer(accessToken) }));
    const subjects = await interleave(bench, [
      { name: "bare", server: bare, path: "", turns: turns.map(({ id }) => ({ path: `/items/${id}` })) },
      { name: "mounted", server: mounted, path: "", turns: asked },
      { name: "own", server: own, path: "", turns: asked },
    ], 64);
    return {
      title: `read one on MongoDB (${bench.mongo.server.name}), ${bench.mongo.users.length} access tokens, viewRule`,
      subjects,
      goals: [faster(subjects, "mounted", "bare", 0.8)],
    };
  }),
};
