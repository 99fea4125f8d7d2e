// Texts of rows as the server sent them: taken out of the documents' bytes, never decoded and encoded again.
import { textSeparator, type RowTexts } from "../storage.js";

/** Fetches nothing but the text. */
export const textProjection = { _id: 0, d: 1 } as const;

const stringType = 2;
const separator = Buffer.from(textSeparator);

/** The texts of documents fetched raw with `textProjection`, with the separator between them. */
export function joinTexts(documents: readonly Uint8Array[]): RowTexts {
  const parts: Buffer[] = [];
  for (const document of documents) {
    if (parts.length > 0) parts.push(separator);
    parts.push(textOf(document));
  }
  return { bytes: Buffer.concat(parts), count: documents.length };
}

/**
 * The bytes of the member `d`: length of the document, then type, name and value of each member; of a string its length
 * with the zero at its end, and its UTF-8.
 */
function textOf(document: Uint8Array): Buffer {
  const bytes = Buffer.from(document.buffer, document.byteOffset, document.byteLength);
  let at = 4;
  while (bytes[at] === stringType) {
    const name = at + 1;
    const length = bytes.indexOf(0, name) + 1;
    const value = length + 4;
    const end = value + bytes.readInt32LE(length);
    if (length === name + 2 && bytes[name] === "d".charCodeAt(0)) return bytes.subarray(value, end - 1);
    at = end;
  }
  throw new Error("The database has sent a row without its text");
}
