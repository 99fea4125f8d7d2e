// Sends a Reply with Node's own methods: the host's settings have no effect, and Express's prototypes are not needed.
import type { ServerResponse } from "node:http";
import type { Reply } from "./exchange.js";
import type { Outbox } from "./outbox.js";

/** Headers of every answer that is no file and no page. */
const safety = {
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-store",
} as const;

/** Writes the answer and ends the response, with an outbox at the end of the turn. Harmless where it was begun already. */
export function sendReply(res: ServerResponse, reply: Reply, requestId: string, outbox?: Outbox): void {
  if (res.headersSent || res.destroyed) return;
  const text = reply.text ?? (reply.json === undefined ? undefined : JSON.stringify(reply.json));
  const headers: Record<string, string | number | readonly string[]> = { "X-Request-Id": requestId, ...safety, ...reply.headers };
  let encoding: BufferEncoding = "latin1";
  if (text !== undefined) {
    const bytes = typeof text === "string" ? Buffer.byteLength(text) : text.length;
    // As many bytes as characters: plain ASCII, which Node writes faster as latin1.
    if (bytes !== text.length) encoding = "utf8";
    headers["Content-Type"] ??= "application/json; charset=utf-8";
    headers["Content-Length"] = bytes;
  } else if (reply.status !== 204 && reply.status !== 304) {
    headers["Content-Length"] ??= 0;
  }
  res.writeHead(reply.status, headers as Record<string, string>);
  if (outbox === undefined) res.end(text, encoding);
  else outbox.put(res, text, encoding);
}
