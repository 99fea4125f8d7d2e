// A table's reads.
import type { Connection } from "./connection.js";
import { longestRead } from "./connection.js";
import type { Collections } from "./collections.js";
import { rowProjection, toRow, type FetchedRow } from "./documents.js";
import { codeOf } from "./errors.js";
import { SortTooLarge } from "../../core/errors.js";
import { filterToQuery, type RowQuery } from "./filter-to-query.js";
import { matcher } from "../matches.js";
import { afterToQuery, sortKeys } from "./order.js";
import type { Query, Row, Table } from "../storage.js";

const sortTooLarge = 292;

export function createTable(connection: Connection, collections: () => Collections, name: string): Table {
  const options = { projection: rowProjection } as const;

  async function list({ filter, sort, offset = 0, limit, after }: Query): Promise<Row[]> {
    const { query, exact } = filterToQuery(filter);
    if (query === "nothing" || limit <= 0) return [];
    const parts = [query, ...(after === undefined ? [] : [afterToQuery(sort, after)])].filter((part) => Object.keys(part).length > 0);
    const where: RowQuery = parts.length === 0 ? {} : parts.length === 1 ? parts[0]! : { $and: parts };
    const cursor = collections().rows(name).find<FetchedRow>(where, { ...options, maxTimeMS: longestRead }).sort(sortKeys(sort));
    if (exact) {
      if (offset > 0) cursor.skip(offset);
      const found = await cursor.limit(limit).batchSize(Math.min(limit + 1, 1001)).toArray();
      return found.map(toRow);
    }
    const matches = matcher(filter);
    const rows: Row[] = [];
    let skipped = 0;
    try {
      for await (const document of cursor.batchSize(200)) {
        const row = toRow(document);
        if (!matches(row.record)) continue;
        if (skipped < offset) skipped += 1;
        else if (rows.push(row) >= limit) break;
      }
    } finally {
      await cursor.close();
    }
    return rows;
  }

  return {
    find: (id) => connection.call(async () => {
      // No id holds U+0000, and not every server takes it.
      if (id.includes("\u0000")) return undefined;
      const found = await collections().rows(name).findOne<FetchedRow>({ _id: id }, options);
      return found === null ? undefined : toRow(found);
    }),
    list: (query) => connection.call(async () => {
      try {
        return await list(query);
      } catch (error) {
        throw codeOf(error) === sortTooLarge && query.sort !== undefined ? new SortTooLarge(query.sort.field, error) : error;
      }
    }),
    count: (filter) => connection.call(async () => {
      const { query, exact } = filterToQuery(filter);
      if (query === "nothing") return 0;
      const rows = collections().rows(name);
      if (exact) return await rows.countDocuments(query, { maxTimeMS: longestRead });
      const matches = matcher(filter);
      let count = 0;
      for await (const document of rows.find<FetchedRow>(query, { ...options, maxTimeMS: longestRead })) if (matches(toRow(document).record)) count += 1;
      return count;
    }),
  };
}
