// Reads the source of a rule into its syntax tree: recursive descent, one token of look-ahead, linear time.
import type { ComparisonOperator, Expression, RuleOperand, ScalarOperand } from "./expression.js";
import { RuleError } from "./rule-error.js";
import { tokenize, type Token } from "./tokens.js";

/** How deep parentheses and `!` may nest. */
export const maxRuleDepth = 100;
/** How many comparisons and bare operands a rule may have. */
export const maxRuleTerms = 500;
/** How many members a path into a JSON field may have. */
export const maxPathLength = 50;

const comparisons: ReadonlySet<string> = new Set<ComparisonOperator>(["=", "!=", "<", "<=", ">", ">=", "~", "!~", "in"]);
const words: Readonly<Record<string, string>> = { and: "&&", or: "||", AND: "&&", OR: "||", IN: "in", like: "~", LIKE: "~" };

interface Reader {
  readonly tokens: readonly Token[];
  index: number;
  depth: number;
  terms: number;
}

/** The tree of the source. Throws RuleError with the position of the fault. Names and types are not looked at. */
export function parseExpression(source: string): Expression {
  const reader: Reader = { tokens: tokenize(source), index: 0, depth: 0, terms: 0 };
  if (peek(reader).type === "end") throw new RuleError(0, "the rule is empty: write true for Public, or use null for No access");
  const expression = readChain(reader, "or");
  const rest = peek(reader);
  if (rest.type !== "end") throw unexpected(rest, "&&, || or the end");
  return expression;
}

function readChain(reader: Reader, type: "or" | "and"): Expression {
  const sign = type === "or" ? "||" : "&&";
  const readPart = type === "or" ? () => readChain(reader, "and") : () => readUnary(reader);
  const parts = [readPart()];
  while (takeSymbol(reader, sign)) parts.push(readPart());
  const first = parts[0]!;
  return parts.length === 1 ? first : { type, parts, start: first.start, end: parts[parts.length - 1]!.end };
}

function readUnary(reader: Reader): Expression {
  const token = peek(reader);
  if (takeSymbol(reader, "!")) {
    const grouped = isSymbol(peek(reader), "(");
    const inner = nested(reader, token, () => readUnary(reader));
    if (inner.type === "comparison" && !grouped) {
      throw new RuleError(token.start, "put the comparison in parentheses, as in !(a = b), or use the opposite operator");
    }
    return { type: "not", inner, start: token.start, end: inner.end };
  }
  if (takeSymbol(reader, "(")) {
    const inner = nested(reader, token, () => readChain(reader, "or"));
    const close = peek(reader);
    if (!takeSymbol(reader, ")")) throw unexpected(close, "&&, || or )");
    const next = peek(reader);
    if (comparisonAt(next) !== undefined) throw new RuleError(next.start, "a comparison stands between two operands, not beside an expression in parentheses");
    return { ...inner, start: token.start, end: close.end };
  }
  return readTerm(reader);
}

function readTerm(reader: Reader): Expression {
  const left = readOperand(reader);
  reader.terms += 1;
  if (reader.terms > maxRuleTerms) throw new RuleError(left.start, `a rule has at most ${maxRuleTerms} comparisons`);
  const operator = comparisonAt(peek(reader));
  if (operator === undefined && left.type === "field" && left.name.toLowerCase() === "not" && startsOperand(peek(reader))) throw new RuleError(left.start, `use ! instead of ${left.name}`);
  if (operator === undefined) return { type: "truth", operand: left, start: left.start, end: left.end };
  reader.index += 1;
  const right = readOperand(reader);
  const next = peek(reader);
  if (comparisonAt(next) !== undefined) throw new RuleError(next.start, "comparisons cannot be chained: join two of them with &&");
  return { type: "comparison", operator, left, right, start: left.start, end: right.end };
}

function readOperand(reader: Reader): RuleOperand {
  const open = peek(reader);
  if (!takeSymbol(reader, "[")) return readScalar(reader);
  const items: ScalarOperand[] = [];
  if (!isSymbol(peek(reader), "]")) {
    do items.push(readScalar(reader));
    while (takeSymbol(reader, ","));
  }
  const close = peek(reader);
  if (!takeSymbol(reader, "]")) throw unexpected(close, ", or ]");
  return { type: "list", items, start: open.start, end: close.end };
}

function readScalar(reader: Reader): ScalarOperand {
  const token = peek(reader);
  const { start, end } = token;
  if (token.type === "string" || token.type === "number") {
    reader.index += 1;
    return { type: "literal", value: token.value, start, end };
  }
  if (token.type !== "name" || token.text === "in") throw unexpected(token, "a field, a value or @auth, @body, @changed, @now, @method");
  reader.index += 1;
  if (token.text === "true" || token.text === "false") return { type: "literal", value: token.text === "true", start, end };
  if (token.text === "null") return { type: "literal", value: null, start, end };
  if (token.text.startsWith("@")) return contextOperand(token.text, start, end);
  const [name, ...path] = token.text.split(".") as [string, ...string[]];
  demandShortPath(path, start);
  return { type: "field", name, path, start, end };
}

function contextOperand(text: string, start: number, end: number): ScalarOperand {
  const [source, name, ...path] = text.slice(1).split(".") as [string, string | undefined, ...string[]];
  if (source === "now" || source === "method") {
    if (name !== undefined) throw new RuleError(start, `@${source} has no members`);
    return { type: source, start, end };
  }
  if (source !== "auth" && source !== "body" && source !== "changed") throw new RuleError(start, `@${source} is unknown: there are @auth, @body, @changed, @now and @method`);
  if (name === undefined) throw new RuleError(start, `name a field after @${source}, as in @${source}.id`);
  demandShortPath(path, start);
  return { type: source, name, path, start, end };
}

function demandShortPath(path: readonly string[], start: number): void {
  if (path.length > maxPathLength) throw new RuleError(start, `a path has at most ${maxPathLength} members`);
}

function nested<T>(reader: Reader, token: Token, read: () => T): T {
  reader.depth += 1;
  if (reader.depth > maxRuleDepth) throw new RuleError(token.start, `parentheses and ! nest at most ${maxRuleDepth} deep`);
  const result = read();
  reader.depth -= 1;
  return result;
}

function peek(reader: Reader): Token {
  return reader.tokens[reader.index]!;
}

function isSymbol(token: Token, text: string): boolean {
  return token.type === "symbol" && token.text === text;
}

function takeSymbol(reader: Reader, text: string): boolean {
  if (!isSymbol(peek(reader), text)) return false;
  reader.index += 1;
  return true;
}

function comparisonAt(token: Token): ComparisonOperator | undefined {
  const text = token.type === "symbol" || token.type === "name" ? token.text : undefined;
  return text !== undefined && comparisons.has(text) ? (text as ComparisonOperator) : undefined;
}

function startsOperand(token: Token): boolean {
  return token.type === "name" || isSymbol(token, "(");
}

function unexpected(token: Token, expected: string): RuleError {
  if (token.type === "end") return new RuleError(token.start, `the rule ends too early: expected ${expected}`);
  const found = token.type === "string" ? "a string" : token.type === "number" ? "a number" : token.text;
  const better = token.type === "name" ? words[token.text] : undefined;
  return new RuleError(token.start, better === undefined ? `unexpected ${found}: expected ${expected}` : `use ${better} instead of ${found}`);
}
