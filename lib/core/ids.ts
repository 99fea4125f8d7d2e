// Ids and secrets: UUID version 7 (RFC 9562), monotonic in this process, and random tokens.
import { createHash, hash, randomBytes, randomFillSync, timingSafeEqual } from "node:crypto";

const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const pool = Buffer.alloc(8 * 512);
let poolOffset = pool.length;
let lastTime = 0;
let counter = 0;

/**
 * A new UUID version 7. Within one process each id is greater than the one before it, whatever the clock does:
 * `rand_a` and the top bits of `rand_b` are a counter (RFC 9562, section 6.2, method 1).
 */
export function newId(now: number): string {
  if (now > lastTime) {
    lastTime = now;
    counter = 0;
  } else {
    counter += 1;
    if (counter > 0x3fffff) {
      lastTime += 1;
      counter = 0;
    }
  }
  if (poolOffset === pool.length) {
    randomFillSync(pool);
    poolOffset = 0;
  }
  const time = lastTime.toString(16).padStart(12, "0");
  const high = (counter >>> 10).toString(16).padStart(3, "0");
  const low = (0x8000 | ((counter & 0x3ff) << 4) | (pool[poolOffset]! & 0xf)).toString(16);
  const random = pool.toString("hex", poolOffset + 1, poolOffset + 7);
  poolOffset += 8;
  return `${time.slice(0, 8)}-${time.slice(8)}-7${high}-${low}-${random}`;
}

/** Whether the text is a UUID in its canonical, lower-case form. */
export function isId(text: unknown): text is string {
  return typeof text === "string" && pattern.test(text);
}

/** 256 random bits, base64url: 43 characters, the first of them no hyphen: a command line would take it for an option. */
export function newSecret(): string {
  for (;;) {
    const secret = randomBytes(32).toString("base64url");
    if (!secret.startsWith("-")) return secret;
  }
}

/** SHA-256, hexadecimal. Enough for secrets of 256 random bits; never for passwords. */
export function sha256(text: string): string {
  return hash("sha256", text, "hex");
}

/** Compares two texts without telling by time where they differ. */
export function equalInConstantTime(a: string, b: string): boolean {
  const left = createHash("sha256").update(a).digest();
  const right = createHash("sha256").update(b).digest();
  return timingSafeEqual(left, right);
}

/** The 16 bytes of a UUID, for tokens that carry an id. */
export function idToBytes(id: string): Buffer {
  return Buffer.from(id.replaceAll("-", ""), "hex");
}

/** The UUID of 16 bytes. */
export function idFromBytes(bytes: Buffer): string {
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
