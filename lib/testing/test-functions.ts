// The test runner's functions, taken from where mocha (and others like it) put them, so that this package needs no
// runner of its own.

type Body = () => void | Promise<void>;

export interface TestFunctions {
  describe(name: string, body: () => void): void;
  it(name: string, body: Body): void;
  beforeEach(body: Body): void;
  afterEach(body: Body): void;
  before(body: Body): void;
  after(body: Body): void;
}

/** Throws where there is no runner. */
export function testFunctions(): TestFunctions {
  const found = globalThis as unknown as Partial<TestFunctions>;
  const { describe, it, beforeEach, afterEach, before, after } = found;
  if (!describe || !it || !beforeEach || !afterEach || !before || !after) {
    throw new Error("A conformance suite is declared inside a mocha test file: describe, it and their hooks are missing here");
  }
  return { describe, it, beforeEach, afterEach, before, after };
}
