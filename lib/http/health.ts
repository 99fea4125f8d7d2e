// GET /health: whether the database answers. Asked by everybody all the time, so one look serves all of a second.
import type { Storage } from "../storage/storage.js";
import type { Handler } from "./exchange.js";

/** How long one look holds, and how long it may take. Milliseconds. */
const holds = 1_000;
const patience = 2_000;

export function createHealthRoute(storage: Pick<Storage, "ping">, started: () => Promise<unknown>): Handler {
  let last: Promise<boolean> | undefined;
  let lastAt = -Infinity;

  async function look(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), patience);
      timer.unref();
    });
    try {
      return await Promise.race([started().then(() => storage.ping()).then(() => true, () => false), late]);
    } catch {
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  return async () => {
    const now = performance.now();
    if (last === undefined || now - lastAt > holds) {
      lastAt = now;
      last = look();
    }
    const db = await last;
    return { status: db ? 200 : 503, json: { db, status: db ? "ok" : "degraded" } };
  };
}
