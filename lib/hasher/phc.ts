// The PHC string of an Argon2 hash: read for its parameters, never computed here.

export interface PhcParameters {
  readonly variant: "argon2d" | "argon2i" | "argon2id";
  readonly version: number;
  /** KiB. */
  readonly memory: number;
  readonly iterations: number;
  readonly parallelism: number;
}

const shape = /^\$(argon2(?:id|i|d))\$v=(\d{1,3})\$((?:[mtp]=\d{1,10},){2}[mtp]=\d{1,10})\$[A-Za-z0-9+/]{11,}\$[A-Za-z0-9+/]{16,}$/;

/** The parameters that the string carries; undefined where it is no Argon2 PHC string. */
export function parsePhc(stored: string): PhcParameters | undefined {
  const match = shape.exec(stored);
  if (match === null) return undefined;
  const costs = new Map(match[3]!.split(",").map((part) => [part[0]!, Number(part.slice(2))]));
  const memory = costs.get("m");
  const iterations = costs.get("t");
  const parallelism = costs.get("p");
  if (memory === undefined || iterations === undefined || parallelism === undefined) return undefined;
  return { variant: match[1] as PhcParameters["variant"], version: Number(match[2]), memory, iterations, parallelism };
}
