// Sessions, and the attempts between the two factors: rows in the system store, found by the hash of their secret.
import { timestamp, type Clock } from "../core/clock.js";
import { newSecret, sha256 } from "../core/ids.js";
import { always, number, type Filter } from "../storage/filter.js";
import { ConditionMissed, type Row, type Storage } from "../storage/storage.js";
import { superadminLog } from "./superadmin.js";

/** A signed-in browser, or an attempt that still owes its code: for a browser, or for a client that wants a token. */
export type SessionKind = "session" | "attemptForSession" | "attemptForToken";

/** Seconds. A session ends twelve hours after sign-in; a code has to come within five minutes. */
export const sessionSeconds = 12 * 60 * 60;
export const attemptSeconds = 5 * 60;
const mostWrongCodes = 5;
const table = "admin_sessions";

export interface Session {
  /** The hash of its secret. */
  readonly id: string;
  /** The superadmin's generation at sign-in. */
  readonly generation: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface Sessions {
  /** Begins one and resolves to its secret. */
  start(kind: SessionKind, generation: number): Promise<string>;
  /** undefined where the secret is unknown, of another kind, or expired. */
  find(kind: SessionKind, secret: string): Promise<Session | undefined>;
  /** Counts one try of a code, before the code is looked at. False where the five are used up or the attempt is gone. */
  spendTry(id: string): Promise<boolean>;
  /** Harmless where it is gone. Told to the change log: streams of the superadmin end with it. */
  end(id: string): Promise<void>;
  endAll(): Promise<void>;
}

export function createSessions(deps: { readonly storage: Storage; readonly clock: Clock }): Sessions {
  const { storage, clock } = deps;
  const sessions = storage.system.table(table);

  /** Removes what matches, in portions. */
  async function remove(filter: Filter): Promise<void> {
    for (;;) {
      const rows = await sessions.list({ filter, limit: 100 });
      if (rows.length === 0) return;
      await storage.system.write({ operations: rows.map(({ id }) => ({ type: "remove" as const, table, id, optional: true })) });
    }
  }

  return {
    async start(kind, generation) {
      await remove({ op: "less", left: number("expiresAt"), right: { value: clock.now() }, orEqual: true });
      const secret = newSecret();
      const now = timestamp(clock);
      const expiresAt = clock.now() + (kind === "session" ? sessionSeconds : attemptSeconds) * 1000;
      await storage.system.write({
        operations: [{ type: "insert", table, record: { id: sha256(secret), createdAt: now, updatedAt: now, kind, generation, expiresAt, tries: 0 } }],
      });
      return secret;
    },
    async find(kind, secret) {
      const row = await sessions.find(sha256(secret));
      if (row === undefined || row.record["kind"] !== kind) return undefined;
      const session = toSession(row);
      return session.expiresAt > clock.now() ? session : undefined;
    },
    async spendTry(id) {
      for (;;) {
        const row = await sessions.find(id);
        const tries = Number(row?.record["tries"] ?? mostWrongCodes);
        if (tries >= mostWrongCodes) return false;
        try {
          await storage.system.write({
            operations: [{ type: "update", table, id, where: { op: "is", field: number("tries"), value: tries }, set: { tries: tries + 1 } }],
          });
          return true;
        } catch (error) {
          if (!(error instanceof ConditionMissed)) throw error;
        }
      }
    },
    async end(id) {
      await storage.system.write({ operations: [{ type: "remove", table, id, optional: true, log: superadminLog }] });
    },
    endAll: () => remove(always),
  };
}

function toSession({ id, record }: Row): Session {
  return { id, generation: Number(record["generation"]), expiresAt: Number(record["expiresAt"]) };
}
