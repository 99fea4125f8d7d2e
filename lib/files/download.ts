// Serves a file: finds the reference in the record, chooses original or variant by `width`, answers conditional and
// partial requests, and only then touches the bytes.
import type { BlobStore } from "../blobs/blobs.js";
import { BadRequest, NotFound, RangeNotSatisfiable } from "../core/errors.js";
import { fileReferences, type FileReference, type RecordValue } from "../core/record.js";
import type { Collection } from "../collections/collection.js";
import type { FileField } from "../schema/collection.js";
import { isNotModified, requestedRange } from "./conditions.js";
import { dispositionOf, guardHeaders } from "./disposition.js";
import type { Download, DownloadRequest } from "./files.js";
import { fileKey, variantKey } from "./keys.js";
import { candidateWidths, parseWidth } from "./variant-plan.js";
import type { RecentBytes } from "./recent-bytes.js";
import type { VariantSizes } from "./variant-sizes.js";

/** Files up to this size are read whole: one answer, no stream. */
const wholeUpTo = 1_048_576;

export interface DownloadDeps {
  readonly blobs: BlobStore;
  readonly sizes: VariantSizes;
  readonly recent: RecentBytes;
}

/** The file that a path names. Throws NotFound: no such field, no such file, a multiple field without a file id. */
export function findFile(collection: Collection, record: RecordValue, fieldName: string, fileId: string | null): { readonly field: FileField; readonly file: FileReference } {
  const field = collection.files.find((one) => one.name === fieldName);
  if (field === undefined) throw new NotFound();
  const files = fileReferences(record[field.name]);
  const file = fileId !== null ? files.find((one) => one.id === fileId) : field.multiple ? undefined : files[0];
  if (file === undefined) throw new NotFound();
  return { field, file };
}

/** The strong entity tag of a file as it was uploaded, or of one of its variants. */
export function etagOfFile(file: FileReference, label = "original"): string {
  return `"${file.id}-${label}"`;
}

/** Throws NotFound, BadRequest where the width is no positive number, RangeNotSatisfiable. */
export async function downloadFile({ blobs, sizes, recent }: DownloadDeps, tenantId: string, collection: Collection, record: RecordValue, request: DownloadRequest): Promise<Download> {
  const { file } = findFile(collection, record, request.field, request.fileId);
  const width = request.width === null ? null : parseWidth(request.width);
  if (width === undefined) throw new BadRequest("width must be a positive whole number of pixels, written in digits");

  const original = fileKey(tenantId, collection.definition.id, record.id, file.id);
  const chosen = width === null ? undefined : await chooseVariant(sizes, original, file, width);
  const key = chosen?.key ?? original;
  const size = chosen?.size ?? file.size;
  const label = chosen === undefined ? "original" : String(chosen.width);
  const etag = etagOfFile(file, label);
  const headers: Record<string, string> = {
    ...guardHeaders,
    ETag: etag,
    "Cache-Control": "private, max-age=300, immutable",
    // A browser whose user has changed must not show the former one's files.
    Vary: "Authorization",
    "X-Image-Width": label,
  };
  if (isNotModified(request.ifNoneMatch, etag)) return { status: 304, headers, body: null };

  headers["Content-Type"] = file.type === "text/plain" ? "text/plain; charset=utf-8" : file.type;
  headers["Content-Disposition"] = dispositionOf(file);
  headers["Accept-Ranges"] = "bytes";
  const range = request.method === "GET" ? requestedRange(request.range, request.ifRange, etag, size) : undefined;
  if (range === "unsatisfiable") throw new RangeNotSatisfiable(size);
  const start = range?.start ?? 0;
  const end = range?.end ?? size - 1;
  headers["Content-Length"] = String(end - start + 1);
  if (range !== undefined) headers["Content-Range"] = `bytes ${start}-${end}/${size}`;
  const status = range === undefined ? 200 : 206;

  if (request.method === "HEAD") {
    if ((await sizes.get(key)) !== size) throw new NotFound();
    return { status, headers, body: null };
  }
  if (size <= wholeUpTo) {
    const whole = await recent.read(key);
    if (whole?.length !== size) {
      recent.forget(key);
      return gone(sizes, key);
    }
    return { status, headers, body: range === undefined ? whole : whole.subarray(start, end + 1) };
  }
  const stream = await blobs.read(key, range === undefined ? undefined : { start, end });
  if (stream === undefined) return gone(sizes, key);
  return { status, headers, body: stream };
}

/** The bytes have been removed since the record was read, or are damaged: there is no such file. */
function gone(sizes: VariantSizes, key: string): never {
  sizes.forget(key);
  throw new NotFound();
}

async function chooseVariant(sizes: VariantSizes, original: string, file: FileReference, wanted: number): Promise<{ key: string; size: number; width: number } | undefined> {
  for (const width of candidateWidths(file.variants ?? [], wanted)) {
    const key = variantKey(original, width);
    const size = await sizes.get(key);
    if (size !== undefined) return { key, size, width };
  }
  return undefined;
}
