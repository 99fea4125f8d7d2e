// Guards what was parsed from JSON, or given as data in code, before anything looks into it.
import { BadRequest } from "../core/errors.js";
import { hasBrokenText } from "./texts.js";

/** Nesting of a JSON field's value. */
export const maxJsonDepth = 50;
/** Serialised size of a JSON field's value, bytes. */
export const maxJsonBytes = 64 * 1024;
/** Nesting of a whole body: a JSON field's value within a record within a batch. */
const maxBodyDepth = maxJsonDepth + 4;

/** Throws BadRequest where the body is nothing that may be looked into; see `jsonProblem`. */
export function checkJson(body: unknown): void {
  const problem = jsonProblem(body);
  if (problem !== null) throw new BadRequest(`The body ${problem}`);
}

/**
 * What is wrong with the value, null where nothing is: nesting, numbers that are not finite, texts and keys with a NUL
 * or half of a surrogate pair, keys that reach into prototypes, and what JSON cannot say. A cycle is too deep.
 */
export function jsonProblem(value: unknown, maxDepth = maxBodyDepth): string | null {
  switch (typeof value) {
    case "string":
      return hasBrokenText(value) ? "holds a NUL character or half of a surrogate pair" : null;
    case "number":
      return Number.isFinite(value) ? null : "holds a number that is not finite";
    case "boolean":
      return null;
    case "object":
      if (value === null) return null;
      if (maxDepth <= 0) return "is nested too deep";
      return Array.isArray(value) ? checkArray(value, maxDepth) : checkObject(value, maxDepth);
    default:
      return `holds a ${typeof value}, which JSON does not have`;
  }
}

function checkArray(values: readonly unknown[], maxDepth: number): string | null {
  for (const value of values) {
    const problem = jsonProblem(value, maxDepth - 1);
    if (problem !== null) return problem;
  }
  return null;
}

function checkObject(value: object, maxDepth: number): string | null {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return "holds an object that is no plain data";
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    if (key === "__proto__") return "has the key __proto__, which is not allowed";
    // Either of the two is a word like any other; together they are a way into what all objects share.
    if (key === "constructor" && hasPrototype(member)) return "has the key prototype in constructor, which is not allowed";
    if (hasBrokenText(key)) return "has a key with a NUL character or half of a surrogate pair";
    const problem = jsonProblem(member, maxDepth - 1);
    if (problem !== null) return problem;
  }
  return null;
}

function hasPrototype(member: unknown): boolean {
  return typeof member === "object" && member !== null && Object.hasOwn(member, "prototype");
}
