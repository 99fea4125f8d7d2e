// S8: read one record by API key instead of an access token; and token refreshes, one after the other.
import { faster } from "../goals.js";
import { bearer, interleave, withServers, type Scenario } from "../scenario.js";

export const credentials: Scenario = {
  id: "S8",
  run: (bench) => withServers(bench, async ({ mounted, own }) => {
    const { seeded } = bench;
    const path = `/api/collections/items/${seeded.ids[0]}`;
    const subjects = await interleave(bench, [
      { name: "mounted, token", server: mounted, path, headers: bearer(seeded.accessToken) },
      { name: "mounted, key", server: mounted, path, headers: bearer(seeded.key) },
      { name: "own, token", server: own, path, headers: bearer(seeded.accessToken) },
      { name: "own, key", server: own, path, headers: bearer(seeded.key) },
    ], 64);
    const refreshes = bench.quick ? 50 : 500;
    const login = await fetch(`${own.url}/api/auth/login`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ username: "owner", password: seeded.password }) });
    let { refreshToken } = (await login.json()) as { refreshToken: string };
    const start = performance.now();
    for (let count = 0; count < refreshes; count += 1) {
      const answer = await fetch(`${own.url}/api/auth/refresh`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ refreshToken }) });
      if (answer.status !== 200) throw new Error(`refresh: ${answer.status}`);
      ({ refreshToken } = (await answer.json()) as { refreshToken: string });
    }
    const each = (performance.now() - start) / refreshes;
    return {
      title: "read one by API key; token refresh",
      subjects: { ...subjects, "own, refresh": { eachMs: [each] } },
      goals: [faster(subjects, "mounted, key", "mounted, token", 0.95), faster(subjects, "own, key", "own, token", 0.95)],
    };
  }),
};
