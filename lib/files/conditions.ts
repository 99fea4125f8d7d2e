// Conditional and partial requests for a file (RFC 9110, sections 13 and 14), as far as files need them. Pure.

/** Whether an If-None-Match names this strong entity tag; compared weakly, as the standard says for GET and HEAD. */
export function isNotModified(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  if (ifNoneMatch.trim() === "*") return true;
  return [...ifNoneMatch.matchAll(/(?:W\/)?("[^"]*")/g)].some((match) => match[1] === etag);
}

/** Whether an If-Match holds for a thing with these strong entity tags: none, `*`, or a list with one of them. */
export function isStill(ifMatch: string | null, etags: readonly string[]): boolean {
  return ifMatch === null || ifMatch.trim() === "*" || ifMatch.split(",").some((one) => etags.includes(one.trim()));
}

export interface ByteRange {
  /** Both inclusive. */
  readonly start: number;
  readonly end: number;
}

/**
 * What a Range header asks of a file of this size: a range, `unsatisfiable`, or undefined where the whole file is the
 * answer: no header, another unit, a malformed or a multiple range, or an If-Range that names other content.
 */
export function requestedRange(header: string | null, ifRange: string | null, etag: string, size: number): ByteRange | "unsatisfiable" | undefined {
  if (header === null || (ifRange !== null && ifRange.trim() !== etag)) return undefined;
  const match = /^\s*bytes\s*=\s*([0-9]{0,15})\s*-\s*([0-9]{0,15})\s*$/i.exec(header);
  if (match === null) return undefined;
  const [, first = "", last = ""] = match;
  if (first === "") {
    if (last === "") return undefined;
    const length = Math.min(Number(last), size);
    return length === 0 ? "unsatisfiable" : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  if (last !== "" && Number(last) < start) return undefined;
  if (start >= size) return "unsatisfiable";
  return { start, end: last === "" ? size - 1 : Math.min(Number(last), size - 1) };
}
