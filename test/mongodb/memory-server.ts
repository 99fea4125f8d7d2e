// A real mongod for the suite, as a replica set: mongodb-memory-server, which is no dependency and is fetched by npm
// where the network allows.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { MongoClient } from "mongodb";

export interface MemoryServer {
  readonly name: string;
  readonly url: string;
  stop(): Promise<void>;
}

const version = "11.3.0";
/** Milliseconds for the package, the binary and its start. */
const longestStart = 120_000;
const longestStop = 15_000;
const root = fileURLToPath(new URL("../../", import.meta.url));

/** Starts one. Where that cannot be done within two minutes: why, in one line. */
export async function startMemoryServer(): Promise<MemoryServer | { readonly failed: string }> {
  // Without the download at installation: it would be tried twice.
  const env = { ...process.env, MONGOMS_DISABLE_POSTINSTALL: "1", npm_config_loglevel: "error", npm_config_fetch_retries: "1" };
  const child = spawn("npm", ["exec", "--yes", `--package=mongodb-memory-server@${version}`, "--", "node", "--import", "tsx", "test/mongodb/memory-server-process.ts"], { cwd: root, env, stdio: ["pipe", "pipe", "pipe"], detached: true });
  const ended = new Promise<void>((done) => {
    child.once("exit", () => done());
    child.once("error", () => done());
  });
  // A write to one that has ended is no matter.
  child.stdin.on("error", () => undefined);

  async function stop(): Promise<void> {
    process.removeListener("exit", kill);
    child.stdin.end();
    const timer = setTimeout(kill, longestStop);
    await ended;
    clearTimeout(timer);
    kill();
  }

  function kill(): void {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  }
  process.once("exit", kill);

  let timer: NodeJS.Timeout | undefined;
  const answer = await new Promise<string>((done) => {
    let text = "";
    let errors = "";
    timer = setTimeout(() => done(`failed it was not there within ${longestStart / 1000} s`), longestStart);
    child.stdout.on("data", (piece: Buffer) => {
      text += piece.toString();
      const line = /^(?:ready|failed) .*(?=\n)/m.exec(text);
      if (line !== null) done(line[0]);
    });
    child.stderr.on("data", (piece: Buffer) => (errors = (errors + piece.toString()).slice(-300)));
    child.once("error", (error) => done(`failed ${error.message}`));
    child.once("exit", () => done(`failed npm could not fetch or run it: ${errors.replaceAll("\n", " ")}`));
  });
  clearTimeout(timer);
  try {
    if (!answer.startsWith("ready ")) throw new Error(answer.slice("failed ".length));
    const url = answer.slice("ready ".length).trim();
    return { name: `MongoDB ${await versionOf(url)} (replica set of mongodb-memory-server ${version})`, url, stop };
  } catch (error) {
    kill();
    await stop();
    return { failed: (error as Error).message.slice(0, 300) };
  }
}

async function versionOf(url: string): Promise<string> {
  const client = await MongoClient.connect(url, { serverSelectionTimeoutMS: 10_000 });
  try {
    return String((await client.db("admin").command({ buildInfo: 1 }))["version"]);
  } finally {
    await client.close();
  }
}
