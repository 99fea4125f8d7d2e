// The bytes of small files asked for again and again: kept in memory within bounds. A blob never changes, so what is
// kept is always right; who may see it is decided before, for every request.
import type { BlobStore } from "../blobs/blobs.js";

/** Bytes kept altogether. */
const capacity = 8_388_608;
/** Keys remembered as asked for once; only a second request within these keeps the bytes. */
const rememberedKeys = 1_000;

export interface RecentBytes {
  /** All bytes of the blob, not to be changed; undefined where there is none. */
  read(key: string): Promise<Buffer | undefined>;
  forget(key: string): void;
}

export function createRecentBytes(blobs: Pick<BlobStore, "readWhole">): RecentBytes {
  const kept = new Map<string, Buffer>();
  const askedOnce = new Set<string>();
  let size = 0;

  function forget(key: string): void {
    size -= kept.get(key)?.length ?? 0;
    kept.delete(key);
    askedOnce.delete(key);
  }

  function keep(key: string, bytes: Buffer): void {
    forget(key);
    kept.set(key, bytes);
    size += bytes.length;
    for (const [oldest] of kept) {
      if (size <= capacity) return;
      forget(oldest);
    }
  }

  return {
    forget,

    async read(key) {
      const known = kept.get(key);
      if (known !== undefined) {
        kept.delete(key);
        kept.set(key, known);
        return known;
      }
      const again = askedOnce.has(key);
      if (!again) {
        askedOnce.add(key);
        for (const [oldest] of askedOnce.entries()) {
          if (askedOnce.size <= rememberedKeys) break;
          askedOnce.delete(oldest);
        }
      }
      const bytes = await blobs.readWhole(key);
      // Forgotten while it was read: removed, and not to be kept.
      if (bytes !== undefined && again && askedOnce.has(key)) keep(key, bytes);
      return bytes;
    },
  };
}
