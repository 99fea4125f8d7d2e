// Argon2id, by @node-rs/argon2 where it loads and by argon2 otherwise: both read and write the same PHC strings.
import { timingSafeEqual } from "node:crypto";
import { legacyBytes, type PasswordHasher } from "./hasher.js";
import { parsePhc } from "./phc.js";

export interface Argon2Options {
  /** KiB. @default 32768 */
  readonly memory?: number;
  /** @default 3 */
  readonly iterations?: number;
  /** @default 1 */
  readonly parallelism?: number;
  /** Which library computes. @default "auto": the faster one where it loads */
  readonly engine?: "auto" | "@node-rs/argon2" | "argon2";
}

/** Parameters of hashes from before release 0.47.0 (contract 6). */
export const legacyParameters = { memory: 81_920, iterations: 6, parallelism: 1, length: legacyBytes.hash } as const;

interface Costs {
  readonly memory: number;
  readonly iterations: number;
  readonly parallelism: number;
}

/** What the two libraries have in common. */
interface Engine {
  hash(password: string, costs: Costs): Promise<string>;
  verify(stored: string, password: string): Promise<boolean>;
  raw(password: string, costs: Costs, salt: Buffer, length: number): Promise<Buffer>;
}

/** The built-in hasher. Nothing is loaded before the first use. */
export function createArgon2Hasher(options: Argon2Options = {}): PasswordHasher {
  const costs: Costs = { memory: options.memory ?? 32_768, iterations: options.iterations ?? 3, parallelism: options.parallelism ?? 1 };
  let loaded: Promise<Engine> | undefined;
  const engine = (): Promise<Engine> => (loaded ??= load(options.engine ?? "auto"));

  return {
    async hash(password) {
      return (await engine()).hash(password, costs);
    },

    async verify(stored, password) {
      if (parsePhc(stored) === undefined) return false;
      return (await engine()).verify(stored, password);
    },

    needsRehash(stored) {
      const found = parsePhc(stored);
      return (
        found === undefined ||
        found.variant !== "argon2id" ||
        found.version !== 19 ||
        found.memory !== costs.memory ||
        found.iterations !== costs.iterations ||
        found.parallelism !== costs.parallelism
      );
    },

    async verifyLegacy(hash, salt, password) {
      const expected = Buffer.from(hash, "base64");
      const saltBytes = Buffer.from(salt, "base64");
      if (expected.length !== legacyParameters.length || saltBytes.length < legacyBytes.salt) return false;
      const computed = await (await engine()).raw(password, legacyParameters, saltBytes, legacyParameters.length);
      return timingSafeEqual(expected, computed);
    },
  };
}

async function load(wanted: NonNullable<Argon2Options["engine"]>): Promise<Engine> {
  if (wanted === "argon2") return loadReference();
  try {
    return await loadFast();
  } catch (error) {
    // An optional dependency: there are platforms without a build of it.
    if (wanted === "auto") return loadReference();
    throw error;
  }
}

async function loadFast(): Promise<Engine> {
  const library = await import("@node-rs/argon2");
  const options = (costs: Costs) => ({ algorithm: 2, memoryCost: costs.memory, timeCost: costs.iterations, parallelism: costs.parallelism, outputLen: 32 });
  return {
    hash: (password, costs) => library.hash(password, options(costs)),
    verify: (stored, password) => library.verify(stored, password),
    raw: (password, costs, salt, length) => library.hashRaw(password, { ...options(costs), outputLen: length, salt }),
  };
}

async function loadReference(): Promise<Engine> {
  const library = (await import("argon2")).default;
  const options = (costs: Costs) => ({ type: library.argon2id, memoryCost: costs.memory, timeCost: costs.iterations, parallelism: costs.parallelism, hashLength: 32 });
  return {
    hash: (password, costs) => library.hash(password, options(costs)),
    verify: (stored, password) => library.verify(stored, password),
    raw: (password, costs, salt, length) => library.hash(password, { ...options(costs), hashLength: length, salt, raw: true }),
  };
}
