// Everything that a service has written into its folder, in one buffer to search for secrets.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

export async function openDatabases(folder: string): Promise<Buffer> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Buffer.concat(await Promise.all(files.map((file) => readFile(file))));
}
