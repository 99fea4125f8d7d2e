// A folder for several nodes over one MongoDB: services that are started with it, here and in child processes, share a database.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { storageOf } from "../support/service.js";
import { removeDatabases, type MongoServer } from "./server.js";

export interface NodesFolder {
  readonly folder: string;
  /** Removes the folder and its databases. */
  remove(): Promise<void>;
}

export async function makeNodesFolder(server: MongoServer): Promise<NodesFolder> {
  const former = process.env["TEST_STORAGE"];
  process.env["TEST_STORAGE"] = server.withDatabase("");
  const folder = await mkdtemp(join(tmpdir(), "mongodb-nodes-"));
  return {
    folder,
    async remove() {
      await removeDatabases(storageOf(folder).storage as string);
      if (former === undefined) delete process.env["TEST_STORAGE"];
      else process.env["TEST_STORAGE"] = former;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
