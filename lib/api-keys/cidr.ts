// Address ranges of API keys: strict notation in, network address out; and whether a TCP peer lies in one.
import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A range ready to be compared with. */
export interface Range {
  readonly network: Address;
  readonly bits: number;
}

/**
 * The range in its stored form: the network address, host bits masked off, and the prefix length. A bare address
 * becomes `/32` or `/128`, an IPv4-mapped range the IPv4 one. undefined where the text is no range: hostnames, zone
 * ids, leading zeros, hexadecimal or shortened IPv4 notations are none.
 */
export function parseCidr(text: string): string | undefined {
  const range = rangeOf(text);
  return range === undefined ? undefined : `${range.network.toString()}/${range.bits}`;
}

/** Reads ranges in their stored form. */
export function parseRanges(cidrs: readonly string[]): readonly Range[] {
  return cidrs.map(rangeOf).filter((range) => range !== undefined);
}

/** Whether the peer's address lies in one of the ranges. An unknown peer lies in none. */
export function isInside(ranges: readonly Range[], peer: string | undefined): boolean {
  if (peer === undefined) return false;
  const found = addressOf(peer.replace(/%.*$/s, ""));
  if (found === undefined) return false;
  // An IPv4 peer on a dual-stack listener shows as ::ffff:a.b.c.d.
  const address = found instanceof ipaddr.IPv6 && found.isIPv4MappedAddress() ? found.toIPv4Address() : found;
  return ranges.some(({ network, bits }) => network.kind() === address.kind() && address.match(network, bits));
}

const shape = /^([0-9a-fA-F:.]+)(?:\/(0|[1-9][0-9]{0,2}))?$/;

function rangeOf(text: string): Range | undefined {
  const match = shape.exec(text);
  if (match === null) return undefined;
  let address = addressOf(match[1]!);
  if (address === undefined) return undefined;
  const width = address.kind() === "ipv4" ? 32 : 128;
  let bits = match[2] === undefined ? width : Number(match[2]);
  if (bits > width) return undefined;
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96) {
    address = address.toIPv4Address();
    bits -= 96;
  }
  const network =
    address instanceof ipaddr.IPv6
      ? ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${bits}`)
      : ipaddr.IPv4.networkAddressFromCIDR(`${address.toString()}/${bits}`);
  return { network, bits };
}

/** The address; undefined where the text is none in strict notation. */
function addressOf(text: string): Address | undefined {
  if (isIPv4(text)) return ipaddr.IPv4.parse(text);
  if (!isIPv6(text)) return undefined;
  // A dotted tail in groups: ipaddr.js takes `::a.b.c.d` for the mapped address, which it is not.
  const tail = /[0-9.]+$/.exec(text)?.[0] ?? "";
  if (!tail.includes(".")) return ipaddr.IPv6.parse(text);
  const [a = 0, b = 0, c = 0, d = 0] = tail.split(".").map(Number);
  return ipaddr.IPv6.parse(`${text.slice(0, -tail.length)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`);
}
