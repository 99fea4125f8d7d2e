// Entries of the webhook allowlist: exactly one host and one port.

/** The entry as targets are compared with it: host as a URL spells it, port in decimals; null where it is none. */
export function parseHostPort(entry: string): string | null {
  const match = /^(.+):(\d{1,5})$/.exec(entry.trim());
  const host = match?.[1] ?? "";
  const port = Number(match?.[2]);
  if (match === null || port < 1 || port > 65_535 || /[\s/?#@\\*]/.test(host) || (host.includes(":") && !/^\[[^\]]+\]$/.test(host))) return null;
  const url = URL.canParse(`http://${host}/`) ? new URL(`http://${host}/`) : null;
  return url === null || url.hostname === "" ? null : `${url.hostname.replace(/\.$/, "")}:${port}`;
}
