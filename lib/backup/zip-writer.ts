// Writes a zip as a stream, entry by entry, no faster than it is read; keeps size and checksum of each. The only user
// of yazl.
import { createHash } from "node:crypto";
import { Readable, type Writable } from "node:stream";
import type { ZipFile } from "yazl";

export interface ZipWriter {
  /** Resolves once the entry is on its way, so that one is in memory at a time. */
  add(path: string, content: Readable | Buffer | string, options?: { readonly compress?: boolean }): Promise<void>;
  /** Size and SHA-256 of what was added. */
  readonly entries: ReadonlyMap<string, { readonly size: number; readonly sha256: string }>;
  end(): void;
}

/** Writes into the stream; rejects where that is destroyed. */
export async function createZipWriter(output: Writable, modifiedAt: Date): Promise<ZipWriter> {
  const zip: ZipFile = new (await import("yazl")).default.ZipFile();
  const entries = new Map<string, { size: number; sha256: string }>();
  let failure: { readonly error: unknown } | undefined;
  const listeners = new Set<(error: unknown) => void>();
  const fail = (error: unknown): void => {
    failure ??= { error };
    for (const listener of listeners) listener(failure.error);
  };
  zip.on("error", fail);
  output.once("close", () => fail(new Error("The backup's reader has gone")));
  zip.outputStream.pipe(output);

  return {
    entries,
    end: () => zip.end(),

    async add(path, content, { compress = true } = {}) {
      if (failure !== undefined) throw failure.error;
      const hash = createHash("sha256");
      let size = 0;
      async function* counted(): AsyncGenerator<Buffer> {
        for await (const piece of typeof content === "string" || Buffer.isBuffer(content) ? [content] : content) {
          const chunk = typeof piece === "string" ? Buffer.from(piece) : (piece as Buffer);
          hash.update(chunk);
          size += chunk.length;
          if (chunk.length > 0) yield chunk;
        }
      }
      const source = Readable.from(counted(), { objectMode: false });
      try {
        await new Promise<void>((resolve, reject) => {
          listeners.add(reject);
          source.once("end", () => {
            listeners.delete(reject);
            resolve();
          });
          source.once("error", reject);
          zip.addReadStreamLazy(path, { mtime: modifiedAt, mode: 0o100600, compress }, (start) => start(null, source));
        });
      } catch (error) {
        source.destroy();
        if (content instanceof Readable) content.destroy();
        fail(error);
        throw error;
      }
      entries.set(path, { size, sha256: hash.digest("hex") });
    },
  };
}
