// How a browser may treat a file: shown in the page, or saved. And the headers that keep it harmless either way.
import { create } from "content-disposition";
import type { FileReference } from "../core/record.js";
import { extensionOf } from "./file-name.js";

/** Raster images that browsers show, and nothing that can hold a script. */
const shownImages: ReadonlySet<string> = new Set([
  "image/jpeg", "image/png", "image/apng", "image/gif", "image/webp", "image/avif", "image/bmp", "image/x-icon",
]);

/** Text under such a name was written to be run or laid out: it is saved, not shown. */
const activeExtensions: ReadonlySet<string> = new Set([
  ".js", ".mjs", ".cjs", ".ts", ".css", ".htm", ".html", ".xht", ".xhtml", ".shtml", ".mht", ".mhtml", ".svg", ".svgz",
  ".xml", ".xsl", ".xslt", ".php", ".hta", ".bat", ".cmd", ".ps1", ".vbs", ".sh",
]);

/** Whether the file may be shown in place (contract 5): raster images, audio, video, PDF and plain text. */
export function isShown({ type, name }: Pick<FileReference, "type" | "name">): boolean {
  if (type === "text/plain") return !activeExtensions.has(extensionOf(name.replace(/[.\s]+$/, "")).toLowerCase());
  return shownImages.has(type) || type === "application/pdf" || type.startsWith("audio/") || type.startsWith("video/");
}

/** The Content-Disposition of a file, its name in full for every alphabet (RFC 6266). */
export function dispositionOf(file: Pick<FileReference, "type" | "name">): string {
  return create(file.name, { type: isShown(file) ? "inline" : "attachment" });
}

/** Headers of every answer with a file's bytes, whatever its status. */
export const guardHeaders: Readonly<Record<string, string>> = {
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'",
  // Who may read is decided by the credential alone; an app on another origin may show what its user may see.
  "Cross-Origin-Resource-Policy": "cross-origin",
};
