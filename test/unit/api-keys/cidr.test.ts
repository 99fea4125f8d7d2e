import { expect } from "chai";
import fc from "fast-check";
import { isInside, parseCidr, parseRanges } from "../../../lib/api-keys/cidr.js";

describe("address ranges", () => {
  it("118 are stored as network address and prefix length", () => {
    for (const [text, stored] of [
      ["10.1.2.3/8", "10.0.0.0/8"], ["10.0.0.1", "10.0.0.1/32"], ["0.0.0.0/0", "0.0.0.0/0"], ["192.168.1.255/31", "192.168.1.254/31"],
      ["fd00::1", "fd00::1/128"], ["fd00::1/8", "fd00::/8"], ["FD00:0:0::1", "fd00::1/128"], ["::/0", "::/0"], ["2001:db8::ffff/127", "2001:db8::fffe/127"],
      ["::ffff:10.1.2.3", "10.1.2.3/32"], ["::ffff:10.1.2.3/104", "10.0.0.0/8"], ["::ffff:0:0/96", "0.0.0.0/0"], ["::ffff:a01:203/120", "10.1.2.0/24"],
      ["::10.1.2.3", "::a01:203/128"], ["64:ff9b::10.1.2.3", "64:ff9b::a01:203/128"], ["::ffff:10.1.2.3/90", "::ffc0:0:0/90"],
    ] as const) expect(parseCidr(text), text).to.equal(stored);
  });

  it("119 odd notations are none", () => {
    for (const text of [
      "", " ", "10/8", "1/8", "10.0/8", "10.0.0/24", "010.0.0.1", "10.0.0.01/8", "0x7f.0.0.1", "0x7f000001", "2130706433", "10.0.0.256", "10.0.0.0/33", "10.0.0.0/08", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8/8", "10.0.0.0/8.0", "10.0.0.0/255.0.0.0",
      " 10.0.0.0/8", "10.0.0.0/8 ", "10.0.0.0 /8", "10.0.0.0/8\n", "10.*.*.*", "10.0.0.0-10.0.0.9", "localhost", "example.org", "example.org/24", "fe80::1%eth0", "fe80::1%1/64", "fd00::/129", "fd00:::1", "[::1]", "[::1]/128", ":::", "::ffff:010.0.0.1", "1:2:3:4:5:6:7:8:9", "①.0.0.1", "EU",
    ]) expect(parseCidr(text), JSON.stringify(text)).to.equal(undefined);
  });

  it("116 hold peers of their family, IPv4-mapped ones too; an unknown peer is in none", () => {
    const inside = (cidr: string, peer: string | undefined): boolean => isInside(parseRanges([parseCidr(cidr)!]), peer);
    for (const [cidr, peer, expected] of [
      ["127.0.0.1", "127.0.0.1", true], ["127.0.0.1", "127.0.0.2", false], ["127.0.0.1", "::1", false], ["127.0.0.1", "::ffff:127.0.0.1", true],
      ["::ffff:127.0.0.0/104", "127.9.9.9", true], ["::1", "::1", true], ["::1", "127.0.0.1", false], ["0.0.0.0/0", "::1", false], ["::/0", "10.0.0.1", false],
      ["10.0.0.0/8", "10.255.255.255", true], ["10.0.0.0/8", "11.0.0.0", false], ["fe80::/10", "fe80::1%eth0", true],
      ["0.0.0.0/0", undefined, false], ["::/0", undefined, false], ["0.0.0.0/0", "", false], ["0.0.0.0/0", "garbage", false],
    ] as const) expect(inside(cidr, peer), `${cidr} ${peer}`).to.equal(expected);
    expect(isInside([], "127.0.0.1")).to.equal(false);
  });

  it("a stored range is a fixed point and holds its own address", () => {
    fc.assert(fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.nat(128), (address, bits) => {
      const text = `${address}/${address.includes(":") ? bits : bits % 33}`;
      const stored = parseCidr(text)!;
      expect(parseCidr(stored)).to.equal(stored);
      expect(isInside(parseRanges([stored]), address)).to.equal(true);
    }), { numRuns: 500 });
  });

  it("any text at all is answered", () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-f:./]{0,30}$/)), (text) => {
      const stored = parseCidr(text);
      if (stored !== undefined) expect(parseCidr(stored)).to.equal(stored);
    }), { numRuns: 2000 });
  });
});
