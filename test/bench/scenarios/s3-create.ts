// S3: create, durable (synchronous=FULL), 64 connections, under a createRule. S4: the same on one connection.
import { bearer, interleave, recordBody, withServers, type Bench, type Scenario } from "../scenario.js";
import { faster, quicker } from "../goals.js";

function subjectsOf(bench: Bench, servers: Parameters<Parameters<typeof withServers>[1]>[0]) {
  const body = recordBody(bench.seeded);
  const headers = bearer(bench.seeded.accessToken);
  return [
    { name: "bare", server: servers.bare, path: "/items", body },
    { name: "limit", server: servers.limit, path: "/items", body },
    { name: "mounted", server: servers.mounted, path: "/api/collections/items", headers, body },
    { name: "served", server: servers.served, path: "/api/collections/items", headers, body },
    { name: "own", server: servers.own, path: "/api/collections/items", headers, body },
  ];
}

export const create: Scenario = {
  id: "S3",
  run: (bench) => withServers(bench, async (servers) => {
    const subjects = await interleave(bench, subjectsOf(bench, servers), 64);
    return {
      title: "create, synchronous=FULL, 64 connections, createRule",
      subjects,
      goals: [faster(subjects, "mounted", "bare", 3), faster(subjects, "served", "bare", 3), faster(subjects, "own", "bare", 6), faster(subjects, "own", "limit", 0.7)],
    };
  }),
};

export const createAlone: Scenario = {
  id: "S4",
  run: (bench) => withServers(bench, async (servers) => {
    const subjects = await interleave(bench, subjectsOf(bench, servers), 1);
    return {
      title: "create, one connection, median",
      subjects,
      goals: [quicker(subjects, "mounted", "bare", 0.9), quicker(subjects, "served", "bare", 0.9), quicker(subjects, "own", "bare", 0.9)],
    };
  }),
};
