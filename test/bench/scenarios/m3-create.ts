// M3: create on MongoDB, majority and journal, under a createRule; the callers take turns.
import { faster } from "../goals.js";
import { bearer, interleave, withMongoServers, type MongoScenario } from "../scenario.js";

const text = "a text of some length that stands for what people write ".repeat(2).slice(0, 90);

export const mongoCreate: MongoScenario = {
  id: "M3",
  run: (bench) => withMongoServers(bench, async ({ bare, mounted, own }) => {
    const turns = bench.mongo.users.map(({ id, accessToken }) => ({ body: { owner: id, n: 5, title: "Record number 5", text }, headers: bearer(accessToken) }));
    const asked = turns.map((turn) => ({ ...turn, path: "/api/collections/items" }));
    const subjects = await interleave(bench, [
      { name: "bare", server: bare, path: "", turns: turns.map(({ body }) => ({ body, path: "/items" })) },
      { name: "mounted", server: mounted, path: "", turns: asked },
      { name: "own", server: own, path: "", turns: asked },
    ], 64);
    return {
      title: `create on MongoDB (${bench.mongo.server.name}), majority and journal, 64 connections, createRule`,
      subjects,
      goals: [faster(subjects, "mounted", "bare", 0.7)],
    };
  }),
};
