// Files that commands read and write; `-` is standard input or output.
import { createReadStream, createWriteStream } from "node:fs";
import { access, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Failed, type Program } from "./command.js";

/** Writes the stream into the file, readable by its owner alone; a file that is there is only replaced where the new one is whole. */
export async function writeOut({ stdout }: Program, file: string, content: Readable): Promise<void> {
  if (file === "-") {
    await pipeline(content, stdout, { end: false });
    return;
  }
  const part = `${file}.part`;
  try {
    await pipeline(content, createWriteStream(part, { mode: 0o600 }));
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** Runs with the path of a file that can be read more than once. Throws Failed where there is none. */
export async function withInput<T>({ stdin }: Program, file: string, run: (path: string) => Promise<T>): Promise<T> {
  if (file !== "-") {
    await access(file).catch(() => {
      throw new Failed(`There is no file ${file} that can be read`);
    });
    return await run(file);
  }
  const folder = await mkdtemp(join(tmpdir(), "records-input-"));
  try {
    const path = join(folder, "input");
    await pipeline(stdin, createWriteStream(path, { mode: 0o600 }));
    return await run(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The bytes of the file, from its beginning. */
export const openFile = (path: string): Readable => createReadStream(path);
