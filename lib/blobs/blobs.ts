// The blob contract: where the bytes of files live. Keys are written once and never change.
import type { Readable } from "node:stream";

export interface BlobStore {
  /** Called once, before anything else. */
  open(): Promise<void>;
  close(): Promise<void>;
  /**
   * Stores the whole stream under the key (`segment/segment/…`, segments `[A-Za-z0-9._-]+`), durable when the promise
   * resolves. Where the stream or the store fails, nothing stays behind and the promise rejects
   * (InsufficientStorage where there is no room).
   */
  write(key: string, content: Readable): Promise<{ size: number }>;
  /** The bytes from `start` to `end`, both inclusive; undefined where there is no such blob. */
  read(key: string, range?: { readonly start: number; readonly end: number }): Promise<Readable | undefined>;
  /** All bytes at once, for small blobs; undefined where there is no such blob. */
  readWhole(key: string): Promise<Buffer | undefined>;
  /** undefined where there is no such blob. */
  size(key: string): Promise<number | undefined>;
  /** Harmless where there is none. */
  remove(key: string): Promise<void>;
  /** Removes all blobs whose keys start with `prefix/`. */
  removeAll(prefix: string): Promise<void>;
  /** Every blob below `prefix/`, in any order. */
  list(prefix: string): AsyncIterable<{ readonly key: string; readonly size: number; /** ms since the epoch */ readonly modifiedAt: number }>;
  /** Removes what aborted writes may have left, older than this many milliseconds. */
  sweep(olderThan: number): Promise<void>;
}
