// What host code passes, checked where its types are not there: in JavaScript, or with a part of a parsed request
// handed on as it came.
import { Readable } from "node:stream";
import { BadRequest, NotFound } from "../core/errors.js";
import type { JsonObject } from "../core/record.js";
import type { RequestLogQuery } from "../logs/logs.js";
import type { ListParameters } from "../records/list-query.js";
import type { NewFile } from "./uploads.js";

const texts: ReadonlySet<string> = new Set(["filter", "sort", "where", "fields", "cursor", "expand"]);

/** An id or a name that is no text, such as the list of a repeated query parameter, is nobody's. Throws NotFound. */
export function idOf(id: unknown): string {
  if (typeof id !== "string") throw new NotFound();
  return id;
}

/** Throws BadRequest where it is no object, such as the body of a request that nobody has parsed. */
export function bodyOf(body: unknown): JsonObject {
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw new BadRequest("An object is required");
  return body as JsonObject;
}

/** Members that are null count as left out: `{ cursor: page.nextCursor }` is a whole first page. Throws BadRequest. */
export function listParametersOf(given: unknown): ListParameters {
  const members = Object.entries(bodyOf(given ?? {})).filter(([, value]) => value !== undefined && value !== null);
  for (const [name, value] of members) {
    if (texts.has(name) && typeof value !== "string") throw new BadRequest(`${name} must be text`);
    if (typeof value === "object") throw new BadRequest(`${name} must be a single value`);
  }
  return Object.fromEntries(members) as ListParameters;
}

/** What a member of options may be. */
const kinds = {
  text: { fits: (value: unknown) => typeof value === "string", name: "text" },
  flag: { fits: (value: unknown) => typeof value === "boolean", name: "true or false" },
  number: { fits: (value: unknown) => typeof value === "number" && !Number.isNaN(value), name: "a number" },
  integer: { fits: (value: unknown) => Number.isSafeInteger(value), name: "an integer" },
  /** As over HTTP one below 1 counts as left out. */
  limit: { fits: (value: unknown) => Number.isSafeInteger(value), name: "an integer" },
  function: { fits: (value: unknown) => typeof value === "function", name: "a function" },
  signal: { fits: (value: unknown) => value instanceof AbortSignal, name: "an AbortSignal" },
} as const;

/**
 * The options of a call, and of them those members alone that have a kind here. undefined and null stand for none, as
 * options and as members. Throws BadRequest.
 */
export function optionsOf<T extends object>(given: T | null | undefined, shape: Readonly<Record<keyof T, keyof typeof kinds>>): Partial<T> {
  const options = bodyOf(given ?? {});
  const members = Object.entries<keyof typeof kinds>(shape).map(([name, kind]) => [name, kind, options[name] as unknown] as const);
  const present = members.filter(([, kind, value]) => value !== undefined && value !== null && !(kind === "limit" && typeof value === "number" && value < 1));
  for (const [name, kind, value] of present) {
    if (!kinds[kind].fits(value)) throw new BadRequest(`${name} must be ${kinds[kind].name}`);
  }
  return Object.fromEntries(present.map(([name, , value]) => [name, value])) as Partial<T>;
}

/** A stream, also one of the web or of another library. Throws BadRequest. */
export function streamOf(stream: unknown, name: string): Readable {
  if (stream instanceof Readable) return stream;
  if (typeof stream !== "object" || stream === null || !(Symbol.asyncIterator in stream)) throw new BadRequest(`${name} must be a stream`);
  return Readable.from(stream as AsyncIterable<unknown>);
}

/** A file to be stored. Throws BadRequest. */
export function fileOf(file: unknown): { readonly name: string; readonly stream: Readable } {
  const { name, stream } = bodyOf(file);
  if (typeof name !== "string") throw new BadRequest("name must be text");
  return { name, stream: streamOf(stream, "stream") };
}

/** Files to be stored with a record. Throws BadRequest. */
export function filesOf(files: unknown): readonly NewFile[] {
  if (files === undefined || files === null) return [];
  if (!Array.isArray(files)) throw new BadRequest("files must be a list");
  return files.map((file: unknown) => {
    const { field } = bodyOf(file);
    if (typeof field !== "string") throw new BadRequest("field must be text");
    return { field, ...fileOf(file) };
  });
}

/** Throws BadRequest. */
export function requestLogQueryOf(query: object | undefined): RequestLogQuery {
  return optionsOf<RequestLogQuery>(query, { requestId: "text", keyId: "text", status: "integer", limit: "limit", cursor: "text" });
}
