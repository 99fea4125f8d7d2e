// Setup: a one-time token, made at start or by the operator, names the superadmin, or replaces him for recovery.
import { timestamp, type Clock } from "../core/clock.js";
import { BadRequest, ValidationFailed } from "../core/errors.js";
import { newSecret, sha256 } from "../core/ids.js";
import type { JsonObject } from "../core/record.js";
import type { PasswordHasher } from "../hasher/hasher.js";
import { text, type Filter } from "../storage/filter.js";
import { ConditionMissed, UniqueViolation, type Operation, type Row, type Storage } from "../storage/storage.js";
import { checkPassword, checkUsername, type PasswordCheck } from "./password.js";
import type { Sessions } from "./sessions.js";
import { freshColumns, readSuperadmin, superadminId, superadminLog, superadminTable } from "./superadmin.js";

/** There is one pending setup token at most: a new one takes this row over. */
const pendingId = "pending";
const table = "setup_tokens";
const lifetimeMs = 30 * 60_000;

export interface SetupToken {
  /** Shown once; only its hash is stored. */
  readonly token: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

export interface Setup {
  /** A new token for 30 minutes, single use. The former one dies. */
  createSetupToken(): Promise<SetupToken>;
  /**
   * Makes the superadmin, or replaces him and ends his sessions, tokens and second factor. Throws ValidationFailed
   * (the token stays usable), BadRequest for a wrong token, TooManyRequests (the token stays usable).
   */
  setup(input: JsonObject): Promise<{ readonly username: string }>;
}

export function createSetup(deps: {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly hasher: PasswordHasher;
  readonly passwordErrors: PasswordCheck;
  readonly sessions: Sessions;
}): Setup {
  const { storage, clock, hasher, passwordErrors, sessions } = deps;

  async function pending(token: unknown): Promise<Row> {
    const row = typeof token === "string" && token !== "" ? await storage.system.table(table).find(pendingId) : undefined;
    if (row === undefined || row.hidden["tokenHash"] !== sha256(String(token)) || String(row.record["expiresAt"]) <= timestamp(clock)) {
      throw invalidToken();
    }
    return row;
  }

  /** What makes or replaces the superadmin, as far as he exists now. */
  async function nameOperation(username: string, passwordHash: string): Promise<Operation> {
    const now = timestamp(clock);
    const members = { username, twoFactorEnabled: false, totpStep: 0 };
    if ((await readSuperadmin(storage)) === undefined) {
      return {
        type: "insert", table: superadminTable, log: superadminLog,
        record: { id: superadminId, createdAt: now, updatedAt: now, ...members },
        hidden: { ...freshColumns(passwordHash), generation: 1 },
      };
    }
    return {
      type: "update", table: superadminTable, id: superadminId, log: superadminLog,
      set: { ...members, updatedAt: now },
      setHidden: freshColumns(passwordHash),
      increment: { generation: 1 },
    };
  }

  return {
    async createSetupToken() {
      const token = newSecret();
      const now = timestamp(clock);
      const expiresAt = new Date(clock.now() + lifetimeMs).toISOString();
      const insert: Operation = {
        type: "insert", table,
        record: { id: pendingId, createdAt: now, updatedAt: now, expiresAt },
        hidden: { tokenHash: sha256(token) },
      };
      await storage.system.write({ operations: [{ type: "remove", table, id: pendingId, optional: true }, insert] });
      return { token, expiresAt };
    },

    async setup(input) {
      const { token, username, password } = input;
      const entries = [...checkUsername(username), ...checkPassword(passwordErrors, "password", password)];
      if (entries.length > 0) throw new ValidationFailed(entries);
      const row = await pending(token);
      const passwordHash = await hasher.hash(password as string);
      const consume: Operation = {
        type: "remove", table, id: pendingId,
        where: notExpired(timestamp(clock)),
        hiddenIs: { tokenHash: row.hidden["tokenHash"] ?? null },
      };
      try {
        await storage.system.write({ operations: [consume, await nameOperation(username as string, passwordHash)] });
      } catch (error) {
        // Another request used the token, or a newer one replaced it.
        if (error instanceof ConditionMissed || error instanceof UniqueViolation) throw invalidToken();
        throw error;
      }
      await sessions.endAll();
      return { username: username as string };
    },
  };
}

function notExpired(now: string): Filter {
  return { op: "less", left: { value: now }, right: text("expiresAt"), orEqual: false };
}

function invalidToken(): BadRequest {
  return new BadRequest("Invalid or expired token");
}
