// A QR code for a text: byte mode, error correction M, versions 1 to 20 (up to 666 bytes), mask 4, after ISO/IEC 18004.

/** Whether each module is dark, row by row. Throws RangeError where the text is too long. */
export function qrModules(text: string): readonly (readonly boolean[])[] {
  const bytes = new TextEncoder().encode(text);
  const version = versionFor(bytes.length);
  const codewords = interleave(toCodewords(bytes, version), version);
  return draw(version, codewords);
}

/** The modules as the path of an SVG with one unit a module. */
export function qrPath(modules: readonly (readonly boolean[])[]): string {
  return modules.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ""))).join("");
}

// For each version: error correction codewords a block, and blocks, both for level M.
const correction = [0, 10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26];
const blocks = [0, 1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16];

function totalCodewords(version: number): number {
  let modules = (16 * version + 128) * version + 64;
  if (version >= 2) {
    const count = Math.floor(version / 7) + 2;
    modules -= (25 * count - 10) * count - 55;
    if (version >= 7) modules -= 36;
  }
  return Math.floor(modules / 8);
}

const at = (list: readonly number[], index: number): number => list[index] ?? 0;
const dataCodewords = (version: number) => totalCodewords(version) - at(correction, version) * at(blocks, version);
const lengthBits = (version: number) => (version < 10 ? 8 : 16);

function versionFor(length: number): number {
  for (let version = 1; version < correction.length; version += 1) {
    if (4 + lengthBits(version) + length * 8 <= dataCodewords(version) * 8) return version;
  }
  throw new RangeError("The text is too long for the code");
}

function toCodewords(bytes: Uint8Array, version: number): number[] {
  const bits: number[] = [];
  const push = (value: number, count: number) => {
    for (let index = count - 1; index >= 0; index -= 1) bits.push((value >>> index) & 1);
  };
  push(4, 4);
  push(bytes.length, lengthBits(version));
  for (const byte of bytes) push(byte, 8);
  const room = dataCodewords(version) * 8;
  push(0, Math.min(4, room - bits.length));
  while (bits.length % 8 !== 0) bits.push(0);
  const words = Array.from({ length: bits.length / 8 }, (_, index) => bits.slice(index * 8, index * 8 + 8).reduce((word, bit) => word * 2 + bit, 0));
  for (let pad = 0xec; words.length < room / 8; pad ^= 0xec ^ 0x11) words.push(pad);
  return words;
}

/** Multiplies in GF(256) modulo x^8 + x^4 + x^3 + x^2 + 1. */
function multiply(left: number, right: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d);
    product ^= ((right >>> bit) & 1) * left;
  }
  return product & 0xff;
}

function generatorOf(degree: number): number[] {
  const result: number[] = Array.from({ length: degree }, (_, index) => (index === degree - 1 ? 1 : 0));
  let root = 1;
  for (let step = 0; step < degree; step += 1) {
    for (let index = 0; index < degree; index += 1) result[index] = multiply(at(result, index), root) ^ (index + 1 < degree ? at(result, index + 1) : 0);
    root = multiply(root, 2);
  }
  return result;
}

function remainderOf(data: readonly number[], generator: readonly number[]): number[] {
  const result = generator.map(() => 0);
  for (const word of data) {
    const factor = word ^ (result.shift() ?? 0);
    result.push(0);
    generator.forEach((value, index) => { result[index] = at(result, index) ^ multiply(value, factor); });
  }
  return result;
}

function interleave(data: readonly number[], version: number): number[] {
  const count = at(blocks, version);
  const checks = at(correction, version);
  const total = totalCodewords(version);
  const short = count - (total % count);
  const shortLength = Math.floor(total / count) - checks;
  const generator = generatorOf(checks);
  const parts: { data: readonly number[]; checks: readonly number[] }[] = [];
  let offset = 0;
  for (let block = 0; block < count; block += 1) {
    const part = data.slice(offset, offset + shortLength + (block < short ? 0 : 1));
    offset += part.length;
    parts.push({ data: part, checks: remainderOf(part, generator) });
  }
  const result: number[] = [];
  for (let index = 0; index <= shortLength; index += 1) for (const part of parts) if (index < part.data.length) result.push(at(part.data, index));
  for (let index = 0; index < checks; index += 1) for (const part of parts) result.push(at(part.checks, index));
  return result;
}

// One mask for all: readers take each of the eight, and this one breaks up the runs of any text.
const mask = 4;
const isMasked = (x: number, y: number): boolean => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0;

function alignmentPlaces(version: number): readonly number[] {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = Math.ceil((version * 4 + 4) / (count * 2 - 2)) * 2;
  return [6, ...Array.from({ length: count - 1 }, (_, index) => version * 4 + 10 - (count - 2 - index) * step)];
}

function draw(version: number, codewords: readonly number[]): boolean[][] {
  const size = version * 4 + 17;
  const grid = Array.from({ length: size }, () => Array.from({ length: size }, () => false));
  const fixed = Array.from({ length: size }, () => Array.from({ length: size }, () => false));
  const set = (x: number, y: number, dark: boolean) => {
    const row = grid[y];
    const marks = fixed[y];
    if (row === undefined || marks === undefined || x < 0 || x >= size) return;
    row[x] = dark;
    marks[x] = true;
  };
  for (let index = 0; index < size; index += 1) {
    set(6, index, index % 2 === 0);
    set(index, 6, index % 2 === 0);
  }
  for (const [cx, cy] of [[3, 3], [size - 4, 3], [3, size - 4]] as const) {
    for (let dy = -4; dy <= 4; dy += 1) for (let dx = -4; dx <= 4; dx += 1) {
      const distance = Math.max(Math.abs(dx), Math.abs(dy));
      set(cx + dx, cy + dy, distance !== 2 && distance !== 4);
    }
  }
  const places = alignmentPlaces(version);
  const last = places.length - 1;
  places.forEach((cy, row) => places.forEach((cx, column) => {
    if ((row === 0 && column === 0) || (row === 0 && column === last) || (row === last && column === 0)) return;
    for (let dy = -2; dy <= 2; dy += 1) for (let dx = -2; dx <= 2; dx += 1) set(cx + dx, cy + dy, Math.max(Math.abs(dx), Math.abs(dy)) !== 1);
  }));
  drawFormat(set, size);
  if (version >= 7) drawVersion(set, size, version);
  let bit = 0;
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    for (let step = 0; step < size; step += 1) for (let side = 0; side < 2; side += 1) {
      const x = right - side;
      const y = ((right + 1) & 2) === 0 ? size - 1 - step : step;
      const row = grid[y];
      if (row === undefined || fixed[y]?.[x] === true) continue;
      row[x] = (((at(codewords, bit >>> 3) >>> (7 - (bit & 7))) & 1) === 1) !== isMasked(x, y);
      bit += 1;
    }
  }
  return grid;
}

type Set = (x: number, y: number, dark: boolean) => void;

function drawFormat(set: Set, size: number): void {
  // Level M is 00, so the data is the mask alone.
  let rest: number = mask;
  for (let step = 0; step < 10; step += 1) rest = (rest << 1) ^ ((rest >>> 9) * 0x537);
  const bits = ((mask << 10) | rest) ^ 0x5412;
  const bit = (index: number) => ((bits >>> index) & 1) === 1;
  for (let index = 0; index <= 5; index += 1) set(8, index, bit(index));
  set(8, 7, bit(6));
  set(8, 8, bit(7));
  set(7, 8, bit(8));
  for (let index = 9; index < 15; index += 1) set(14 - index, 8, bit(index));
  for (let index = 0; index < 8; index += 1) set(size - 1 - index, 8, bit(index));
  for (let index = 8; index < 15; index += 1) set(8, size - 15 + index, bit(index));
  set(8, size - 8, true);
}

function drawVersion(set: Set, size: number, version: number): void {
  let rest = version;
  for (let step = 0; step < 12; step += 1) rest = (rest << 1) ^ ((rest >>> 11) * 0x1f25);
  const bits = (version << 12) | rest;
  for (let index = 0; index < 18; index += 1) {
    const dark = ((bits >>> index) & 1) === 1;
    const far = size - 11 + (index % 3);
    const near = Math.floor(index / 3);
    set(far, near, dark);
    set(near, far, dark);
  }
}
