// The parts of the suite, the test files of each, and the parts that a server is too slow for.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const tests = (folder: string): string[] => readdirSync(join(root, folder)).filter((name) => name.endsWith(".test.ts")).sort().map((name) => `${folder}/${name}`);

const alone = "test/mongodb/faults.test.ts";

export interface Suite {
  readonly files: readonly string[];
  /** Whether the service of test/support stands on the server as well. */
  readonly service: boolean;
  /** Files one after another: they hold the service to times. */
  readonly alone: boolean;
}

export const suites: Readonly<Record<string, Suite>> = {
  storage: { files: tests("test/mongodb").filter((name) => name !== alone), service: false, alone: false },
  copy: { files: tests("test/unit/copy"), service: false, alone: false },
  http: { files: tests("test/http"), service: true, alone: false },
  backup: { files: [...tests("test/backup"), ...tests("test/transfer")], service: true, alone: false },
  faults: { files: [alone], service: false, alone: true },
};

const tooSlow = "FerretDB reads the whole table for each query that is not by id, so that on a busy machine its answers pass the store's time limits; asked for by name it runs";

/** Parts that a kind of server is not asked to run, unless `--suite` names them: with the reason. */
export const leftOut: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ferretdb: { http: tooSlow, backup: tooSlow },
};
