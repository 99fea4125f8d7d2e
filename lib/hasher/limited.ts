// A hasher behind the slots: what every part of the service hashes with.
import type { PasswordHasher } from "./hasher.js";
import type { Slots } from "./slots.js";

/** The same hasher, each computation in a slot. Methods throw TooManyRequests where none got free in time. */
export function limited(hasher: PasswordHasher, slots: Slots): PasswordHasher {
  const verifyLegacy = hasher.verifyLegacy?.bind(hasher);
  return {
    hash: (password) => slots.run(() => hasher.hash(password)),
    verify: (stored, password) => slots.run(() => hasher.verify(stored, password)),
    needsRehash: (stored) => hasher.needsRehash(stored),
    ...(verifyLegacy === undefined ? {} : { verifyLegacy: (hash: string, salt: string, password: string) => slots.run(() => verifyLegacy(hash, salt, password)) }),
  };
}
