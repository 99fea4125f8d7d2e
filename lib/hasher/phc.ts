// The PHC string of an Argon2 hash: read for its parameters, never computed here.

export interface PhcParameters {
  readonly variant: "argon2d" | "argon2i" | "argon2id";
  readonly version: number;
  /** KiB. */
  readonly memory: number;
  readonly iterations: number;
  readonly parallelism: number;
}

const shape = /^\$(argon2(?:id|i|d))\$v=(\d{1,3})\$((?:[mtp]=\d{1,10},){2}[mtp]=\d{1,10})\$([A-Za-z0-9+/]{11,256})\$([A-Za-z0-9+/]{16,256})$/;
/** KiB: more than that is no password hash, but a way to stop the process. */
const mostMemory = 2 * 1024 * 1024;
const mostIterations = 1000;

/** The parameters that the string carries; undefined where it is no Argon2 PHC string, or no usable one. */
export function parsePhc(stored: string): PhcParameters | undefined {
  const match = shape.exec(stored);
  if (match === null) return undefined;
  const costs = new Map(match[3]!.split(",").map((part) => [part[0]!, Number(part.slice(2))]));
  const memory = costs.get("m");
  const iterations = costs.get("t");
  const parallelism = costs.get("p");
  if (memory === undefined || iterations === undefined || parallelism === undefined) return undefined;
  const version = Number(match[2]);
  const usable =
    (version === 16 || version === 19) &&
    parallelism >= 1 && parallelism <= 255 &&
    memory >= 8 * parallelism && memory <= mostMemory &&
    iterations >= 1 && iterations <= mostIterations &&
    isBase64(match[4]!) && isBase64(match[5]!);
  return usable ? { variant: match[1] as PhcParameters["variant"], version, memory, iterations, parallelism } : undefined;
}

/** Unpadded base64 in its one spelling: decoders refuse spare bits that are set. */
function isBase64(text: string): boolean {
  return Buffer.from(text, "base64").toString("base64").replace(/=+$/, "") === text;
}
