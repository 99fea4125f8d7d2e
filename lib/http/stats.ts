// GET /api/meta/stats: what the dashboard draws.
import type { StatsReader } from "../stats/stats.js";
import { ok, type Handler } from "./exchange.js";
import { forSuperadmin } from "./meta.js";

export function createStatsRoute({ stats }: { readonly stats: StatsReader }): Handler {
  return forSuperadmin(async () => ok(await stats.read()));
}
