// S12: download 1 MiB against Express's sendFile; an answer 304 against a bare static answer.
import { faster } from "../goals.js";
import { bearer, interleave, withServers, type Scenario } from "../scenario.js";

export const download: Scenario = {
  id: "S12",
  run: (bench) => withServers(bench, async ({ bare, mounted, own }) => {
    const headers = bearer(bench.seeded.accessToken);
    const path = `/api/collections/files/${bench.seeded.fileRecord}/files/file`;
    const subjects = await interleave(bench, [
      { name: "sendFile", server: bare, path: "/file" },
      { name: "mounted", server: mounted, path, headers },
      { name: "own", server: own, path, headers },
    ], 16);
    const etag = (await fetch(own.url + path, { method: "HEAD", headers })).headers.get("etag") ?? "";
    const known = { ...headers, "If-None-Match": etag };
    const unchanged = await interleave(bench, [
      { name: "static", server: bare, path: "/static" },
      { name: "mounted, 304", server: mounted, path, headers: known },
      { name: "own, 304", server: own, path, headers: known },
    ], 64);
    const all = { ...subjects, ...unchanged };
    return {
      title: "download 1 MiB; 304",
      subjects: all,
      goals: [
        faster(all, "mounted", "sendFile", 2), faster(all, "own", "sendFile", 2),
        faster(all, "mounted, 304", "static", 1), faster(all, "own, 304", "static", 2.5),
      ],
    };
  }),
};
