// If-Match (RFC 9110, section 13.1.1): strong comparison, a list of tags or `*`.

/** Whether the header's condition holds for the tag. No header: it does. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined || header.trim() === "*") return true;
  return header.split(",").some((one) => one.trim() === etag);
}

/** If-None-Match (section 13.1.2): weak comparison. No header: false. */
export function noneMatches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === "*" || header.split(",").some((one) => one.trim().replace(/^W\//, "") === etag);
}
