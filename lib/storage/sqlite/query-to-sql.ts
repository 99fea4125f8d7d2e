// Compiles a Query to the one statement that answers it from an index: a page after a position is made of the ties
// at that position, what lies beyond it, and, where they come last, the nulls; each part a range of the same index.
import type { Filter } from "../filter.js";
import { textSeparator, type Query } from "../storage.js";
import type { SqlValue } from "./driver.js";
import { filterToSql, type Sql } from "./filter-to-sql.js";
import { fieldToSql, quoteText } from "./names.js";

/** Without the id, which the text tells: each column of each row costs. */
const rowColumns = "r.revision,r.doc,r.hidden";

/** The condition that no record misses: the smallest value of each kind, since SQLite knows no range "not null". */
const smallest = { text: "''", number: "-9e999", boolean: "0" } as const;

export function countToSql(table: string, filter: Filter): Sql {
  const { text, values } = filterToSql(filter);
  return { text: `SELECT count(*) FROM "${table}" AS r WHERE ${text}`, values };
}

/** Answers at least one row where a record matches. */
export function existsToSql(table: string, filter: Filter): Sql {
  const { text, values } = filterToSql(filter);
  return { text: `SELECT 1 FROM "${table}" AS r WHERE ${text} LIMIT 1`, values };
}

/** A whole number of rows that SQLite takes as LIMIT. */
export function toRowCount(count: number): number {
  return Math.min(Math.max(0, Math.floor(count)), 2 ** 31 - 1);
}

/**
 * One row: how many documents there are, and their texts joined, as the bytes that they are: a text would be decoded for
 * JavaScript only to be encoded again for the socket. SQLite keeps the order of a subquery with a LIMIT.
 */
export function textsToSql(table: string, query: Query): Sql {
  const { text, values } = queryToSql(table, query, "r.doc AS doc");
  return { text: `SELECT count(*),CAST(group_concat(doc,${quoteText(textSeparator)}) AS BLOB) FROM (${text})`, values };
}

export function queryToSql(table: string, query: Query, columns = rowColumns): Sql {
  const condition = filterToSql(query.filter);
  const limit = toRowCount(query.limit);
  const offset = toRowCount(query.offset ?? 0);
  const { sort, after } = query;
  const descending = sort?.descending === true;
  const direction = descending ? " DESC" : "";
  const beyond = descending ? "<" : ">";
  const from = `SELECT ${columns} FROM "${table}" AS r WHERE ${condition.text}`;
  const byId = `ORDER BY r.id${direction}`;
  // Written out: SQLite prepares a statement anew whenever a bound LIMIT is bound again, which costs more than the rows.
  const paging = offset === 0 ? `LIMIT ${limit}` : `LIMIT ${limit} OFFSET ?`;
  const pagingValues = offset === 0 ? [] : [offset];

  if (sort === undefined || sort.field === "id") {
    if (after === undefined) return { text: `${from} ${byId} ${paging}`, values: [...condition.values, ...pagingValues] };
    return { text: `${from} AND r.id${beyond}? ${byId} ${paging}`, values: [...condition.values, after.id, ...pagingValues] };
  }

  const field = fieldToSql(sort.field, sort.kind, "r.");
  const byField = `ORDER BY ${field}${direction},r.id${direction}`;
  if (after === undefined) return { text: `${from} ${byField} ${paging}`, values: [...condition.values, ...pagingValues] };

  const nullPart = after.value === null;
  const value: SqlValue = typeof after.value === "boolean" ? Number(after.value) : after.value;
  const parts: string[] = [];
  const values: SqlValue[] = [];
  const add = (extra: string, order: string, ...extraValues: SqlValue[]): void => {
    parts.push(`SELECT * FROM (${from} AND ${extra} ${order} LIMIT ${limit + offset})`);
    values.push(...condition.values, ...extraValues);
  };
  if (nullPart) {
    add(`${field} IS NULL AND r.id${beyond}?`, byId, after.id);
    if (!descending) add(`${field}>=${smallest[sort.kind]}`, byField);
  } else {
    add(`${field}=? AND r.id${beyond}?`, byId, value, after.id);
    add(`${field}${beyond}?`, byField, value);
    if (descending) add(`${field} IS NULL`, byId);
  }
  return { text: `${parts.join(" UNION ALL ")} ${paging}`, values: [...values, ...pagingValues] };
}
