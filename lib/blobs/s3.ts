// Blobs in an S3-compatible object store, through @aws-sdk/client-s3 where it is installed.
import { Readable } from "node:stream";
import type * as Sdk from "@aws-sdk/client-s3";
import { StorageUnavailable } from "../core/errors.js";
import type { BlobStore } from "./blobs.js";
import { keySegments, prefixSegments } from "./key.js";

export interface S3BlobsOptions {
  readonly bucket: string;
  /** Put before every key, such as `records/`. @default "" */
  readonly prefix?: string | undefined;
  /** Settings of the SDK's client: region, endpoint, credentials, forcePathStyle. What is missing it finds as the SDK always does. */
  readonly client?: Sdk.S3ClientConfig | undefined;
}

/** Bytes of a part; a blob up to this size is sent at once. S3 takes at most 10,000 parts. */
const partSize = 8 * 1024 * 1024;
const keysAtOnce = 1_000;

/** A BlobStore in a bucket that exists. Throws on `open` where the SDK is not installed or the bucket cannot be reached. */
export function createS3Blobs({ bucket: Bucket, prefix: root = "", client: config = {} }: S3BlobsOptions): BlobStore {
  let sdk: typeof Sdk | undefined;
  let client: Sdk.S3Client | undefined;

  function parts(): { sdk: typeof Sdk; client: Sdk.S3Client } {
    if (sdk === undefined || client === undefined) throw new StorageUnavailable(new Error("the blob store is not open"));
    return { sdk, client };
  }

  function keyOf(key: string): string {
    keySegments(key);
    return root + key;
  }

  async function put(Key: string, Body: Buffer): Promise<void> {
    const { sdk: { PutObjectCommand }, client: s3 } = parts();
    await s3.send(new PutObjectCommand({ Bucket, Key, Body, ContentLength: Body.length }));
  }

  async function putParts(Key: string, chunks: AsyncIterable<Buffer>): Promise<void> {
    const { sdk: { CreateMultipartUploadCommand, UploadPartCommand, CompleteMultipartUploadCommand, AbortMultipartUploadCommand }, client: s3 } = parts();
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    try {
      const Parts: { ETag: string | undefined; PartNumber: number }[] = [];
      for await (const Body of chunks) {
        const PartNumber = Parts.length + 1;
        const { ETag } = await s3.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body, ContentLength: Body.length }));
        Parts.push({ ETag, PartNumber });
      }
      await s3.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }));
    } catch (error) {
      await s3.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch(() => undefined);
      throw error;
    }
  }

  async function get(key: string, range?: { readonly start: number; readonly end: number }): Promise<Readable | undefined> {
    const Key = keyOf(key);
    const { sdk: { GetObjectCommand }, client: s3 } = parts();
    try {
      const { Body, ContentLength } = await s3.send(new GetObjectCommand({ Bucket, Key, ...(range === undefined ? {} : { Range: `bytes=${range.start}-${range.end}` }) }));
      const length = range === undefined ? undefined : range.end + 1 - range.start;
      // Some compatible stores take `bytes=0-0` for the whole.
      return length !== undefined && range!.start === 0 && (ContentLength ?? 0) > length ? Readable.from(firstBytes(Body as Readable, length)) : (Body as Readable);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw translate(error);
    }
  }

  async function* list(prefix: string): AsyncGenerator<{ key: string; size: number; modifiedAt: number }> {
    const segments = prefixSegments(prefix);
    const { sdk: { ListObjectsV2Command }, client: s3 } = parts();
    let ContinuationToken: string | undefined;
    do {
      const page = await s3.send(new ListObjectsV2Command({
        Bucket, Prefix: root + (segments.length === 0 ? "" : `${segments.join("/")}/`), MaxKeys: keysAtOnce,
        ...(ContinuationToken === undefined ? {} : { ContinuationToken }),
      }));
      for (const { Key, Size, LastModified } of page.Contents ?? []) {
        yield { key: (Key ?? "").slice(root.length), size: Size ?? 0, modifiedAt: LastModified?.getTime() ?? 0 };
      }
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined);
  }

  async function remove(key: string): Promise<void> {
    const Key = keyOf(key);
    const { sdk: { DeleteObjectCommand }, client: s3 } = parts();
    await s3.send(new DeleteObjectCommand({ Bucket, Key })).catch((error: unknown) => {
      if (!isMissing(error)) throw translate(error);
    });
  }

  return {
    async open() {
      if (client !== undefined) return;
      try {
        sdk = await import("@aws-sdk/client-s3");
      } catch (error) {
        throw new Error("Files in S3 need the package @aws-sdk/client-s3: install it beside records-service", { cause: error });
      }
      // The SDK's default checksums frame a streamed body in a way that many compatible stores keep as content.
      const made = new sdk.S3Client({ requestChecksumCalculation: "WHEN_REQUIRED", responseChecksumValidation: "WHEN_REQUIRED", ...config });
      try {
        await made.send(new sdk.HeadBucketCommand({ Bucket }));
      } catch (error) {
        made.destroy();
        throw translate(error);
      }
      client = made;
    },
    close() {
      client?.destroy();
      client = undefined;
      return Promise.resolve();
    },
    async write(key, content) {
      const Key = keyOf(key);
      let size = 0;
      const chunks = cut(content, (bytes) => (size += bytes));
      const first = await chunks.next();
      const second = await chunks.next();
      try {
        if (second.done === true) await put(Key, first.done === true ? Buffer.alloc(0) : first.value);
        else await putParts(Key, joined([first.value as Buffer, second.value], chunks));
      } catch (error) {
        content.destroy();
        throw translate(error);
      }
      return { size };
    },
    read: (key, range) => get(key, range),
    async readWhole(key) {
      const stream = await get(key);
      if (stream === undefined) return undefined;
      const pieces: Buffer[] = [];
      for await (const piece of stream) pieces.push(piece as Buffer);
      return Buffer.concat(pieces);
    },
    async size(key) {
      const Key = keyOf(key);
      const { sdk: { HeadObjectCommand }, client: s3 } = parts();
      try {
        return (await s3.send(new HeadObjectCommand({ Bucket, Key }))).ContentLength ?? 0;
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw translate(error);
      }
    },
    remove,
    async removeAll(prefix) {
      for await (const { key } of list(prefix)) await remove(key);
    },
    list,
    async sweep(olderThan) {
      const { sdk: { ListMultipartUploadsCommand, AbortMultipartUploadCommand }, client: s3 } = parts();
      const before = Date.now() - olderThan;
      // Not every compatible store can list uploads; there the bucket's own rule for unfinished uploads does it.
      const page = await s3.send(new ListMultipartUploadsCommand({ Bucket, ...(root === "" ? {} : { Prefix: root }) })).catch(() => undefined);
      for (const { Key, UploadId, Initiated } of page?.Uploads ?? []) {
        if ((Initiated?.getTime() ?? Infinity) < before) await s3.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
      }
    },
  };
}

/** The stream in buffers of `partSize`, the last one shorter. */
async function* cut(content: Readable, count: (bytes: number) => void): AsyncGenerator<Buffer, undefined> {
  let pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of content as AsyncIterable<Uint8Array | string>) {
    let rest = Buffer.from(piece as Uint8Array);
    count(rest.length);
    while (length + rest.length >= partSize) {
      const taken = rest.subarray(0, partSize - length);
      yield Buffer.concat([...pieces, taken]);
      rest = rest.subarray(taken.length);
      pieces = [];
      length = 0;
    }
    if (rest.length > 0) pieces.push(rest);
    length += rest.length;
  }
  if (length > 0) yield Buffer.concat(pieces);
  return undefined;
}

async function* joined(first: readonly Buffer[], rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* first;
  yield* rest;
}

async function* firstBytes(stream: Readable, length: number): AsyncGenerator<Buffer> {
  let rest = length;
  for await (const piece of stream) {
    const bytes = (piece as Buffer).subarray(0, rest);
    rest -= bytes.length;
    yield bytes;
    if (rest === 0) return;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && /^(NoSuchKey|NotFound)$/.test(error.name);
}

/** Faults of the network and of the store become StorageUnavailable; any other is given back as it is. */
function translate(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
  const code = (error as NodeJS.ErrnoException).code;
  const isNetwork = code !== undefined && /^(ECONNREFUSED|ECONNRESET|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN)$/.test(code);
  return isNetwork || error.name === "TimeoutError" || (status !== undefined && status >= 500) ? new StorageUnavailable(error) : error;
}
