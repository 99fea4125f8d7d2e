// Checking a password against an account: exactly one computation, whether the account exists or not.
import { newSecret } from "../core/ids.js";
import type { PasswordHasher } from "../hasher/hasher.js";
import type { Hidden, Row } from "../storage/storage.js";
import { longestPassword } from "./password.js";

export interface Credentials {
  /**
   * Whether this is the account's password. Computes one hash in every case, also without an account, an account
   * without a usable hash, or a password that no account can have. Throws TooManyRequests.
   */
  verify(row: Row | undefined, password: unknown): Promise<boolean>;
  /** The hidden columns that hold a new password; one-time tokens for a reset end with it. Throws TooManyRequests. */
  columns(password: string): Promise<Hidden>;
  /**
   * After a successful verify: the columns that bring an outdated hash up to date, and the old hash that must still be
   * there then; undefined where nothing is to do or no slot was free.
   */
  upgrade(row: Row, password: string): Promise<{ readonly setHidden: Hidden; readonly hiddenIs: Hidden } | undefined>;
}

/** `hasher` is the one behind the slots. */
export function createCredentials({ hasher }: { readonly hasher: PasswordHasher }): Credentials {
  let decoy: Promise<string> | undefined;

  /** A hash with the current parameters that no password belongs to. Asked for on every check, so that time tells nothing. */
  function decoyHash(): Promise<string> {
    decoy ??= hasher.hash(newSecret()).catch((error: unknown) => {
      decoy = undefined;
      throw error;
    });
    return decoy;
  }

  return {
    async verify(row, password) {
      const missing = await decoyHash();
      const hash = row?.hidden["passwordHash"];
      const salt = row?.hidden["passwordSalt"];
      if (typeof hash !== "string" || typeof password !== "string" || password === "" || password.length > longestPassword * 2) {
        await hasher.verify(missing, "");
        return false;
      }
      if (typeof salt === "string" && hasher.verifyLegacy !== undefined) return hasher.verifyLegacy(hash, salt, password);
      return hasher.verify(hash, password);
    },

    async columns(password) {
      return { passwordHash: await hasher.hash(password), passwordSalt: null, resetHash: null, resetExpires: null };
    },

    async upgrade(row, password) {
      const hash = row.hidden["passwordHash"];
      if (typeof hash !== "string") return undefined;
      const legacy = typeof row.hidden["passwordSalt"] === "string";
      if (!legacy && !hasher.needsRehash(hash)) return undefined;
      try {
        return { setHidden: { passwordHash: await hasher.hash(password), passwordSalt: null }, hiddenIs: { passwordHash: hash } };
      } catch {
        // The next login does it: a busy or failing hasher must not spoil one that has succeeded.
        return undefined;
      }
    },
  };
}
