// Bytes to text: strict UTF-8, line by line or whole, within bounds.
import type { Readable } from "node:stream";
import { BadRequest } from "../core/errors.js";

/** Characters of one line. */
const longestLine = 4 * 1024 * 1024;
/** Bytes of a text that is read whole. */
const largestText = 256 * 1024 * 1024;

const notUtf8 = "This is not valid UTF-8";

/** Every line with its number, without its end. Throws BadRequest. */
export async function* readLines(source: Readable): AsyncGenerator<{ readonly line: number; readonly text: string }> {
  let rest = "";
  let line = 0;
  for await (const piece of decoded(source)) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop()!;
    for (const text of lines) yield { line: (line += 1), text };
    if (rest.length > longestLine) throw new BadRequest(`Line ${line + 1} is longer than 4 MiB`);
  }
  if (rest !== "") yield { line: line + 1, text: rest };
}

/** All of it. Throws BadRequest. */
export async function readText(source: Readable): Promise<string> {
  const pieces: string[] = [];
  let size = 0;
  for await (const piece of decoded(source)) {
    size += piece.length;
    if (size > largestText) throw new BadRequest("This JSON is larger than 256 MiB: use NDJSON, which is read line by line");
    pieces.push(piece);
  }
  return pieces.join("");
}

/** Pieces of text; a byte order mark is left out. Throws BadRequest. */
export async function* decoded(source: Readable): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const decode = (chunk?: Buffer): string => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch (error) {
      throw new BadRequest(notUtf8, error);
    }
  };
  for await (const chunk of source as AsyncIterable<Buffer | string>) yield decode(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  yield decode();
}
