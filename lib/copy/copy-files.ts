// Copies every blob and compares checksums: of those copied now, and of those that were there already.
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { BlobStore } from "../blobs/blobs.js";
import { Conflict } from "../core/errors.js";
import type { CopyProgress } from "./copy-service.js";

/** Throws Conflict where a file differs after it was copied. */
export async function copyFiles(from: BlobStore, to: BlobStore, onProgress: (progress: CopyProgress) => void, signal: AbortSignal | undefined): Promise<{ files: number; bytes: number }> {
  let files = 0;
  let bytes = 0;
  for await (const { key, size } of from.list("")) {
    signal?.throwIfAborted();
    const wanted = await digestOf(from, key);
    // One that was removed meanwhile is nobody's any more.
    if (wanted === undefined) continue;
    if ((await to.size(key)) !== size || (await digestOf(to, key)) !== wanted) {
      await to.remove(key);
      await to.write(key, (await from.read(key)) ?? Readable.from([]));
      if ((await digestOf(to, key)) !== wanted) throw new Conflict(`The file ${key} differs after it was copied: copy again`);
    }
    files += 1;
    bytes += size;
    onProgress({ step: "files", of: key.split("/")[0] ?? "", done: files, total: 0 });
  }
  return { files, bytes };
}

async function digestOf(blobs: BlobStore, key: string): Promise<string | undefined> {
  const stream = await blobs.read(key);
  if (stream === undefined) return undefined;
  const hash = createHash("sha256");
  for await (const piece of stream) hash.update(piece as Buffer);
  return hash.digest("hex");
}
