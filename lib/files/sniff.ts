// The media type of a file, read from its first bytes and never taken from the client.

/** How many bytes at the start of a file decide its type. */
export const headSize = 32_768;

/** What nothing is known of. */
export const unknownType = "application/octet-stream";

/**
 * The media type, lower-case and without parameters. Plain text that starts like markup stays unknown, so that HTML
 * and SVG are never served as something a browser shows.
 */
export async function sniffType(head: Buffer): Promise<string> {
  // Loaded with the first upload: most processes start without one.
  const { fileTypeFromBuffer } = await import("file-type");
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  if (found !== undefined) return found.mime.split(";", 1)[0]!.trim().toLowerCase();
  // Where what decides lies beyond the first bytes: a long profile before the pixels, a cover before the sound.
  if (startsWith(head, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return "image/png";
  if (startsWith(head, [0x49, 0x44, 0x33])) return "audio/mpeg";
  return isPlainText(head) ? "text/plain" : unknownType;
}

function startsWith(head: Buffer, bytes: readonly number[]): boolean {
  return bytes.every((byte, index) => head[index] === byte);
}

function isPlainText(head: Buffer): boolean {
  if (head.length === 0) return false;
  let text: string;
  try {
    // `stream`: the last character may be cut in two.
    text = new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
  } catch {
    return false;
  }
  return !/[\u0000-\u0008\u000b\u000e-\u001a\u001c-\u001f\u007f]/.test(text) && !/^\s*</.test(text);
}

/** Whether the type is on the list; `image/*` stands for every image type, an empty list for everything. */
export function isAllowedType(type: string, allowed: readonly string[]): boolean {
  if (allowed.length === 0) return true;
  return allowed.some((entry) => {
    const wanted = entry.trim().toLowerCase();
    return wanted === type || wanted === "*/*" || (wanted.endsWith("/*") && type.startsWith(wanted.slice(0, -1)));
  });
}
