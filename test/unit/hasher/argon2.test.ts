import { expect } from "chai";
import fc from "fast-check";
import { createArgon2Hasher } from "../../../lib/hasher/argon2.js";
import { parsePhc } from "../../../lib/hasher/phc.js";
import { hasherSuite } from "../../../lib/testing/hasher.js";

const cheap = { memory: 64, iterations: 1, parallelism: 1 } as const;

for (const engine of ["@node-rs/argon2", "argon2"] as const) {
  hasherSuite(`Argon2id by ${engine}`, {
    make: () => createArgon2Hasher({ ...cheap, engine }),
    makeOther: () => createArgon2Hasher({ ...cheap, iterations: 2, engine }),
  });
}

describe("Argon2id", () => {
  it("by default: 32768 KiB, 3 iterations, parallelism 1", async () => {
    expect(parsePhc(await createArgon2Hasher().hash("correct horse battery"))).to.deep.equal({ variant: "argon2id", version: 19, memory: 32_768, iterations: 3, parallelism: 1 });
  });

  it("both libraries read each other's strings, and none asks for a rehash of the other's", async () => {
    const one = createArgon2Hasher({ ...cheap, engine: "@node-rs/argon2" });
    const two = createArgon2Hasher({ ...cheap, engine: "argon2" });
    for (const [maker, reader] of [[one, two], [two, one]] as const) {
      const stored = await maker.hash("correct horse battery");
      expect(await reader.verify(stored, "correct horse battery")).to.equal(true);
      expect(reader.needsRehash(stored)).to.equal(false);
    }
  });

  it("a PHC string is read whatever the order of its parameters; anything else is none", () => {
    const tail = "$c29tZXNhbHRzb21lc2FsdA$c29tZWhhc2hzb21laGFzaHNvbWVoYXNo";
    expect(parsePhc(`$argon2id$v=19$m=64,t=3,p=1${tail}`)).to.include({ version: 19 });
    expect(parsePhc(`$argon2id$v=19$t=3,m=64,p=1${tail}`)).to.include({ memory: 64, iterations: 3, parallelism: 1 });
    for (const text of ["", `$argon2id$v=19$m=64,t=3${tail}`, `$argon2id$v=19$m=64,m=64,p=1${tail}`, `$argon2x$v=19$m=64,t=3,p=1${tail}`, `$argon2id$m=64,t=3,p=1${tail}`, `$argon2id$v=19$m=64,t=3,p=1${tail}$`]) {
      expect(parsePhc(text), text).to.equal(undefined);
    }
  });

  it("any string at all is answered with true or false", async () => {
    const part = fc.oneof(fc.stringMatching(/^[A-Za-z0-9+/]{9,60}$/), fc.string());
    const costs = fc.tuple(fc.integer({ min: 0, max: 64 }), fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 3 })).map(([m, t, p]) => `m=${m},t=${t},p=${p}`);
    const phc = fc.tuple(fc.constantFrom("argon2id", "argon2i", "argon2d"), fc.constantFrom(16, 19, 0), costs, part, part).map(([variant, version, cost, salt, hash]) => `$${variant}$v=${version}$${cost}$${salt}$${hash}`);
    for (const engine of ["@node-rs/argon2", "argon2"] as const) {
      const hasher = createArgon2Hasher({ ...cheap, engine });
      await fc.assert(fc.asyncProperty(fc.oneof(phc, fc.string()), async (stored) => {
        expect(await hasher.verify(stored, "correct horse battery")).to.equal(false);
        expect(hasher.needsRehash(stored)).to.be.a("boolean");
      }), { numRuns: 300 });
    }
  });
});
