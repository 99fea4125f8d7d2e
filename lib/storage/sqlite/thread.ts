// Starts a thread of the store, from the build and from the sources alike.
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

/** Starts `<name>.js` of this folder (`.ts` where the sources run, whose loader each thread needs for itself). */
export function startThread(name: string, workerData: unknown): Worker {
  // None of the host's own flags: a loader would only cost time and memory there, and `--input-type` would not start.
  if (!import.meta.url.endsWith(".ts")) return new Worker(new URL(`./${name}.js`, import.meta.url), { workerData, execArgv: [] });
  const file = JSON.stringify(fileURLToPath(new URL(`./${name}.ts`, import.meta.url)));
  const start = `const load = require("node:module").createRequire(${file}); load("tsx/cjs/api").register(); load(${file});`;
  return new Worker(start, { eval: true, workerData });
}
