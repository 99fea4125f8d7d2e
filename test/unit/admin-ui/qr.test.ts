// The QR code of the two-factor set-up, read back as a scanner would: format, unmasking, blocks, error check, text.
import { expect } from "chai";
import { longestText, qrModules } from "../../../lib/admin-ui/src/qr.js";

// Version 10, level L (ISO/IEC 18004, table 9): check codewords of each block, and its data codewords.
const version = 10;
const checks = 18;
const blocks = [68, 68, 69, 69];

describe("QR code", () => {
  for (const [name, text] of [
    ["a short text", "HELLO"],
    ["an otpauth address", `otpauth://totp/Records%20service:root?issuer=Records%20service&secret=${"A".repeat(32)}&algorithm=SHA1&digits=6&period=30`],
    ["letters beyond ASCII", "é".repeat(100)],
    ["the longest text", "z".repeat(longestText)],
  ] as const) {
    it(`${name} is read back`, () => {
      expect(read(qrModules(text)!)).to.equal(text);
    });
  }

  it("draws no text that is too long", () => {
    expect(qrModules("z".repeat(longestText + 1))).to.equal(null);
  });
});

function read(modules: readonly (readonly boolean[])[]): string {
  const size = modules.length;
  expect(size).to.equal(version * 4 + 17);
  const dark = (x: number, y: number) => modules[y]![x] === true;
  const format = readFormat(dark, size);
  expect(format >> 3, "level L").to.equal(1);
  const mask = format & 7;
  expect(mask).to.equal(4);
  const total = blocks.reduce((sum, length) => sum + length + checks, 0);
  const bits: boolean[] = [];
  for (let right = size - 1, upward = true; right > 0; right -= 2, upward = !upward) {
    if (right === 6) right = 5;
    for (let step = 0; step < size; step += 1) {
      const y = upward ? size - 1 - step : step;
      for (const x of [right, right - 1]) {
        if (!isFunction(x, y, size)) bits.push(dark(x, y) !== ((Math.floor(y / 2) + Math.floor(x / 3)) % 2 === 0));
      }
    }
  }
  const words = Array.from({ length: total }, (_, index) => bits.slice(index * 8, index * 8 + 8).reduce((word, bit) => word * 2 + Number(bit), 0));
  const parts: number[][] = blocks.map(() => []);
  let place = 0;
  for (let index = 0; index < Math.max(...blocks); index += 1) blocks.forEach((length, block) => { if (index < length) parts[block]!.push(words[place++]!); });
  const ends: number[][] = blocks.map(() => []);
  for (let index = 0; index < checks; index += 1) blocks.forEach((_, block) => { ends[block]!.push(words[place++]!); });
  parts.forEach((part, block) => { expect(syndromes([...part, ...ends[block]!], checks), `block ${block}`).to.deep.equal(Array.from({ length: checks }, () => 0)); });
  const stream = parts.flat().flatMap((word) => Array.from({ length: 8 }, (_, index) => (word >> (7 - index)) & 1));
  const take = (count: number) => stream.splice(0, count).reduce((value, bit) => value * 2 + bit, 0);
  expect(take(4), "byte mode").to.equal(4);
  const length = take(16);
  return Buffer.from(Array.from({ length }, () => take(8))).toString("utf8");
}

/** The format bits beside the upper left finder; both copies must say the same and hold their check bits. */
function readFormat(dark: (x: number, y: number) => boolean, size: number): number {
  const first = [[8, 0], [8, 1], [8, 2], [8, 3], [8, 4], [8, 5], [8, 7], [8, 8], [7, 8], [5, 8], [4, 8], [3, 8], [2, 8], [1, 8], [0, 8]] as const;
  const second = [...Array.from({ length: 8 }, (_, index) => [size - 1 - index, 8] as const), ...Array.from({ length: 7 }, (_, index) => [8, size - 7 + index] as const)];
  const value = (places: readonly (readonly [number, number])[]) => places.reduce((sum, [x, y], index) => sum + (Number(dark(x, y)) << index), 0) ^ 0b101010000010010;
  expect(value(first)).to.equal(value(second));
  const bits = value(first);
  let rest = bits;
  for (let shift = 14; shift >= 10; shift -= 1) if (((rest >> shift) & 1) === 1) rest ^= 0b10100110111 << (shift - 10);
  expect(rest, "check bits of the format").to.equal(0);
  return bits >> 10;
}

function isFunction(x: number, y: number, size: number): boolean {
  if (x === 6 || y === 6) return true;
  if ((x < 9 && y < 9) || (x >= size - 8 && y < 9) || (x < 9 && y >= size - 8)) return true;
  if ((x >= size - 11 && y < 6) || (y >= size - 11 && x < 6)) return true;
  const places = [6, 28, 50];
  const last = size - 7;
  return places.some((cy) => places.some((cx) => !((cx === 6 && cy === 6) || (cx === 6 && cy === last) || (cx === last && cy === 6)) && Math.abs(cx - x) <= 2 && Math.abs(cy - y) <= 2));
}

/** The block's polynomial at the powers of 2 in GF(256): all zero where it is whole. */
function syndromes(block: readonly number[], count: number): number[] {
  const exponents: number[] = [];
  for (let value = 1, index = 0; index < 255; index += 1) {
    exponents.push(value);
    value <<= 1;
    if (value > 255) value ^= 0x11d;
  }
  const multiply = (left: number, right: number) => (left === 0 || right === 0 ? 0 : exponents[(exponents.indexOf(left) + exponents.indexOf(right)) % 255]!);
  return Array.from({ length: count }, (_, power) => block.reduce((sum, word) => multiply(sum, exponents[power]!) ^ word, 0));
}
