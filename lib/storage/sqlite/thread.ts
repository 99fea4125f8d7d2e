// Starts a thread of the store, from the build and from the sources alike.
import { Worker } from "node:worker_threads";

/** Starts `<name>.js` of this folder (`.ts` where the sources run, which need their loader in each thread). */
export function startThread(name: string, workerData: unknown): Worker {
  const fromSources = import.meta.url.endsWith(".ts");
  const url = new URL(`./${name}.${fromSources ? "ts" : "js"}`, import.meta.url);
  if (!fromSources) return new Worker(url, { workerData });
  const loader = JSON.stringify(import.meta.resolve("tsx/esm/api"));
  return new Worker(`import(${loader}).then((tsx) => { tsx.register(); return import(${JSON.stringify(url.href)}); })`, { eval: true, workerData });
}
