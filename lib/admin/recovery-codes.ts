// Recovery codes: what a superadmin types where the authenticator is lost. Each works once; only keyed hashes are kept.
import { createHmac, hkdfSync, randomBytes } from "node:crypto";

const count = 10;
const alphabet = "abcdefghijklmnopqrstuvwxyz234567";

export interface RecoveryCodes {
  /** Ten fresh codes of 80 random bits, to be shown once. */
  create(): string[];
  /** The hash of a code as it was typed; undefined where it cannot be one. Case, spaces and dashes do not matter. */
  hash(typed: string): string | undefined;
}

/** Recovery codes whose hashes are worth nothing without the application secret. */
export function createRecoveryCodes(applicationSecret: string): RecoveryCodes {
  const key = Buffer.from(hkdfSync("sha256", applicationSecret, "", "records-service recovery codes", 32));
  return {
    create: () => Array.from({ length: count }, newCode),
    hash(typed) {
      const code = typed.replace(/[\s-]/g, "").toLowerCase();
      if (!/^[a-z2-7]{16}$/.test(code)) return undefined;
      return createHmac("sha256", key).update(code).digest("base64url");
    },
  };
}

function newCode(): string {
  const letters = Array.from(randomBytes(16), (byte) => alphabet[byte & 31]);
  return [0, 4, 8, 12].map((start) => letters.slice(start, start + 4).join("")).join("-");
}
