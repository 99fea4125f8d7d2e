// Which variants are there, and how large they are. A blob never changes, so a size once seen is remembered; that a
// variant is missing is asked again each time, for it may be made at any moment.
import type { BlobStore } from "../blobs/blobs.js";

/** Sizes remembered, oldest use forgotten first. */
const capacity = 20_000;

export interface VariantSizes {
  /** Bytes; undefined where there is no such blob. */
  get(key: string): Promise<number | undefined>;
  forget(key: string): void;
}

export function createVariantSizes(blobs: BlobStore): VariantSizes {
  const known = new Map<string, number>();
  return {
    async get(key) {
      const remembered = known.get(key);
      if (remembered !== undefined) {
        known.delete(key);
        known.set(key, remembered);
        return remembered;
      }
      const size = await blobs.size(key);
      if (size === undefined) return undefined;
      known.set(key, size);
      if (known.size > capacity) known.delete(known.keys().next().value!);
      return size;
    },
    forget(key) {
      known.delete(key);
    },
  };
}
