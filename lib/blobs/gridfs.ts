// Blobs in GridFS, for several nodes over one MongoDB. A blob is there once its entry in `files` is written, after
// all of its chunks; what an aborted write leaves are chunks without an entry, which `sweep` removes.
import { pipeline } from "node:stream/promises";
import type { Readable } from "node:stream";
import type { Db, GridFSBucket, GridFSFile, ObjectId } from "mongodb";
import { InsufficientStorage, ServiceError, StorageUnavailable } from "../core/errors.js";
import type { BlobStore } from "./blobs.js";
import { keySegments, prefixSegments } from "./key.js";

export interface GridFsBlobsOptions {
  /** Connects; called by `open`. */
  readonly connect: () => Promise<void>;
  /** The database of the bucket. Throws while there is no connection. */
  readonly database: () => Db;
  /** @default "files" */
  readonly bucket?: string | undefined;
}

const chunkSizeBytes = 261_120;

/** A BlobStore in a GridFS bucket. It does not own the connection: `close` leaves it open. */
export function createGridFsBlobs({ connect, database, bucket: bucketName = "files" }: GridFsBlobsOptions): BlobStore {
  let makeBucket: ((db: Db) => GridFSBucket) | undefined;
  let idBefore: ((time: number) => ObjectId) | undefined;
  let last: { readonly db: Db; readonly bucket: GridFSBucket } | undefined;

  function bucket(): GridFSBucket {
    if (makeBucket === undefined) throw new StorageUnavailable(new Error("the blob store is not open"));
    const db = database();
    if (last?.db !== db) last = { db, bucket: makeBucket(db) };
    return last.bucket;
  }

  async function find(key: string): Promise<GridFSFile | undefined> {
    keySegments(key);
    return (await bucket().find({ filename: { $eq: key } }).limit(1).toArray())[0];
  }

  function below(prefix: string): object {
    const segments = prefixSegments(prefix);
    // "0" is the character after "/".
    return segments.length === 0 ? {} : { filename: { $gt: `${segments.join("/")}/`, $lt: `${segments.join("/")}0` } };
  }

  async function edge<Result>(run: () => Promise<Result>): Promise<Result> {
    try {
      return await run();
    } catch (error) {
      throw translate(error);
    }
  }

  return {
    async open() {
      await connect();
      const { GridFSBucket: Bucket, ObjectId: Id } = await import("mongodb");
      makeBucket = (db) => new Bucket(db, { bucketName, chunkSizeBytes });
      idBefore = (time) => Id.createFromTime(Math.floor(time / 1_000));
    },
    close: () => Promise.resolve(),
    async write(key, content) {
      keySegments(key);
      return edge(async () => {
        const upload = bucket().openUploadStream(key);
        try {
          await pipeline(content, upload);
        } catch (error) {
          // The entry is written last, so that chunks are all there can be.
          await database().collection(`${bucketName}.chunks`).deleteMany({ files_id: upload.id }).catch(() => undefined);
          throw error;
        }
        return { size: upload.length };
      });
    },
    read: (key, range) => edge(async () => {
      const file = await find(key);
      if (file === undefined) return undefined;
      const options = range === undefined ? {} : { start: range.start, end: Math.min(range.end + 1, file.length) };
      return bucket().openDownloadStream(file._id, options) as Readable;
    }),
    readWhole: (key) => edge(async () => {
      const file = await find(key);
      if (file === undefined) return undefined;
      const pieces: Buffer[] = [];
      try {
        for await (const piece of bucket().openDownloadStream(file._id)) pieces.push(piece as Buffer);
      } catch (error) {
        if ((await find(key)) === undefined) return undefined;
        throw error;
      }
      return Buffer.concat(pieces);
    }),
    size: (key) => edge(async () => (await find(key))?.length),
    remove: (key) => edge(async () => {
      const file = await find(key);
      if (file !== undefined) await removeFile(file._id);
    }),
    removeAll: (prefix) => edge(async () => {
      for await (const { _id } of bucket().find(below(prefix))) await removeFile(_id);
    }),
    async *list(prefix) {
      for await (const { filename, length, uploadDate } of bucket().find(below(prefix))) {
        yield { key: filename, size: length, modifiedAt: uploadDate.getTime() };
      }
    },
    sweep: (olderThan) => edge(async () => {
      const files = database().collection(`${bucketName}.files`);
      const chunks = database().collection<{ _id: ObjectId; files_id: ObjectId }>(`${bucketName}.chunks`);
      bucket();
      let known: string | undefined;
      for await (const chunk of chunks.find({ _id: { $lt: idBefore!(Date.now() - olderThan) } }, { projection: { files_id: 1 } })) {
        const id = chunk.files_id.toHexString();
        if (id === known) continue;
        known = id;
        if ((await files.findOne({ _id: chunk.files_id })) === null) await chunks.deleteMany({ files_id: chunk.files_id });
      }
    }),
  };

  async function removeFile(id: ObjectId): Promise<void> {
    await bucket().delete(id).catch((error: unknown) => {
      // Somebody else has removed it meanwhile.
      if (!(error instanceof Error && error.message.startsWith("File not found"))) throw error;
    });
  }
}

function translate(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ServiceError) return error;
  if ((error as { code?: unknown }).code === 14031) return new InsufficientStorage(error);
  return /^Mongo(Network|ServerSelection|NotConnected|TopologyClosed|ClientClosed|WaitQueueTimeout|PoolCleared|PoolClosed)/.test(error.name) ? new StorageUnavailable(error) : error;
}
