// Blobs in a local folder. A blob is written to a temporary file of the same file system, made durable, renamed to its
// place, and its folder made durable: so a blob is there whole or not at all, whatever happens meanwhile.
import { randomUUID } from "node:crypto";
import * as nodeFileSystem from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { InsufficientStorage } from "../core/errors.js";
import type { BlobStore } from "./blobs.js";
import { keySegments, prefixSegments } from "./key.js";

/** What the store asks of the file system; tests give one that fails at the N-th call. */
export type DiskFileSystem = Pick<
  typeof nodeFileSystem,
  "mkdir" | "open" | "readdir" | "rename" | "rm" | "rmdir" | "stat" | "unlink"
>;

export interface DiskBlobsOptions {
  /** Created where it is missing. Blobs go to `blobs/` in it, unfinished writes to `temp/`. */
  readonly folder: string;
  /** @default node:fs/promises */
  readonly fileSystem?: DiskFileSystem | undefined;
}

/** Bytes per read of a streamed blob. */
const chunkSize = 262_144;
/** A folder may be removed, being empty, just before a blob is renamed into it: how often to start that step again. */
const placeAttempts = 20;

/** A BlobStore in a folder. Several processes may share it. */
export function createDiskBlobs({ folder, fileSystem = nodeFileSystem }: DiskBlobsOptions): BlobStore {
  const root = join(folder, "blobs");
  const temporary = join(folder, "temp");
  const pathOf = (key: string): string => join(root, ...keySegments(key));

  async function syncFolder(path: string): Promise<void> {
    const handle = await fileSystem.open(path, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  /** Creates the folder and makes each new one durable in its parent. */
  async function makeFolder(path: string): Promise<void> {
    const first = await fileSystem.mkdir(path, { recursive: true, mode: 0o700 });
    if (first === undefined) return;
    for (let made = path; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
  }

  async function writeTemporary(path: string, content: Readable): Promise<number> {
    const handle = await fileSystem.open(path, "wx", 0o600);
    let size = 0;
    try {
      for await (const piece of content as AsyncIterable<Uint8Array | string>) {
        const chunk = typeof piece === "string" ? Buffer.from(piece) : piece;
        // A short write is legal; `write` then says how far it came.
        for (let offset = 0; offset < chunk.byteLength; ) {
          const { bytesWritten } = await handle.write(chunk, offset, chunk.byteLength - offset);
          offset += bytesWritten;
        }
        size += chunk.byteLength;
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    return size;
  }

  async function place(from: string, to: string): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await makeFolder(dirname(to));
        await fileSystem.rename(from, to);
        break;
      } catch (error) {
        if (!isMissing(error) || attempt === placeAttempts) throw error;
      }
    }
    try {
      await syncFolder(dirname(to));
    } catch (error) {
      await fileSystem.unlink(to).catch(() => undefined);
      throw error;
    }
  }

  /** Removes folders that have become empty, from the blob's upwards. */
  async function tidy(path: string): Promise<void> {
    for (let parent = dirname(path); parent.length > root.length; parent = dirname(parent)) {
      try {
        await fileSystem.rmdir(parent);
      } catch {
        return; // It holds another blob, or is gone already: an empty folder left behind does no harm either.
      }
    }
  }

  async function* walk(path: string, key: string): AsyncGenerator<{ key: string; size: number; modifiedAt: number }> {
    const entries = await orMissing(fileSystem.readdir(path, { withFileTypes: true }));
    for (const entry of entries ?? []) {
      const childPath = join(path, entry.name);
      const childKey = key === "" ? entry.name : `${key}/${entry.name}`;
      if (entry.isDirectory()) yield* walk(childPath, childKey);
      else if (entry.isFile()) {
        const found = await orMissing(fileSystem.stat(childPath));
        if (found !== undefined) yield { key: childKey, size: found.size, modifiedAt: found.mtimeMs };
      }
    }
  }

  return {
    async open() {
      await translated(async () => {
        await makeFolder(root);
        await makeFolder(temporary);
      });
    },

    async close() {
      // Nothing is held between calls.
    },

    async write(key, content) {
      const target = pathOf(key);
      const path = join(temporary, randomUUID());
      try {
        const size = await writeTemporary(path, content);
        await place(path, target);
        return { size };
      } catch (error) {
        content.destroy();
        await fileSystem.unlink(path).catch(() => undefined);
        await tidy(target);
        throw translate(error);
      }
    },

    async read(key, range) {
      const handle = await orMissing(fileSystem.open(pathOf(key), "r"));
      if (handle === undefined) return undefined;
      return handle.createReadStream({ highWaterMark: chunkSize, ...(range === undefined ? {} : { start: range.start, end: range.end }) });
    },

    async readWhole(key) {
      const handle = await orMissing(fileSystem.open(pathOf(key), "r"));
      if (handle === undefined) return undefined;
      try {
        // One read into memory of its own: nothing is taken from Node's shared pool, and nothing copied.
        const { size } = await handle.stat();
        const bytes = Buffer.allocUnsafeSlow(size);
        for (let offset = 0; offset < size; ) {
          const { bytesRead } = await handle.read(bytes, offset, size - offset, offset);
          if (bytesRead === 0) throw new Error("a blob became shorter while it was read");
          offset += bytesRead;
        }
        return bytes;
      } finally {
        await handle.close();
      }
    },

    async size(key) {
      return (await orMissing(fileSystem.stat(pathOf(key))))?.size;
    },

    async remove(key) {
      const path = pathOf(key);
      await orMissing(fileSystem.unlink(path));
      await tidy(path);
    },

    async removeAll(prefix) {
      const path = join(root, ...keySegments(prefix));
      const doomed = join(temporary, randomUUID());
      // Out of sight in one step; where the process ends before the rest, `sweep` finishes it.
      const moved = await orMissing(fileSystem.rename(path, doomed).then(() => true));
      if (moved === undefined) return;
      await fileSystem.rm(doomed, { recursive: true, force: true });
      await tidy(path);
    },

    list(prefix) {
      const segments = prefixSegments(prefix);
      return walk(join(root, ...segments), segments.join("/"));
    },

    async sweep(olderThan) {
      const names = (await orMissing(fileSystem.readdir(temporary))) ?? [];
      for (const name of names) {
        const path = join(temporary, name);
        const found = await orMissing(fileSystem.stat(path));
        if (found !== undefined && Date.now() - found.mtimeMs > olderThan) await fileSystem.rm(path, { recursive: true, force: true });
      }
    },
  };
}

async function orMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw translate(error);
  }
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === "string" ? code : undefined;
}

function isMissing(error: unknown): boolean {
  const code = codeOf(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

function translate(error: unknown): unknown {
  const code = codeOf(error);
  return code === "ENOSPC" || code === "EDQUOT" ? new InsufficientStorage(error) : error;
}
