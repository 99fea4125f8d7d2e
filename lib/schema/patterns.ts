// Patterns of TEXT fields: RE2 syntax, run in time linear in the text. The only file that knows the engine, which is
// loaded with the first pattern.
import { createRequire } from "node:module";
import type { RE2JS } from "re2js";

const load = createRequire(import.meta.url);

/** Longest pattern, in characters. */
export const maxPatternLength = 500;
/** Largest compiled pattern; counted repetitions such as `{1000}` make it grow. */
const maxProgramSize = 1000;
/** Most work for one value: compiled size times the longest text. */
const maxWork = 5_000_000;

const kept = new Map<string, RE2JS>();
const maxKept = 500;

/** What is wrong with the pattern for texts of at most `maxLength` characters, null where it can be used. */
export function patternProblem(source: string, maxLength: number): string | null {
  if (source.length > maxPatternLength) return `must have at most ${maxPatternLength} characters`;
  let size: number;
  try {
    size = compilePattern(source).programSize();
  } catch (error) {
    return `is no pattern that runs in linear time (RE2 syntax): ${error instanceof Error ? error.message : "unreadable"}`;
  }
  if (size > maxProgramSize) return "is too large once its repetitions are counted out: use smaller ones";
  if (size * maxLength > maxWork) return `costs too much on texts of ${maxLength} characters: lower maxLength to ${Math.floor(maxWork / size)} or use a smaller pattern`;
  return null;
}

/** Whether the pattern is found in the text; a pattern that shall fit the whole text says `^…$`. */
export function patternMatches(source: string, text: string): boolean {
  return compilePattern(source).test(text);
}

function compilePattern(source: string): RE2JS {
  const known = kept.get(source);
  if (known !== undefined) return known;
  const compiled = (load("re2js") as { readonly RE2JS: typeof RE2JS }).RE2JS.compile(source);
  if (kept.size >= maxKept) kept.delete(kept.keys().next().value!);
  kept.set(source, compiled);
  return compiled;
}
