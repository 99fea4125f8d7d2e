// File names as clients send them, made safe to keep and to send back. The name never reaches a file system.

/** Unicode code points. */
const maxLength = 255;
const longestExtension = 32;

/**
 * The name after the last `/` or `\`, in NFC, without control characters, line and paragraph separators and marks that
 * turn the reading direction, at most 255 code points with the extension kept; `file` where nothing is left.
 */
export function safeFileName(given: string): string {
  const name = given
    .slice(Math.max(given.lastIndexOf("/"), given.lastIndexOf("\\")) + 1, undefined)
    .slice(0, 65_536)
    .replace(/\p{Surrogate}/gu, "\u{fffd}")
    .normalize("NFC")
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu, "")
    .trim();
  if (/^\.*$/.test(name)) return "file";
  const points = [...name];
  if (points.length <= maxLength) return name;
  const extension = [...extensionOf(name)];
  const kept = extension.length <= longestExtension ? extension : [];
  return [...points.slice(0, maxLength - kept.length), ...kept].join("");
}

/** The extension with its dot, as written; empty where there is none. */
export function extensionOf(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot) : "";
}
