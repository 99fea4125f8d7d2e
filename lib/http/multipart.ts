// Reads multipart bodies with multer: text parts as flat text, file parts streamed straight into the blob store. The
// whole body is counted, nothing is ever held but the text, and whatever goes wrong leaves no file behind.
import { Transform, type Readable, type TransformCallback } from "node:stream";
import type { IncomingMessage, ServerResponse } from "node:http";
import type multer from "multer";
import { BadRequest, PayloadTooLarge, ServiceError, UnsupportedMediaType, ValidationFailed } from "../core/errors.js";
import type { PendingFile } from "../files/files.js";
import type { FileField } from "../schema/collection.js";
import { bodyLimit } from "./body.js";
import { createPartStore, type PartReceiver } from "./part-store.js";

/** What multer holds a body to; a form of records has no use for more. */
const limits = { fieldNameSize: 100, fieldSize: bodyLimit, fields: 200, headerPairs: 50, fieldNestingDepth: 0 } as const;
/** Milliseconds without a byte until an upload counts as abandoned. */
const stallTime = 30_000;
/** Milliseconds for the whole body. */
const wholeTime = 300_000;

export interface MultipartOptions {
  /** The collection's FILE fields: the only names that file parts may carry. */
  readonly fields: readonly FileField[];
  /** Stores one file part. Rejects where the file is not allowed. */
  receive(field: FileField, upload: { readonly name: string; readonly stream: Readable }): Promise<PendingFile>;
  /** Drops files that were stored before something went wrong. Never rejects. */
  drop(files: readonly PendingFile[]): Promise<void>;
  /** Milliseconds. @default 30000 */
  readonly stallTime?: number | undefined;
}

export interface MultipartBody {
  /** Text parts by name, as they came; an object without a prototype. */
  readonly text: Readonly<Record<string, string>>;
  /** The stored files, in the order of their parts. */
  readonly files: readonly PendingFile[];
}

/**
 * Reads the request's multipart body. Throws BadRequest (malformed, cut off, read by somebody else before, a name
 * twice), ValidationFailed (a name that takes no file, too many files, a file that its field does not allow),
 * PayloadTooLarge, UnsupportedMediaType; no file is left then.
 */
export async function readMultipart(req: IncomingMessage, options: MultipartOptions): Promise<MultipartBody> {
  demandReadable(req);
  // Loaded with the first upload: most processes start without one.
  const { default: library } = await import("multer");
  if (req.destroyed) throw cutOff();
  const parts = createPartStore(options.fields, options.receive);
  try {
    const text = await parse(library, req, options, parts);
    return { text, files: parts.files() };
  } catch (error) {
    const files = await parts.abandon();
    await options.drop(files);
    throw error;
  }
}

function demandReadable(req: IncomingMessage): void {
  if (!/^multipart\/form-data\s*;/i.test(req.headers["content-type"] ?? "")) {
    throw new UnsupportedMediaType("The body must be multipart/form-data, with a boundary");
  }
  if ((req.headers["content-encoding"] ?? "identity").toLowerCase() !== "identity") {
    throw new UnsupportedMediaType("A multipart body must not be compressed");
  }
  if (Number(req.headers["content-length"] ?? 0) > bodyLimit) throw new PayloadTooLarge();
  if (req.readableDidRead || req.readableEnded || req.destroyed) {
    throw new BadRequest("The multipart body was read by something in front of this service: mount the service before any multipart parser");
  }
}

/** What multer works on: the body's bytes, counted, with the headers that it looks at. */
class CountedBody extends Transform {
  /** Multer leaves what it read here. */
  body: Readonly<Record<string, unknown>> = {};
  size = 0;

  constructor(readonly headers: IncomingMessage["headers"], private readonly onBytes: () => void) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.size += chunk.length;
    this.onBytes();
    if (this.size > bodyLimit) done(new PayloadTooLarge());
    else done(null, chunk);
  }
}

async function parse(library: typeof multer, req: IncomingMessage, options: MultipartOptions, parts: PartReceiver): Promise<Readonly<Record<string, string>>> {
  const body = await new Promise<CountedBody>((resolve, reject) => {
    const wait = options.stallTime ?? stallTime;
    const late = (): void => fail(new ServiceError(408, "The body did not arrive in time", { headers: { Connection: "close" } }));
    const stalled = setTimeout(late, wait);
    const overdue = setTimeout(late, wholeTime);
    stalled.unref();
    overdue.unref();
    const counted = new CountedBody(req.headers, () => stalled.refresh());
    const read = library({
      storage: parts,
      // One file more than there may be, so that it is told by its name.
      limits: { ...limits, files: parts.most + 1, parts: limits.fields + parts.most + 1 },
      defParamCharset: "utf8",
      // A file without a name is taken for none, and a name such as ".." would be cut to nothing.
      preservePath: true,
    } as multer.Options).fields(options.fields.map((field) => ({ name: field.name, maxCount: field.multiple ? field.maxFiles : 1 })));

    function fail(error: unknown): void {
      finish();
      req.unpipe(counted);
      counted.destroy();
      reject(error);
    }
    function cut(): void {
      // A connection may break when all has arrived and not all was read: what is left never comes then.
      if (!req.readableEnded) fail(cutOff());
    }
    function finish(): void {
      clearTimeout(stalled);
      clearTimeout(overdue);
      req.off("close", cut);
      req.off("error", cut);
    }
    req.on("close", cut);
    req.on("error", cut);
    counted.on("error", fail);
    parts.onFailure(fail);
    read(counted as never, {} as ServerResponse as never, (error?: unknown) => {
      if (error !== undefined && error !== null) return fail(explain(library, error, options.fields));
      finish();
      resolve(counted);
    });
    req.pipe(counted);
  });
  return flat(body.body);
}

/** Text parts have one value each; two of a name would mean that one of them is lost. */
function flat(body: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const text = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(body)) {
    if (typeof value !== "string") throw new BadRequest(`The part ${JSON.stringify(name.slice(0, 64))} is given more than once`);
    text[name] = value;
  }
  return text;
}

function cutOff(): BadRequest {
  return new BadRequest("The body was cut off");
}

function explain(library: typeof multer, error: unknown, fields: readonly FileField[]): unknown {
  if (error instanceof ServiceError) return error;
  // What a file failed with has been told before; what is left and no limit of multer's is a malformed body.
  if (!(error instanceof library.MulterError)) return new BadRequest("The multipart body is malformed or cut off", error);
  const name = (error.field ?? "").slice(0, 100);
  switch (error.code as string) {
    case "LIMIT_UNEXPECTED_FILE": {
      const field = fields.find((one) => one.name === name);
      const message = field === undefined ? "takes no file" : field.multiple ? `takes at most ${field.maxFiles} files` : "takes one file";
      return new ValidationFailed([{ field: name, message }]);
    }
    case "LIMIT_FIELD_NESTING":
    case "INVALID_FIELD_NAME":
      return new ValidationFailed([{ field: name, message: "is not a field of the collection" }]);
    case "LIMIT_FIELD_VALUE":
      return new ValidationFailed([{ field: name, message: `must be at most ${limits.fieldSize} bytes` }]);
    case "LIMIT_FIELD_KEY":
      return new BadRequest(`A part's name is longer than ${limits.fieldNameSize} bytes`);
    case "MISSING_FIELD_NAME":
      return new BadRequest("A part of the multipart body has no name");
    default:
      return new BadRequest("The multipart body has too many parts");
  }
}
