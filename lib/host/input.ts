// What host code passes, checked where its types are not there: in JavaScript, or with a part of a parsed request
// handed on as it came.
import { BadRequest, NotFound } from "../core/errors.js";
import type { JsonObject } from "../core/record.js";
import type { ListParameters } from "../records/list-query.js";

const texts: ReadonlySet<string> = new Set(["filter", "sort", "where", "fields", "cursor", "expand"]);

/** An id that is no text, such as the list of a repeated query parameter, is nobody's. Throws NotFound. */
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
  }
  return Object.fromEntries(members) as ListParameters;
}
