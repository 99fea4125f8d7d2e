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
  const plain = peer.replace(/%.*$/s, "");
  if (!isIPv4(plain) && !isIPv6(plain)) return false;
  // An IPv4 peer on a dual-stack listener shows as ::ffff:a.b.c.d.
  const address = ipaddr.process(plain);
  return ranges.some(({ network, bits }) => network.kind() === address.kind() && address.match(network, bits));
}

const shape = /^([0-9a-fA-F:.]+)(?:\/(0|[1-9][0-9]{0,2}))?$/;

function rangeOf(text: string): Range | undefined {
  const match = shape.exec(text);
  if (match === null) return undefined;
  const host = match[1]!;
  if (!isIPv4(host) && !isIPv6(host)) return undefined;
  let address: Address = ipaddr.parse(host);
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
