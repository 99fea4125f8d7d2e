// Everything that a service has stored, in one buffer to search for secrets: its folder, and its databases where it
// stands on MongoDB (TEST_STORAGE).
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { MongoClient } from "mongodb";
import { databaseOf } from "../support/mongo-url.js";
import { storageOf } from "../support/service.js";

export async function openDatabases(folder: string): Promise<Buffer> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const documents = await onServer(folder, async (client, names) => {
    const found: string[] = [];
    for (const name of names) {
      for (const { collectionName } of await client.db(name).collections()) {
        for await (const document of client.db(name).collection(collectionName).find({})) found.push(everyText(document).join("\n"));
      }
    }
    return found;
  });
  return Buffer.concat([...(await Promise.all(files.map((file) => readFile(file)))), ...(documents ?? []).map((text) => Buffer.from(`${text}\n`))]);
}

/** Names of the databases on the server; none where the service stands on its folder. */
export async function databaseNames(folder: string): Promise<readonly string[]> {
  return (await onServer(folder, async (_client, names) => names)) ?? [];
}

async function onServer<Result>(folder: string, use: (client: MongoClient, names: readonly string[]) => Promise<Result>): Promise<Result | undefined> {
  const { storage } = storageOf(folder);
  if (typeof storage !== "string" || storage === folder) return undefined;
  const own = databaseOf(storage);
  const client = await MongoClient.connect(storage);
  try {
    const { databases } = await client.db("admin").admin().listDatabases({ nameOnly: true });
    return await use(client, databases.map(({ name }) => name).filter((name) => name === own || name.startsWith(`${own}_`)));
  } finally {
    await client.close();
  }
}

/** Keys and texts as they are, without the escapes of JSON. */
function everyText(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (value === null || typeof value !== "object") return [String(value)];
  return Object.entries(value).flatMap(([key, member]) => [key, ...everyText(member)]);
}
