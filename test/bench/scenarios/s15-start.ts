// S15: ready on an empty folder, resident memory when idle, size of a production install.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Bench, Scenario } from "../scenario.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));

const program = fileURLToPath(new URL("../servers/start.mjs", import.meta.url));

function start({ folder }: Bench): Promise<{ ready: number; rss: number }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, mkdtempSync(join(folder, "empty-"))]);
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
    child.stderr.pipe(process.stderr);
    child.once("exit", (code) => (code === 0 ? resolve(JSON.parse(text) as { ready: number; rss: number }) : reject(new Error(`the service ended with ${code}`))));
  });
}

/** Megabytes of the package and everything that it needs in production. */
function installSize(): number {
  // Its status tells of packages that nobody asked for too; the list is good all the same.
  const { stdout: listed } = spawnSync("npm", ["ls", "--omit=dev", "--all", "--parseable"], { cwd: root, encoding: "utf8" });
  const packages = [...new Set(listed.split("\n").filter((path) => path.includes("node_modules")))];
  const kilobytes = (path: string): number => Number(execFileSync("du", ["-sk", "--exclude=node_modules", path]).toString().split("\t")[0]);
  return (packages.reduce((sum, path) => sum + kilobytes(path), 0) + kilobytes(join(root, "dist"))) / 1024;
}

export const coldStart: Scenario = {
  id: "S15",
  async run(bench) {
    const readyMs: number[] = [];
    const rssMb: number[] = [];
    for (let round = 0; round <= bench.rounds; round += 1) {
      const { ready, rss } = await start(bench);
      if (round === 0) continue;
      readyMs.push(ready);
      rssMb.push(rss);
    }
    const installMb = [installSize()];
    return {
      title: "ready on an empty folder; idle memory; production install",
      subjects: { standalone: { readyMs, rssMb, installMb } },
      goals: [
        { text: "ready, milliseconds from the start of the process", atMost: 300, value: readyMs },
        { text: "idle memory, megabytes", atMost: 110, value: rssMb },
        { text: "production install, megabytes", atMost: 60, value: installMb },
      ],
    };
  },
};
