// GET /health: whether the database answers. Asked by everybody all the time, so one look serves all of a second.
import type { Storage } from "../storage/storage.js";
import type { Handler } from "./exchange.js";

export interface HealthDeps {
  readonly storage: Pick<Storage, "ping">;
  readonly started: () => Promise<unknown>;
  readonly isClosing: () => boolean;
}

/** How long one look holds, and how long it may take. Milliseconds. */
const holds = 1_000;
const patience = 2_000;

/** Has the same shape also before the service is open and while it closes. */
export function createHealthRoute({ storage, started, isClosing }: HealthDeps): Handler {
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

  /** A look opens a service that is not open yet: not any more where it closes. */
  async function isUp(): Promise<boolean> {
    if (isClosing()) return false;
    const now = performance.now();
    if (last === undefined || now - lastAt > holds) {
      lastAt = now;
      last = look();
    }
    return await last;
  }

  return async () => {
    const db = await isUp();
    return { status: db ? 200 : 503, json: { db, status: db ? "ok" : "degraded" } };
  };
}
