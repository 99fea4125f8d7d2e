// Run by memory-server.ts through `npm exec`: starts a real mongod as a replica set of one, tells its address on
// standard output, and stops it when standard input ends.
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";

interface ReplicaSet {
  getUri(): string;
  stop(): Promise<unknown>;
}
interface MemoryServer {
  readonly MongoMemoryReplSet: { create(options: { readonly replSet: { readonly count: number; readonly storageEngine: string } }): Promise<ReplicaSet> };
}

/** `npm exec` puts the folder of what it has fetched into PATH, and nowhere else. */
function load(): MemoryServer {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    try {
      return createRequire(join(folder, "..", "require.js"))("mongodb-memory-server") as MemoryServer;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw error;
    }
  }
  throw new Error("mongodb-memory-server was not fetched");
}

try {
  const set = await load().MongoMemoryReplSet.create({ replSet: { count: 1, storageEngine: "wiredTiger" } });
  console.log(`ready ${set.getUri()}`);
  process.stdin.resume();
  await new Promise((ended) => process.stdin.once("close", ended));
  await set.stop();
  process.exit(0);
} catch (error) {
  // The first lines say what could not be done; the rest is a trace.
  console.log(`failed ${(error instanceof Error ? error.message : String(error)).replaceAll("\n", " ")}`);
  process.exit(1);
}
