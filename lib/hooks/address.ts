// Which addresses a hook may be sent to: one guard for saving, dispatching and the Test action. It classifies what the
// URL parser made of the text, never the text, and hands out exactly the addresses that it has checked.
import { lookup as systemLookup, type LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";

/** A hook's URL, taken apart. */
export interface Target {
  /** Normalised: host in lower case, without a trailing dot. */
  readonly url: URL;
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  /** As an allowlist names it: `host:port`, `[::1]:8080`. */
  readonly key: string;
}

/** The target may not be reached. The message is the same whatever the reason, so that it tells nothing about the network inside. */
export class TargetRefused extends Error {
  readonly code = "TARGET_REFUSED";
  constructor() {
    super("the target address is refused: it must resolve to public addresses only, or stand as host:port in the tenant's webhookAllowlist");
    this.name = "TargetRefused";
  }
}

const publicV6 = ipaddr.parseCIDR("2000::/3");
/** Public by its range, yet answered by the machine's own cloud host. */
const cloudHosts: readonly string[] = ["168.63.129.16"];

/** Whether the address is a public unicast one. Mapped IPv4 counts as the IPv4 in it; every tunnel and special range is not public. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0 || address.includes("%")) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== "unicast") return false;
  // ipaddr.js calls ::7f00:1 and everything from 4000:: on unicast, too.
  return parsed.kind() === "ipv4" ? !cloudHosts.includes(parsed.toString()) : parsed.match(publicV6);
}

/** Takes the URL apart, or says what is wrong with it. Looks nothing up. */
export function parseTarget(text: string): Target | { readonly fault: string } {
  // The URL parser would drop these or read them as something else.
  if (/[\s\\\p{Cc}]/u.test(text)) return { fault: "must have no spaces, control characters or backslashes" };
  const authority = /^https?:\/\/([^/?#]*)/i.exec(text)?.[1];
  if (authority === undefined) return { fault: "must be an absolute URL with http:// or https://" };
  if (authority.includes("@")) return { fault: "must have no user name or password" };
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return { fault: "is not a valid URL" };
  }
  const name = url.hostname.endsWith(".") ? url.hostname.slice(0, -1) : url.hostname;
  if (name === "" || name.endsWith(".") || name.startsWith(".") || name.includes("..")) return { fault: "has no valid host" };
  // The request library reads this one as the path of a local socket.
  if (name === "unix") return { fault: "has no valid host" };
  if (url.port === "0") return { fault: "has no valid port" };
  url.hostname = name;
  const port = url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
  return { url, host: name.startsWith("[") ? name.slice(1, -1) : name, key: `${name}:${port}` };
}

/** Whether the tenant lists exactly this `host:port`. */
export function isAllowlisted(target: Target, allowlist: readonly string[]): boolean {
  return allowlist.some((entry) => entry.toLowerCase() === target.key);
}

/**
 * Every address of the target, all of them checked. Connect to these and to no others.
 * Throws TargetRefused, or the resolver's error where the name does not resolve.
 */
export async function resolveTarget(target: Target, allowlist: readonly string[], lookup: LookupFunction = systemLookup): Promise<readonly LookupAddress[]> {
  const allowed = isAllowlisted(target, allowlist);
  const family = isIP(target.host);
  if (family !== 0) {
    if (!allowed && !isPublicAddress(target.host)) throw new TargetRefused();
    return [{ address: target.host, family }];
  }
  if (!allowed && (target.host === "localhost" || target.host.endsWith(".localhost"))) throw new TargetRefused();
  const addresses = await lookUpAll(target.host, lookup);
  if (addresses.length === 0) throw new TargetRefused();
  for (const { address } of addresses) {
    if (isIP(address) === 0 || (!allowed && !isPublicAddress(address))) throw new TargetRefused();
  }
  return addresses;
}

/** A resolver for one dispatch that only knows the addresses that were checked, whatever it is asked. */
export function pinnedLookup(addresses: readonly LookupAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    if (options.all === true) callback(null, [...addresses]);
    else callback(null, addresses[0]!.address, addresses[0]!.family);
  };
}

function lookUpAll(host: string, lookup: LookupFunction): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    lookup(host, { all: true, verbatim: true }, (error, address, family) => {
      if (error !== null && error !== undefined) reject(error);
      else if (typeof address === "string") resolve([{ address, family: family ?? isIP(address) }]);
      else resolve([...address]);
    });
  });
}
