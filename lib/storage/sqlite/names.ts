// How the contract's names become SQL: tables, indexes and the expressions that stand for fields.
//
// SQLite compares names without case, the contract with it; so an upper-case letter is written as `^` and its
// lower-case form. Tables of the store itself start with `#`, which no other table can.
import type { ValueKind } from "../filter.js";
import type { IndexDefinition } from "../storage.js";

const tableName = /^[A-Za-z_][A-Za-z0-9_]{0,126}$/;
const tables = new Map<string, string>();

function escapeName(name: string): string {
  return name.replace(/[^a-z0-9_]/gu, (character) =>
    /[A-Z]/.test(character) ? `^${character.toLowerCase()}` : `^${character.codePointAt(0)!.toString(16)}.`);
}

function unescapeName(name: string): string {
  return name.replace(/\^(?:([0-9a-f]+)\.|([a-z]))/g, (_match, code: string | undefined, letter: string | undefined) =>
    code === undefined ? letter!.toUpperCase() : String.fromCodePoint(Number.parseInt(code, 16)));
}

/** The table's SQL name without quotes. Throws TypeError on a name that is none. */
export function tableToSql(name: string): string {
  let sql = tables.get(name);
  if (sql === undefined) {
    if (!tableName.test(name)) throw new TypeError(`"${name}" cannot name a table: use letters, digits and _, at most 127`);
    sql = escapeName(name).replace(/^sqlite_/, "^sqlite_");
    if (tables.size > 10_000) tables.clear();
    tables.set(name, sql);
  }
  return sql;
}

/** A text as an SQL literal. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A JSON path as an SQL literal. */
export function quotePath(field: string, path: readonly string[] = []): string {
  return quoteText(`$${[field, ...path].map((member) => `.${JSON.stringify(member)}`).join("")}`);
}

/**
 * The SQL expression of a field whose kind is known. Index and query use this one function, since SQLite takes an
 * index only where the expressions are the same. `from` is the table's alias with its dot.
 */
export function fieldToSql(field: string, kind: Exclude<ValueKind, "json">, from: string): string {
  if (field === "id") return `${from}id`;
  const value = `json_extract(${from}doc,${quotePath(field)})`;
  // Integers over 2^53 would else be compared by digits, where JavaScript compares what the digits round to.
  return kind === "number" ? `(${value}+0.0)` : value;
}

const kindLetters = { text: "t", number: "n", boolean: "b" } as const;

/** An index's SQL name, which tells the whole definition. */
export function indexToName(table: string, index: IndexDefinition): string {
  const fields = index.fields.map(({ field, kind }) => `${escapeName(field)}:${kindLetters[kind]}`);
  return `${table}#${index.unique ? "u" : "i"}#${fields.join(",")}`;
}

/** The fields that an index's name tells. */
export function fieldsOfIndex(name: string): string[] {
  return name.slice(name.lastIndexOf("#") + 1).split(",").map((part) => unescapeName(part.slice(0, part.lastIndexOf(":"))));
}

/** The statement that creates an index. Null values never collide in a unique index of SQLite. */
export function indexToSql(table: string, index: IndexDefinition): string {
  const members = index.fields.map(({ field, kind }) => fieldToSql(field, kind, ""));
  if (!index.unique && !members.includes("id")) members.push("id");
  return `CREATE ${index.unique ? "UNIQUE " : ""}INDEX "${indexToName(table, index)}" ON "${table}"(${members.join(",")})`;
}
