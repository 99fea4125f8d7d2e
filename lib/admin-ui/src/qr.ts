// A QR code for a text, after ISO/IEC 18004: byte mode, and always version 10 with level L and mask 4, which holds any
// otpauth address of a usual length. Readers take every version and mask, so the page needs no tables for the others.

const size = 57;
/** Data codewords of each block. */
const blocks = [68, 68, 69, 69];
const checks = 18;
const dataCodewords = 274;
/** Level, mask and version with their check bits, as the standard lists them. */
const formatBits = 0b110011000101111;
const versionBits = 0b001010010011010011;
/** The centres of the alignment patterns. */
const centres = [6, 28, 50];

/** The longest text, in bytes of UTF-8. */
export const longestText = 271;

/** Whether each module is dark, row by row. null where the text is too long. */
export function qrModules(text: string): readonly (readonly boolean[])[] | null {
  const bytes = new TextEncoder().encode(text);
  return bytes.length > longestText ? null : draw(interleave(toCodewords(bytes)));
}

/** The modules as the path of an SVG with one unit a module. */
export function qrPath(modules: readonly (readonly boolean[])[]): string {
  return modules.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ""))).join("");
}

const at = (list: readonly number[], index: number): number => list[index] ?? 0;

function toCodewords(bytes: Uint8Array): number[] {
  // Byte mode (4 bits), the length (16), the bytes, and the end (4): half a byte out of step all along.
  const nibbles = [4, ...[bytes.length >> 8, bytes.length & 255, ...bytes].flatMap((byte) => [byte >> 4, byte & 15]), 0];
  const words = Array.from({ length: nibbles.length / 2 }, (_, index) => at(nibbles, index * 2) * 16 + at(nibbles, index * 2 + 1));
  for (let pad = 0xec; words.length < dataCodewords; pad ^= 0xfd) words.push(pad);
  return words;
}

/** Multiplies in GF(256) modulo x^8 + x^4 + x^3 + x^2 + 1. */
function multiply(left: number, right: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1) product = (product << 1) ^ ((product >> 7) * 0x11d) ^ (((right >> bit) & 1) * left);
  return product;
}

/** The generator of the check codewords, its highest coefficient left out. */
function generator(): number[] {
  let result = [1];
  let root = 1;
  for (let step = 0; step < checks; step += 1) {
    const factor = root;
    result = [...result, 0].map((value, index) => value ^ multiply(at(result, index - 1), factor));
    root = multiply(root, 2);
  }
  return result.slice(1);
}

function interleave(data: readonly number[]): number[] {
  const divisor = generator();
  let offset = 0;
  const parts = blocks.map((length) => {
    const words = data.slice(offset, (offset += length));
    let rest = divisor.map(() => 0);
    for (const word of words) {
      const factor = word ^ at(rest, 0);
      rest = divisor.map((value, index) => at(rest, index + 1) ^ multiply(value, factor));
    }
    return { words, rest };
  });
  const result: number[] = [];
  for (let index = 0; index < 69; index += 1) for (const { words } of parts) if (index < words.length) result.push(at(words, index));
  for (let index = 0; index < checks; index += 1) for (const { rest } of parts) result.push(at(rest, index));
  return result;
}

function draw(codewords: readonly number[]): boolean[][] {
  const grid: (boolean | undefined)[][] = Array.from({ length: size }, () => Array.from({ length: size }));
  const set = (x: number, y: number, dark: boolean) => {
    const row = grid[y];
    if (row !== undefined && x >= 0 && x < size) row[x] = dark;
  };
  const bit = (bits: number, index: number) => ((bits >> index) & 1) === 1;
  for (let index = 0; index < size; index += 1) {
    set(6, index, index % 2 === 0);
    set(index, 6, index % 2 === 0);
  }
  const square = (cx: number, cy: number, reach: number, light: readonly number[]) => {
    for (let dy = -reach; dy <= reach; dy += 1) for (let dx = -reach; dx <= reach; dx += 1) set(cx + dx, cy + dy, !light.includes(Math.max(Math.abs(dx), Math.abs(dy))));
  };
  // Three corners belong to the finders.
  for (const cx of centres) for (const cy of centres) if ((cx !== 6 || cy === 28) && (cy !== 6 || cx === 28)) square(cx, cy, 2, [1]);
  for (const [cx, cy] of [[3, 3], [size - 4, 3], [3, size - 4]] as const) square(cx, cy, 4, [2, 4]);
  for (let index = 0; index < 15; index += 1) {
    const dark = bit(formatBits, index);
    if (index < 6) set(8, index, dark);
    else if (index < 8) set(8, index + 1, dark);
    else set(index === 8 ? 7 : 14 - index, 8, dark);
    if (index < 8) set(size - 1 - index, 8, dark);
    else set(8, size - 15 + index, dark);
  }
  set(8, size - 8, true);
  for (let index = 0; index < 18; index += 1) {
    const far = size - 11 + (index % 3);
    const near = Math.floor(index / 3);
    set(far, near, bit(versionBits, index));
    set(near, far, bit(versionBits, index));
  }
  let place = 0;
  for (let right = size - 1; right >= 1; right -= right === 8 ? 3 : 2) {
    for (let step = 0; step < size; step += 1) for (const x of [right, right - 1]) {
      // Columns are read upwards and downwards in turn, counted from the right, the timing column left out.
      const y = (right < 6 ? right + 1 : right) % 4 === 0 ? size - 1 - step : step;
      const row = grid[y];
      if (row === undefined || row[x] !== undefined) continue;
      row[x] = bit(at(codewords, place >> 3), 7 - (place & 7)) !== ((Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0);
      place += 1;
    }
  }
  return grid.map((row) => row.map((dark) => dark === true));
}
