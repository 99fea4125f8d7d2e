// Width and height of raster images, read from their headers while the bytes pass by. Nothing is decoded.
import { isTurned } from "./orientation.js";

export interface ImageSize {
  /** Pixels, as the image is to be shown: an orientation that lays it on its side is taken into account. */
  readonly width: number;
  readonly height: number;
}

/** What a reader asks for next: so many bytes, or that so many are passed over. */
type Want = { readonly take: number } | { readonly skip: number };
type Reader = Generator<Want, ImageSize | undefined, Buffer>;

export interface ImageProbe {
  /** The next bytes of the file. */
  feed(chunk: Uint8Array): void;
  /** Known once the header has passed by. */
  size(): ImageSize | undefined;
}

const readers: Readonly<Record<string, () => Reader>> = {
  "image/jpeg": jpeg, "image/png": png, "image/apng": png, "image/gif": gif, "image/webp": webp, "image/bmp": bmp,
};

/** A probe for files of this type; undefined where the type is none that it can read. */
export function createImageProbe(type: string): ImageProbe | undefined {
  const reader = Object.hasOwn(readers, type) ? readers[type]?.() : undefined;
  if (reader === undefined) return undefined;
  let found: ImageSize | undefined;
  let ended = false;
  let skip = 0;
  let take = 0;
  let taken: Uint8Array[] = [];
  let missing = 0;

  function advance(bytes: Buffer): void {
    const step = reader!.next(bytes);
    if (step.done === true) {
      ended = true;
      found = step.value !== undefined && step.value.width > 0 && step.value.height > 0 ? step.value : undefined;
    } else if ("take" in step.value) {
      take = step.value.take;
      missing = take;
      taken = [];
    } else {
      take = 0;
      skip = step.value.skip;
    }
  }
  advance(Buffer.alloc(0));

  return {
    feed(chunk) {
      let rest = chunk;
      while (!ended) {
        if (take === 0) {
          const passed = Math.min(skip, rest.length);
          skip -= passed;
          rest = rest.subarray(passed);
          if (skip > 0) return;
          advance(Buffer.alloc(0));
        } else {
          const part = rest.subarray(0, missing);
          rest = rest.subarray(part.length);
          missing -= part.length;
          if (part.length > 0) taken.push(part);
          if (missing > 0) {
            // The chunk's memory may be used again by its owner.
            taken = [Buffer.concat(taken)];
            return;
          }
          advance(taken.length === 1 ? Buffer.from(taken[0]!) : Buffer.concat(taken));
        }
      }
    },
    size: () => found,
  };
}

function shown(width: number, height: number, turned: boolean): ImageSize {
  return turned ? { width: height, height: width } : { width, height };
}

function* jpeg(): Reader {
  yield { skip: 2 };
  let turned = false;
  for (;;) {
    const marker = yield { take: 2 };
    if (marker[0] !== 0xff) return undefined;
    let code = marker[1]!;
    while (code === 0xff) code = (yield { take: 1 })[0]!;
    if (code === 0x01 || (code >= 0xd0 && code <= 0xd8)) continue;
    if (code === 0xd9 || code === 0xda) return undefined;
    const length = (yield { take: 2 }).readUInt16BE(0) - 2;
    if (length < 0) return undefined;
    if (code >= 0xc0 && code <= 0xcf && code !== 0xc4 && code !== 0xc8 && code !== 0xcc) {
      const frame = yield { take: 5 };
      return shown(frame.readUInt16BE(3), frame.readUInt16BE(1), turned);
    }
    if (code === 0xe1 && length > 6) {
      const segment = yield { take: length };
      if (segment.toString("latin1", 0, 6) === "Exif\0\0") turned = isTurned(segment.subarray(6));
    } else yield { skip: length };
  }
}

function* png(): Reader {
  const header = yield { take: 24 };
  const width = header.readUInt32BE(16);
  const height = header.readUInt32BE(20);
  // What is left of the first chunk, IHDR, and its checksum.
  yield { skip: Math.max(0, header.readUInt32BE(8) - 8 + 4) };
  for (;;) {
    const chunk = yield { take: 8 };
    const length = chunk.readUInt32BE(0);
    const name = chunk.toString("latin1", 4, 8);
    if (name === "IDAT" || name === "IEND") return { width, height };
    if (name === "eXIf" && length > 0 && length <= 65_536) return shown(width, height, isTurned(yield { take: length }));
    yield { skip: length + 4 };
  }
}

function* gif(): Reader {
  const header = yield { take: 10 };
  return { width: header.readUInt16LE(6), height: header.readUInt16LE(8) };
}

function* webp(): Reader {
  const header = yield { take: 30 };
  switch (header.toString("latin1", 12, 16)) {
    case "VP8X":
      return { width: header.readUIntLE(24, 3) + 1, height: header.readUIntLE(27, 3) + 1 };
    case "VP8L": {
      const bits = header.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case "VP8 ":
      return { width: header.readUInt16LE(26) & 0x3fff, height: header.readUInt16LE(28) & 0x3fff };
    default:
      return undefined;
  }
}

function* bmp(): Reader {
  const header = yield { take: 26 };
  if (header.readUInt32LE(14) === 12) return { width: header.readUInt16LE(18), height: header.readUInt16LE(20) };
  return { width: header.readInt32LE(18), height: Math.abs(header.readInt32LE(22)) };
}
