// Sign-in of the superadmin: the password, then the code where a second factor is on; for a session or for a token.
import { timestamp, type Clock } from "../core/clock.js";
import { TooManyRequests, Unauthorized } from "../core/errors.js";
import type { JsonObject } from "../core/record.js";
import type { PasswordHasher } from "../hasher/hasher.js";
import type { Operation, Storage } from "../storage/storage.js";
import type { PasswordProof } from "./password.js";
import type { SecondFactor } from "./second-factor.js";
import type { SessionKind, Sessions } from "./sessions.js";
import { readSuperadmin, superadminId, superadminTable, type Superadmin } from "./superadmin.js";

/** What the client signs in for. */
export type Way = "session" | "token";

export type PasswordStep =
  | { readonly twoFactorRequired: false; readonly generation: number }
  /** `attempt` is the secret that the code has to come with, within five minutes. */
  | { readonly twoFactorRequired: true; readonly attempt: string };

export interface SignIn {
  /** Throws Unauthorized("Invalid credentials") whatever is wrong, TooManyRequests. */
  password(way: Way, input: JsonObject): Promise<PasswordStep>;
  /**
   * Takes the code of one of these attempts; resolves to the generation that was signed in. Throws
   * Unauthorized("Invalid credentials"); five wrong codes end an attempt.
   */
  code(way: Way, attempts: readonly string[], code: unknown): Promise<number>;
}

const attemptKind: Readonly<Record<Way, SessionKind>> = { session: "attemptForSession", token: "attemptForToken" };
const longestCode = 64;

export function createSignIn(deps: {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly hasher: PasswordHasher;
  readonly proof: PasswordProof;
  readonly sessions: Sessions;
  readonly secondFactor: SecondFactor;
}): SignIn {
  const { storage, clock, hasher, proof, sessions, secondFactor } = deps;

  /** Takes the current hashing parameters over; never in place of a password that was changed meanwhile. */
  async function renewHash(superadmin: Superadmin, password: string): Promise<void> {
    if (!hasher.needsRehash(superadmin.passwordHash)) return;
    try {
      const renewed: Operation = {
        type: "update", table: superadminTable, id: superadminId, optional: true,
        hiddenIs: { passwordHash: superadmin.passwordHash },
        setHidden: { passwordHash: await hasher.hash(password) },
        set: { updatedAt: timestamp(clock) },
      };
      await storage.system.write({ operations: [renewed] });
    } catch (error) {
      // The sign-in stands without it; the next one tries again.
      if (!(error instanceof TooManyRequests)) throw error;
    }
  }

  return {
    async password(way, { username, password }) {
      const superadmin = await readSuperadmin(storage);
      const right = await proof.matches(superadmin, username, password);
      if (!right || superadmin === undefined) throw invalidCredentials();
      await renewHash(superadmin, password as string);
      if (!superadmin.twoFactorEnabled) return { twoFactorRequired: false, generation: superadmin.generation };
      return { twoFactorRequired: true, attempt: await sessions.start(attemptKind[way], superadmin.generation) };
    },

    async code(way, attempts, code) {
      for (const secret of attempts.slice(0, 3)) {
        const attempt = await sessions.find(attemptKind[way], secret);
        if (attempt === undefined) continue;
        const superadmin = await readSuperadmin(storage);
        if (superadmin === undefined || superadmin.generation !== attempt.generation) continue;
        if (typeof code !== "string" || code === "" || code.length > longestCode) break;
        if (!(await sessions.spendTry(attempt.id))) break;
        const end: Operation = { type: "remove", table: "admin_sessions", id: attempt.id };
        if (await secondFactor.take(code, [end])) return attempt.generation;
        break;
      }
      throw invalidCredentials();
    },
  };
}

function invalidCredentials(): Unauthorized {
  return new Unauthorized("Invalid credentials");
}
