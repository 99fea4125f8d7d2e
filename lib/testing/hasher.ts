// The conformance suite of password hashers, for the built-in one and for those of others.
import assert from "node:assert/strict";
import type { PasswordHasher } from "../hasher/hasher.js";
import { testFunctions } from "./test-functions.js";

export interface HasherSuiteOptions {
  /** A hasher with the parameters that are wanted. */
  readonly make: () => PasswordHasher | Promise<PasswordHasher>;
  /** The same kind with other parameters: its hashes are to be renewed. */
  readonly makeOther?: () => PasswordHasher | Promise<PasswordHasher>;
}

const passwords = ["correct horse battery", "                ", "пароль из шестнадцати", "😀".repeat(16), "x".repeat(1024), "a\u0000b with a NUL in it"];

/** Declares the suite: call it in a mocha test file. */
export function hasherSuite(name: string, { make, makeOther }: HasherSuiteOptions): void {
  const { describe, it } = testFunctions();

  describe(`password hasher: ${name}`, () => {
    it("verifies what it has hashed, whatever the characters", async () => {
      const hasher = await make();
      for (const password of passwords) assert.equal(await hasher.verify(await hasher.hash(password), password), true);
    });

    it("refuses every other password, also one that begins the same", async () => {
      const hasher = await make();
      for (const password of passwords) {
        const stored = await hasher.hash(password);
        for (const other of ["", password.slice(0, -1), `${password} `, password.toUpperCase() === password ? password.toLowerCase() + "z" : password.toUpperCase()]) {
          assert.equal(await hasher.verify(stored, other), false);
        }
      }
    });

    it("gives a PHC string with fresh salt each time, without the password in it", async () => {
      const hasher = await make();
      const [one, two] = await Promise.all([hasher.hash(passwords[0]!), hasher.hash(passwords[0]!)]);
      assert.match(one, /^\$[a-z0-9-]+\$/);
      assert.notEqual(one, two);
      assert.equal(one.includes(passwords[0]!), false);
    });

    it("answers false for what is no usable string, and does not throw", async () => {
      const hasher = await make();
      const stored = await hasher.hash(passwords[0]!);
      for (const broken of ["", "garbage", "$", "$argon2id$", stored.slice(0, 20), `${stored.slice(0, -4)}????`]) {
        assert.equal(await hasher.verify(broken, passwords[0]!), false);
      }
    });

    it("wants no rehash of its own hashes, but of foreign ones", async () => {
      const hasher = await make();
      assert.equal(hasher.needsRehash(await hasher.hash(passwords[0]!)), false);
      assert.equal(hasher.needsRehash("garbage"), true);
    });

    if (makeOther !== undefined) {
      it("verifies with the parameters that the string carries, and wants it renewed", async () => {
        const [hasher, other] = [await make(), await makeOther()];
        const stored = await other.hash(passwords[0]!);
        assert.equal(await hasher.verify(stored, passwords[0]!), true);
        assert.equal(await hasher.verify(stored, passwords[1]!), false);
        assert.equal(hasher.needsRehash(stored), true);
      });
    }

    it("works side by side", async () => {
      const hasher = await make();
      const stored = await Promise.all(passwords.map((password) => hasher.hash(password)));
      const verified = await Promise.all(stored.map((hash, index) => hasher.verify(hash, passwords[index]!)));
      assert.deepEqual(verified, passwords.map(() => true));
    });

    it("verifies hashes from before release 0.47.0, where it offers to", async () => {
      const hasher = await make();
      if (hasher.verifyLegacy === undefined) return;
      const { hash, salt, password } = legacyVector;
      assert.equal(await hasher.verifyLegacy(hash, salt, password), true);
      assert.equal(await hasher.verifyLegacy(hash, salt, `${password}!`), false);
      assert.equal(await hasher.verifyLegacy("AAAA", salt, password), false);
      assert.equal(await hasher.verifyLegacy(hash, "", password), false);
    });
  });
}

/** Argon2id version 1.3, 81920 KiB, 6 iterations, parallelism 1, 32 bytes. */
const legacyVector = {
  password: "an old password of long ago",
  salt: "c2l4dGVlbiBieXRlcy4uLg==",
  hash: "MBXLbJ3kd+DjWsIbF/JDq58s4nqqvAeEPGZUaKVwX7c=",
};
