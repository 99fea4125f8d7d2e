// Tells whether a request that carries a cookie was made by a page of this site (contract 9).
import type { IncomingHttpHeaders } from "node:http";

/**
 * True where `Sec-Fetch-Site` says same-origin, or, from clients that do not send it, where `Origin` names the host
 * that the request was sent to. Neither: false.
 */
export function isOwnSite(headers: IncomingHttpHeaders): boolean {
  const fetchSite = headers["sec-fetch-site"];
  if (typeof fetchSite === "string") return fetchSite === "same-origin";
  const { origin, host } = headers;
  if (typeof origin !== "string" || typeof host !== "string") return false;
  try {
    const from = new URL(origin);
    if (from.protocol !== "http:" && from.protocol !== "https:") return false;
    return from.origin === origin.toLowerCase() && from.host === new URL(`${from.protocol}//${host}`).host;
  } catch {
    return false;
  }
}

/** Whether the method changes state, so that a cookie alone is not enough. */
export function changesState(method: string): boolean {
  return method !== "GET" && method !== "HEAD" && method !== "OPTIONS";
}
