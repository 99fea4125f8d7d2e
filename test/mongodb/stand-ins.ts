// The stand-ins for MongoDB: built by .ci/mongodb/build, each started on a free port with a folder of its own.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export interface StandIn {
  readonly kind: "ferretdb" | "mongo-java-server";
  readonly name: string;
  readonly url: string;
  readonly port: number;
  readonly process: ChildProcess;
  readonly folder: string;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
  /** The same, and removes its data. */
  stop(): Promise<void>;
}

const root = fileURLToPath(new URL("../../.ci/mongodb/", import.meta.url));
/** Milliseconds. */
const longestStart = 60_000;
/** Where built stand-ins are kept between runs. */
const builtFolder = process.env["TEST_MONGODB_BUILT"] ?? join(homedir(), ".cache", "records-service-mongodb");

/** Builds what is not built yet; gives what can be started here. */
export function buildStandIns(): StandIn["kind"][] {
  spawnSync(join(root, "build"), [builtFolder], { stdio: ["ignore", "inherit", "inherit"] });
  return (["mongo-java-server", "ferretdb"] as const).filter((kind) => existsSync(kind === "ferretdb" ? join(builtFolder, "ferretdb") : join(builtFolder, "java")));
}

const names = { ferretdb: "FerretDB 1.24 (SQLite)", "mongo-java-server": "mongo-java-server 1.47 (memory)" } as const;

/** Starts one and waits until it listens. `port` 0: a free one. */
export async function startStandIn(kind: StandIn["kind"], port = 0, folder = mkdtempSync(join(tmpdir(), "mongodb-stand-in-"))): Promise<StandIn> {
  const chosen = port === 0 ? await freePort() : port;
  const child = kind === "ferretdb"
    ? spawn(join(builtFolder, "ferretdb"), [`127.0.0.1:${chosen}`, folder], { stdio: ["ignore", "pipe", "ignore"], cwd: folder })
    : spawn("java", ["-Xmx768m", "-cp", classPath(), resolve(root, "java/Server.java"), String(chosen)], { stdio: ["ignore", "pipe", "ignore"], cwd: folder });
  // It must not outlive the run, however that ends.
  const killNow = (): void => void child.kill("SIGKILL");
  function endWithProcess(): void {
    killNow();
    rmSync(folder, { recursive: true, force: true });
  }
  process.once("exit", endWithProcess);
  child.once("exit", () => process.removeListener("exit", endWithProcess));

  async function kill(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
    const ended = new Promise((done) => child.once("exit", done));
    killNow();
    await ended;
  }

  let text = "";
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((done, fail) => {
      timer = setTimeout(() => fail(new Error(`${names[kind]} was not ready within ${longestStart / 1000} s`)), longestStart);
      child.stdout!.on("data", (piece: Buffer) => {
        text += piece.toString();
        if (text.includes("ready")) done();
      });
      child.once("error", fail);
      child.once("exit", (code) => fail(new Error(`${names[kind]} ended with ${code} before it was ready`)));
    });
  } catch (error) {
    await kill();
    throw error;
  } finally {
    clearTimeout(timer);
  }

  return {
    kind, name: names[kind], port: chosen, folder, process: child, url: `mongodb://127.0.0.1:${chosen}`, kill,
    async stop() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function classPath(): string {
  return readdirSync(join(builtFolder, "java")).filter((name) => name.endsWith(".jar")).map((name) => join(builtFolder, "java", name)).join(":");
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}
