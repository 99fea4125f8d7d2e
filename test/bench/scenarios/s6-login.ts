// S6: logins (Argon2id, 32768 KB, 3, 1) against hashing alone. S7: file routes while logins saturate.
import { median, ratio } from "../figures.js";
import { faster } from "../goals.js";
import { load } from "../load.js";
import { bearer, interleave, withServers, type Scenario } from "../scenario.js";
import { startServer } from "../server.js";

export const login: Scenario = {
  id: "S6",
  run: (bench) => withServers(bench, async ({ mounted, own }) => {
    const hash = await startServer("hash.ts", []);
    try {
      const body = { username: "owner", password: bench.seeded.password };
      // As many as the service computes at a time with libuv's four threads.
      const subjects = await interleave(bench, [
        { name: "hashing", server: hash, path: "/" },
        { name: "mounted", server: mounted, path: "/api/auth/login", body },
        { name: "own", server: own, path: "/api/auth/login", body },
      ], 2);
      return { title: "login, against hashing alone", subjects, goals: [faster(subjects, "mounted", "hashing", 0.9), faster(subjects, "own", "hashing", 0.9)] };
    } finally {
      await hash.stop();
    }
  }),
};

/** Logins one after the other until told to stop; milliseconds of each answer with 429. */
async function logins(url: string, password: string, stopped: () => boolean): Promise<number[]> {
  const refused: number[] = [];
  while (!stopped()) {
    const start = performance.now();
    const response = await fetch(`${url}/api/auth/login`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ username: "owner", password }) });
    await response.arrayBuffer();
    if (response.status === 429) refused.push(performance.now() - start);
  }
  return refused;
}

export const filesBesideLogins: Scenario = {
  id: "S7",
  run: (bench) => withServers(bench, async ({ own, mounted }) => {
    const { seeded, folder, seconds } = bench;
    const subjects: Record<string, Record<string, number[]>> = {};
    for (const [name, server] of Object.entries({ mounted, own })) {
      const series = (subjects[name] = { idleP50Ms: [], besideP50Ms: [], refusedP50Ms: [] } as Record<string, number[]>);
      const read = () => load({ url: `${server.url}/api/collections/files/${seeded.fileRecord}/files/file`, connections: 2, seconds, headers: bearer(seeded.accessToken), folder });
      for (let round = 0; round <= bench.rounds; round += 1) {
        const idle = await read();
        let stop = false;
        const flood = Array.from({ length: 16 }, () => logins(server.url, seeded.password, () => stop));
        const beside = await read();
        stop = true;
        const refused = (await Promise.all(flood)).flat();
        if (round === 0) continue;
        series["idleP50Ms"]!.push(idle.p50);
        series["besideP50Ms"]!.push(beside.p50);
        series["refusedP50Ms"]!.push(median(refused));
      }
    }
    const goals = Object.entries(subjects).flatMap(([name, series]) => [
      { text: `${name}: median of the file route while logins saturate / idle`, atMost: 2, value: ratio(series["besideP50Ms"]!, series["idleP50Ms"]!) },
      { text: `${name}: milliseconds to a 429`, atMost: 250, value: series["refusedP50Ms"]! },
    ]);
    return { title: "a file route while logins saturate", subjects, goals };
  }),
};
