// Reads a zip that nobody vouches for: its directory is checked whole before anything is unpacked, and nothing is
// unpacked beyond what the directory says. The only user of yauzl.
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { Entry, ZipFile } from "yauzl";
import { BadRequest } from "../core/errors.js";
import { largestEntry, mostEntries, readPath } from "./format.js";

export interface ZipReader {
  readonly paths: ReadonlySet<string>;
  /** The content, unpacked; it breaks with BadRequest where it is not as its checksum says. Throws BadRequest where there is no such entry. */
  open(path: string, expected?: { readonly size: number; readonly sha256: string }): Promise<Readable>;
  /** All of it, as text. */
  text(path: string, expected?: { readonly size: number; readonly sha256: string }): Promise<string>;
  close(): void;
}

/** Bytes in memory, or a file. `mostBytes`: of everything unpacked. Throws BadRequest that says what is wrong. */
export async function openZip(source: Buffer | string, mostBytes: number): Promise<ZipReader> {
  const zip = await open(source);
  try {
    const entries = await readDirectory(zip, mostBytes);
    return createReader(zip, entries);
  } catch (error) {
    zip.close();
    throw error instanceof BadRequest ? error : notAnArchive(error);
  }
}

async function open(source: Buffer | string): Promise<ZipFile> {
  const options = { lazyEntries: true, autoClose: false, strictFileNames: true, validateEntrySizes: true, decodeStrings: true };
  const { default: yauzl } = await import("yauzl");
  try {
    return Buffer.isBuffer(source) ? await yauzl.fromBufferPromise(source, options) : await yauzl.openPromise(source, options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") throw new BadRequest("There is no such file", error);
    throw notAnArchive(error);
  }
}

function notAnArchive(error: unknown): BadRequest {
  return new BadRequest(`This is no backup: ${error instanceof Error ? error.message.replace(/\.$/, "") : "it cannot be read"}`, error);
}

async function readDirectory(zip: ZipFile, mostBytes: number): Promise<ReadonlyMap<string, Entry>> {
  if (zip.entryCount > mostEntries) throw new BadRequest(`The archive has more than ${mostEntries} entries`);
  const entries = new Map<string, Entry>();
  const spans: { readonly start: number; readonly end: number }[] = [];
  let total = 0;
  for await (const entry of zip.eachEntry()) {
    const { fileName } = entry;
    const meaning = readPath(fileName);
    const shown = JSON.stringify(fileName.slice(0, 120));
    if (meaning === undefined) throw new BadRequest(`The archive has the entry ${shown}, which no backup has`);
    if (entries.has(fileName)) throw new BadRequest(`The archive has the entry ${shown} twice`);
    if (!entry.canDecodeFileData()) throw new BadRequest(`The entry ${shown} is encrypted, or packed in a way that no backup is`);
    if (entry.uncompressedSize > (meaning.kind === "file" ? largestEntry.file : largestEntry.text)) throw new BadRequest(`The entry ${shown} is too large when it is unpacked`);
    total += entry.uncompressedSize;
    if (total > mostBytes) throw new BadRequest(`The archive has more than ${Math.round(mostBytes / 1_048_576)} MiB when it is unpacked`);
    spans.push({ start: entry.relativeOffsetOfLocalHeader, end: entry.relativeOffsetOfLocalHeader + entry.compressedSize });
    entries.set(fileName, entry);
  }
  // Entries that share bytes unpack to far more than the archive could hold.
  spans.sort((a, b) => a.start - b.start);
  if (spans.some((span, index) => index > 0 && span.start < spans[index - 1]!.end)) throw new BadRequest("The archive has entries that lie over each other");
  return entries;
}

function createReader(zip: ZipFile, entries: ReadonlyMap<string, Entry>): ZipReader {
  async function openEntry(path: string, expected: { readonly size: number; readonly sha256: string } | undefined): Promise<Readable> {
    const entry = entries.get(path);
    if (entry === undefined) throw new BadRequest(`The archive lacks ${path}`);
    const stream = await zip.openReadStreamPromise(entry).catch((error: unknown) => {
      throw new BadRequest(`${path} cannot be read: ${error instanceof Error ? error.message : "it is damaged"}`, error);
    });
    return Readable.from(checked(path, stream, expected), { objectMode: false });
  }

  return {
    paths: new Set(entries.keys()),
    open: openEntry,
    async text(path, expected) {
      const chunks: Buffer[] = [];
      for await (const chunk of await openEntry(path, expected)) chunks.push(chunk as Buffer);
      try {
        return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
      } catch (error) {
        throw new BadRequest(`${path} is not valid UTF-8`, error);
      }
    },
    close: () => zip.close(),
  };
}

/** Passes the bytes on, and fails where they cannot be unpacked, or at the end are others than those that were packed. */
async function* checked(path: string, stream: Readable, expected: { readonly size: number; readonly sha256: string } | undefined): AsyncGenerator<Buffer> {
  const hash = createHash("sha256");
  let size = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      hash.update(chunk);
      size += chunk.length;
      yield chunk;
    }
  } catch (error) {
    throw new BadRequest(`${path} is damaged`, error);
  }
  if (expected !== undefined && (size !== expected.size || hash.digest("hex") !== expected.sha256)) throw new BadRequest(`${path} is damaged: its content is not what its checksum says`);
}
