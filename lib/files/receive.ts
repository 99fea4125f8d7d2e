// Takes one upload in: streams it into the blob store while its bytes are counted, its type is sniffed and its size as
// an image is read. Whatever is not allowed ends the stream at once, and nothing stays behind.
import { Readable } from "node:stream";
import type { BlobStore } from "../blobs/blobs.js";
import type { Clock } from "../core/clock.js";
import { ValidationFailed } from "../core/errors.js";
import { newId } from "../core/ids.js";
import type { FileReference } from "../core/record.js";
import type { FileField } from "../schema/collection.js";
import { safeFileName } from "./file-name.js";
import type { PendingFile } from "./files.js";
import { createImageProbe, type ImageProbe } from "./image-size.js";
import { fileKey } from "./keys.js";
import { headSize, isAllowedType, sniffType, unknownType } from "./sniff.js";
import { plannedWidths } from "./variant-plan.js";

export interface ReceiveDeps {
  readonly blobs: BlobStore;
  readonly clock: Clock;
}

export interface Place {
  readonly tenantId: string;
  readonly collectionId: string;
  readonly recordId: string;
}

/**
 * Stores the upload under a new file id. Throws ValidationFailed where it is larger than the field's `maxSize` or of a
 * type that the field does not take, InsufficientStorage where there is no room, and the stream's own error.
 */
export async function receiveFile({ blobs, clock }: ReceiveDeps, place: Place, field: FileField, upload: { readonly name: string; readonly stream: Readable }): Promise<PendingFile> {
  const id = newId(clock.now());
  const key = fileKey(place.tenantId, place.collectionId, place.recordId, id);
  const seen: Inspection = { size: 0, type: unknownType, probe: undefined, failure: undefined };
  try {
    await blobs.write(key, Readable.from(inspect(upload.stream, field, seen), { objectMode: false }));
  } catch (error) {
    upload.stream.destroy();
    // The store may have wrapped what ended the stream; the reason is ours to tell.
    throw seen.failure ?? error;
  }
  const size = seen.probe?.size();
  const variants = plannedWidths(field.widths, seen.type, size?.width);
  const reference: FileReference = {
    id,
    name: safeFileName(upload.name),
    size: seen.size,
    type: seen.type,
    ...(size ?? {}),
    ...(variants.length === 0 ? {} : { variants }),
  };
  return { field: field.name, reference, key };
}

interface Inspection {
  size: number;
  type: string;
  probe: ImageProbe | undefined;
  failure: ValidationFailed | undefined;
}

/** Passes the bytes on, holding back only the first ones until their type is known and allowed. */
async function* inspect(stream: Readable, field: FileField, seen: Inspection): AsyncGenerator<Buffer> {
  let held: Buffer[] | undefined = [];
  // The stream is ended by the caller, once what was wrong with it can be told: ended here, its owner would see it break first.
  for await (const piece of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<unknown>) {
    if (!(typeof piece === "string" || piece instanceof Uint8Array)) throw refuse(seen, field, "must be a stream of bytes or text");
    const chunk = Buffer.isBuffer(piece) ? piece : Buffer.from(piece as string | Uint8Array);
    if (chunk.length === 0) continue;
    seen.size += chunk.length;
    if (seen.size > field.maxSize) throw refuse(seen, field, `must be at most ${field.maxSize} bytes`);
    if (held === undefined) {
      seen.probe?.feed(chunk);
      yield chunk;
    } else {
      held.push(chunk);
      if (seen.size >= headSize) {
        await decide(held, field, seen);
        yield* held;
        held = undefined;
      }
    }
  }
  if (held !== undefined) {
    await decide(held, field, seen);
    yield* held;
  }
}

async function decide(held: readonly Buffer[], field: FileField, seen: Inspection): Promise<void> {
  seen.type = await sniffType(Buffer.concat(held).subarray(0, headSize));
  if (!isAllowedType(seen.type, field.mimeTypes)) {
    throw refuse(seen, field, `must be of type ${field.mimeTypes.join(" or ")}, and the content given is ${seen.type}`);
  }
  seen.probe = createImageProbe(seen.type);
  for (const chunk of held) seen.probe?.feed(chunk);
}

function refuse(seen: Inspection, field: FileField, message: string): ValidationFailed {
  seen.failure = new ValidationFailed([{ field: field.name, message }]);
  return seen.failure;
}
