// A table's reads.
import { isAlways } from "../filter.js";
import { StoredRow } from "../row.js";
import type { Row, RowTexts, Table } from "../storage.js";
import { tableToSql } from "./names.js";
import { isLongOffset } from "./plan.js";
import { countToSql, queryToSql, textsToSql } from "./query-to-sql.js";
import type { Reader } from "./reader.js";

const nothing = Promise.resolve(undefined);
const noBytes = new Uint8Array(0);

export function createTable(reader: Reader, path: string, name: string): Table {
  const table = tableToSql(name);
  const findSql = `SELECT revision,doc,hidden FROM "${table}" WHERE id=?`;
  return {
    find(id) {
      try {
        const row = reader.now(path, (connection) => connection.statement(findSql).get(id)) as [number, string, string | null] | undefined;
        return row === undefined ? nothing : Promise.resolve(new StoredRow(id, row[0], row[1], row[2]));
      } catch (error) {
        return Promise.reject(error);
      }
    },
    list(query) {
      try {
        const { text, values } = queryToSql(table, query);
        return reader.scan({ path, table, sql: text, values, filtered: !isAlways(query.filter), long: isLongOffset(query.offset) }).then(toRows);
      } catch (error) {
        return Promise.reject(error);
      }
    },
    listText(query) {
      try {
        const { text, values } = textsToSql(table, query);
        return reader.scan({ path, table, sql: text, values, filtered: !isAlways(query.filter), long: isLongOffset(query.offset) }).then(toTexts);
      } catch (error) {
        return Promise.reject(error);
      }
    },
    count(filter) {
      try {
        const { text, values } = countToSql(table, filter);
        return reader.scan({ path, table, sql: text, values, filtered: true, long: false })
          .then((rows) => (rows[0] as [number] | undefined)?.[0] ?? 0);
      } catch (error) {
        return Promise.reject(error);
      }
    },
  };
}

function toRows(rows: unknown[]): Row[] {
  return (rows as [number, string, string | null][]).map(([revision, text, hidden]) => new StoredRow(undefined, revision, text, hidden));
}

function toTexts(rows: unknown[]): RowTexts {
  const [count, bytes] = (rows[0] as [number, Uint8Array | null] | undefined) ?? [0, null];
  return { count, bytes: bytes ?? noBytes };
}
