// JSON text without lone surrogates: UTF-8 cannot hold them, so every engine would change them in its own way.

/** JSON text of the value; lone surrogates become U+FFFD, as `String.prototype.toWellFormed` does it. */
export function toJsonText(value: object): string {
  const text = JSON.stringify(value);
  // JSON.stringify escapes surrogates only where they stand alone.
  if (!text.includes("\\ud")) return text;
  return JSON.stringify(wellFormed(JSON.parse(text)));
}

function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return replaceLone(value);
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [replaceLone(key), wellFormed(member)]));
}

function replaceLone(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}
