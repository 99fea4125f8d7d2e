// npm run test:mongodb: the whole suite on MongoDB: on the server that TEST_MONGODB_URL names; else on a real mongod,
// where one can be had; else on each stand-in that can be built here. `--stand-ins` goes straight to those;
// `--only=KIND`, `--suite=PART` and `--file=TEXT` narrow it.
import { provenLacks, skipsEnvironment } from "./lacks.js";
import { startMemoryServer } from "./memory-server.js";
import { runSuite, type Counts } from "./run-suite.js";
import { buildStandIns, startStandIn } from "./stand-ins.js";
import { leftOut, suites } from "./suites.js";
import { killTestProcesses } from "./test-process.js";

interface Server {
  readonly name: string;
  readonly kind: string;
  readonly url: string;
  stop(): Promise<void>;
}

/** Milliseconds for one server, all parts together. */
const longestRun = 20 * 60_000;
const option = (name: string): string | undefined => process.argv.find((each) => each.startsWith(`--${name}=`))?.slice(name.length + 3);
const only = option("only");

async function runOn({ name, kind, url }: Server): Promise<Counts> {
  console.log(`== ${name}`);
  const until = performance.now() + longestRun;
  const total: Counts = { passed: 0, failed: 0, skipped: 0 };
  const lacks = await provenLacks(kind, url);
  const env = skipsEnvironment(lacks);
  const skips = Object.fromEntries(lacks.flatMap(({ tests, reason }) => tests.map((test) => [test, reason])));
  const met = new Set<string>();
  const wanted = option("suite");
  const file = option("file");
  for (const [part, suite] of Object.entries(suites)) {
    if (wanted !== undefined && wanted !== part) continue;
    const reason = leftOut[kind]?.[part];
    if (reason !== undefined && wanted !== part) {
      console.log(`  ${part}: left out: ${reason}`);
      continue;
    }
    const files = suite.files.filter((each) => file === undefined || each.includes(file));
    if (files.length === 0) continue;
    const counts = await runSuite(part, { ...suite, files }, { kind, url, skips, env, until }, met);
    total.passed += counts.passed;
    total.failed += counts.failed;
    total.skipped += counts.skipped;
  }
  // A title that nobody has is a skip that leaves out nothing, and hides that the test has another name now.
  const expected = wanted !== undefined || file !== undefined ? [] : lacks.filter(({ part }) => part === undefined || leftOut[kind]?.[part] === undefined).flatMap(({ tests }) => tests);
  for (const title of expected) {
    if (met.has(title)) continue;
    total.failed += 1;
    console.log(`  FAILED: no test is called "${title}", which lacks.ts leaves out`);
  }
  console.log(`${name}: ${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  return total;
}

/** The servers to run on; each is started when the one before has ended. */
async function servers(): Promise<(() => Promise<Server>)[]> {
  const given = process.env["TEST_MONGODB_URL"];
  if (given !== undefined && given !== "") return [async () => ({ name: "the given server", kind: "given", url: given, stop: async () => undefined })];
  if (!process.argv.includes("--stand-ins") && (only === undefined || only === "mongod")) {
    const server = await startMemoryServer();
    if (!("failed" in server)) return [async () => ({ ...server, kind: "mongod" })];
    console.log(`No real mongod (${server.failed}): the stand-ins are used`);
  }
  return buildStandIns().filter((kind) => only === undefined || only === kind).map((kind) => () => startStandIn(kind));
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    console.log(`stopped by ${signal}`);
    // "exit" ends the servers.
    process.exit(1);
  });
}
process.once("exit", killTestProcesses);

const sum: Counts = { passed: 0, failed: 0, skipped: 0 };
for (const start of await servers()) {
  let server: Server | undefined;
  try {
    server = await start();
    const counts = await runOn(server);
    sum.passed += counts.passed;
    sum.failed += counts.failed;
    sum.skipped += counts.skipped;
  } catch (error) {
    sum.failed += 1;
    console.log(`FAILED: ${server?.name ?? "a server"}: ${String(error)}`);
  } finally {
    await server?.stop();
  }
}
if (sum.passed + sum.failed === 0) {
  sum.failed += 1;
  console.log("FAILED: no MongoDB server: give TEST_MONGODB_URL, or install Go 1.22, or Java 17 and Maven; or --suite or --file names nothing");
}
console.log(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped`);
process.exitCode = sum.failed > 0 ? 1 : 0;
