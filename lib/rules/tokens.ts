// Cuts the source of a rule into tokens, in one pass over it.
import { hasBrokenText } from "../schema/texts.js";
import { RuleError } from "./rule-error.js";

export type Token =
  /** A dotted name, `@` included: `owner`, `meta.color`, `@auth.id`. */
  | { readonly type: "name"; readonly text: string; readonly start: number; readonly end: number }
  | { readonly type: "string"; readonly value: string; readonly start: number; readonly end: number }
  | { readonly type: "number"; readonly value: number; readonly start: number; readonly end: number }
  | { readonly type: "symbol"; readonly text: string; readonly start: number; readonly end: number }
  | { readonly type: "end"; readonly start: number; readonly end: number };

/** The longest source that is read, in UTF-16 units. */
export const maxRuleLength = 5000;

const spaces = /[ \t\r\n]+/y;
const name = /@?[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*/y;
const number = /-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const symbol = /&&|\|\||!=|!~|<=|>=|[=<>~!()[\],]/y;
const escape = /\\(?:[\\"'n]|u\{([0-9A-Fa-f]{1,6})\})/y;
const plain = { '"': /[^"\\\r\n]+/y, "'": /[^'\\\r\n]+/y };

/** The tokens of the source, closed by `end`. Throws RuleError. */
export function tokenize(source: string): Token[] {
  if (source.length > maxRuleLength) throw new RuleError(maxRuleLength, `a rule has at most ${maxRuleLength} characters`);
  const tokens: Token[] = [];
  let position = 0;
  while (position < source.length) {
    const space = at(spaces, source, position);
    if (space !== undefined) {
      position += space.length;
      continue;
    }
    const token = readToken(source, position);
    tokens.push(token);
    position = token.end;
  }
  tokens.push({ type: "end", start: source.length, end: source.length });
  return tokens;
}

function readToken(source: string, start: number): Token {
  const first = source[start]!;
  if (first === '"' || first === "'") return readString(source, start, first);
  if (first === "-" || (first >= "0" && first <= "9")) return readNumber(source, start);
  const word = at(name, source, start);
  if (word !== undefined) return { type: "name", text: word, start, end: start + word.length };
  const sign = at(symbol, source, start);
  if (sign !== undefined) {
    if (sign === "=" && source[start + 1] === "=") throw new RuleError(start, "use = to compare, not ==");
    return { type: "symbol", text: sign, start, end: start + sign.length };
  }
  if (first === "&") throw new RuleError(start, "use && for and");
  if (first === "|") throw new RuleError(start, "use || for or");
  if (first === "@") throw new RuleError(start, "after @ comes auth, body, changed, now or method");
  throw new RuleError(start, `unexpected character ${JSON.stringify(String.fromCodePoint(source.codePointAt(start)!))}`);
}

function readNumber(source: string, start: number): Token {
  const text = at(number, source, start);
  const end = start + (text?.length ?? 0);
  if (text === undefined || /[A-Za-z0-9_.]/.test(source[end] ?? "")) throw new RuleError(start, "this is no number: write 12, -3, 0.5 or 1e6");
  const value = Number(text);
  if (!Number.isFinite(value)) throw new RuleError(start, "the number is too large");
  return { type: "number", value: value === 0 ? 0 : value, start, end };
}

function readString(source: string, start: number, quote: '"' | "'"): Token {
  const parts: string[] = [];
  let position = start + 1;
  while (source[position] !== quote) {
    const text = at(plain[quote], source, position);
    if (text !== undefined) {
      parts.push(text);
      position += text.length;
      continue;
    }
    if (source[position] !== "\\") throw new RuleError(start, `the string is not closed with ${quote} on its line (a line break is written \\n)`);
    const escaped = at(escape, source, position);
    if (escaped === undefined) throw new RuleError(position, "unknown escape: \\\\, \\\", \\', \\n and \\u{…} are known");
    parts.push(readEscape(escaped, position));
    position += escaped.length;
  }
  const value = parts.join("");
  if (hasBrokenText(value)) throw new RuleError(start, "a string holds no NUL and no half of a surrogate pair");
  return { type: "string", value, start, end: position + 1 };
}

function readEscape(text: string, position: number): string {
  const kind = text[1]!;
  if (kind === "n") return "\n";
  if (kind !== "u") return kind;
  const code = Number.parseInt(text.slice(3, -1), 16);
  if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw new RuleError(position, "this is no Unicode character that a text may hold");
  return String.fromCodePoint(code);
}

function at(pattern: RegExp, source: string, position: number): string | undefined {
  pattern.lastIndex = position;
  return pattern.exec(source)?.[0];
}
