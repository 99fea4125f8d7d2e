// Loaded into mocha by the runner: leaves out the tests that the server cannot pass (lacks.ts), by their titles.
import type { Suite } from "mocha";
import { skippedTests } from "./lacks.js";

const skipped = skippedTests();

function mark(suite: Suite): void {
  for (const test of suite.tests) if (skipped[test.title] !== undefined) test.pending = true;
  for (const each of suite.suites) mark(each);
}

export const mochaHooks = {
  beforeAll(this: Mocha.Context): void {
    mark(this.test!.parent!);
  },
};
