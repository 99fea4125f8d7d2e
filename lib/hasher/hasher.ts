// The password hashing contract. The stored form is a PHC string, which carries its own parameters.

/** Bytes of hashes from before release 0.47.0, and the fewest that their salts have (contract 6). */
export const legacyBytes = { hash: 32, salt: 8 } as const;

export interface PasswordHasher {
  /** A PHC string with fresh salt and the current parameters. */
  hash(password: string): Promise<string>;
  /** Verifies with the parameters that the stored string carries. False where it is no usable string. */
  verify(stored: string, password: string): Promise<boolean>;
  /** Whether the stored string was made with other than the current parameters. */
  needsRehash(stored: string): boolean;
  /** Verifies a hash from before release 0.47.0: raw Argon2id, base64, 81920 KiB, 6 iterations, parallelism 1. */
  verifyLegacy?(hash: string, salt: string, password: string): Promise<boolean>;
}
