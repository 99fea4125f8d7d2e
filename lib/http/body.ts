// Reads JSON bodies: the cap of 4 MiB, encodings, and what a host's own parser may have left of the request.
import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { BadRequest, PayloadTooLarge, UnsupportedMediaType } from "../core/errors.js";
import type { JsonObject } from "../core/record.js";
import { drain } from "./drain.js";

/** Bytes of a request body, decoded (interface, Limits). */
export const bodyLimit = 4 * 1024 * 1024;

/** Whether the request announces a body (RFC 9112, section 6.3). */
export function hasBody(req: IncomingMessage): boolean {
  return req.headers["transfer-encoding"] !== undefined || Number(req.headers["content-length"] ?? 0) > 0;
}

/** What a host's parser has made of the body; undefined where none has. */
export function parsedBody(req: IncomingMessage): unknown {
  return (req as { body?: unknown }).body;
}

/** The body as a JSON object. `optional`: `{}` where there is none. */
export async function readJson(req: IncomingMessage, optional: boolean): Promise<JsonObject> {
  if (!hasBody(req)) {
    if (optional) return {};
    throw new BadRequest("A JSON body is required");
  }
  demandJsonType(req);
  if (Number(req.headers["content-length"] ?? 0) > bodyLimit) {
    drain(req);
    throw new PayloadTooLarge();
  }
  const parsed = parsedBody(req);
  if (parsed !== undefined && !(isEmptyObject(parsed) && !req.readableEnded)) return demandObject(fromHost(parsed));
  if (req.readableEnded || req.destroyed) {
    throw new BadRequest("The body was read by something in front of this service, which left nothing of it: mount the service before that, or let it set req.body");
  }
  return demandObject(parse(await readBytes(req)));
}

/** The body's bytes, where its media type is among these. Throws BadRequest, PayloadTooLarge, UnsupportedMediaType. */
export async function readRaw(req: IncomingMessage, types: readonly string[]): Promise<Buffer> {
  if (!hasBody(req)) throw new BadRequest("A body is required");
  const media = (req.headers["content-type"] ?? "").toLowerCase().split(";", 1)[0]!.trim();
  if (!types.includes(media)) {
    throwAway(req);
    throw new UnsupportedMediaType(`The body must be of type ${types.join(", ")}`);
  }
  if (Number(req.headers["content-length"] ?? 0) > bodyLimit) {
    drain(req);
    throw new PayloadTooLarge();
  }
  const parsed = parsedBody(req);
  if (parsed !== undefined && !(isEmptyObject(parsed) && !req.readableEnded)) {
    const bytes = Buffer.isBuffer(parsed) ? parsed : Buffer.from(typeof parsed === "string" ? parsed : JSON.stringify(parsed));
    if (bytes.length > bodyLimit) throw new PayloadTooLarge();
    return bytes;
  }
  if (req.readableEnded || req.destroyed) throw new BadRequest("The body was read by something in front of this service, which left nothing of it: mount the service before that");
  return await readBytes(req);
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

/** A host's `express.raw()` leaves bytes, `express.text()` text, `express.json()` a value. */
function fromHost(parsed: unknown): unknown {
  if (Buffer.isBuffer(parsed)) {
    if (parsed.length > bodyLimit) throw new PayloadTooLarge();
    return parse(parsed);
  }
  return typeof parsed === "string" ? parse(Buffer.from(parsed)) : parsed;
}

function demandJsonType(req: IncomingMessage): void {
  const type = req.headers["content-type"];
  const [media = "", ...parameters] = (type ?? "").toLowerCase().split(";").map((part) => part.trim());
  if (media !== "application/json" && !/^application\/[\w.-]+\+json$/.test(media)) {
    throwAway(req);
    throw new UnsupportedMediaType("The body must be application/json");
  }
  const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.slice(8).replaceAll('"', "");
  if (charset !== undefined && charset !== "utf-8" && charset !== "utf8" && charset !== "us-ascii") {
    throwAway(req);
    throw new UnsupportedMediaType("The body's charset must be utf-8");
  }
}

function throwAway(req: IncomingMessage): void {
  if (!req.readableEnded && !req.destroyed) drain(req);
}

async function readBytes(req: IncomingMessage): Promise<Buffer> {
  const source = decoded(req);
  const chunks: Buffer[] = [];
  let size = 0;
  return await new Promise<Buffer>((resolve, reject) => {
    const fail = (error: Error) => {
      source.off("data", onData);
      if (source !== req) req.unpipe(source as never);
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > bodyLimit) {
        fail(new PayloadTooLarge());
        drain(req);
      } else {
        chunks.push(chunk);
      }
    };
    source.on("data", onData);
    source.once("end", () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    source.once("error", () => {
      fail(new BadRequest("The body could not be read"));
      if (source !== req) drain(req);
    });
    req.once("close", () => {
      if (!req.readableEnded) fail(new BadRequest("The body was cut off"));
    });
  });
}

function decoded(req: IncomingMessage): Readable {
  const encoding = (req.headers["content-encoding"] ?? "identity").toLowerCase();
  switch (encoding) {
    case "identity": return req;
    case "gzip":
    case "x-gzip": return req.pipe(createGunzip());
    case "deflate": return req.pipe(createInflate());
    case "br": return req.pipe(createBrotliDecompress());
    default:
      drain(req);
      throw new UnsupportedMediaType("The body's encoding must be identity, gzip, deflate or br");
  }
}

function parse(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new BadRequest("The body is not valid UTF-8");
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new BadRequest("The body is not valid JSON");
  }
}

function demandObject(value: unknown): JsonObject {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new BadRequest("The body must be a JSON object");
  return value as JsonObject;
}
