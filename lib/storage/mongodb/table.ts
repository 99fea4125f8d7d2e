// A table's reads.
import type { FindOptions } from "mongodb";
import type { Connection } from "./connection.js";
import { longestRead } from "./connection.js";
import type { Collections } from "./collections.js";
import { rowProjection, toRow, type FetchedRow } from "./documents.js";
import { codeOf } from "./errors.js";
import { SortTooLarge } from "../../core/errors.js";
import { createLoader } from "./loader.js";
import { filterToQuery, type RowQuery } from "./filter-to-query.js";
import { matcher } from "../matches.js";
import { afterToQuery, sortKeys } from "./order.js";
import { joinTexts, textProjection } from "./raw-text.js";
import { textSeparator, type Query, type Row, type RowTexts, type Table } from "../storage.js";

const sortTooLarge = 292;
/** Ids in one find. FerretDB 1 scans the whole table for more than one. */
const mostIds = 200;

export function createTable(connection: Connection, collections: () => Collections, name: string): Table {
  const options = { projection: rowProjection } as const;

  /** What a list finds in the database; `exact` where that is the list itself. undefined where it is empty. */
  function prepare({ filter, sort, offset = 0, limit, after }: Query): { where: RowQuery; exact: boolean; options: FindOptions } | undefined {
    const { query, exact } = filterToQuery(filter);
    if (query === "nothing" || limit <= 0) return undefined;
    const parts = [query, ...(after === undefined ? [] : [afterToQuery(sort, after)])].filter((part) => Object.keys(part).length > 0);
    const where: RowQuery = parts.length === 0 ? {} : parts.length === 1 ? parts[0]! : { $and: parts };
    const page = exact ? { ...(offset > 0 ? { skip: Math.min(offset, Number.MAX_SAFE_INTEGER) } : {}), limit, batchSize: Math.min(limit + 1, 1001) } : { batchSize: 200 };
    return { where, exact, options: { sort: sortKeys(sort), maxTimeMS: longestRead, ...page } };
  }

  async function list(query: Query): Promise<Row[]> {
    const prepared = prepare(query);
    if (prepared === undefined) return [];
    const cursor = collections().rows(name).find<FetchedRow>(prepared.where, { ...prepared.options, ...options });
    if (prepared.exact) return (await cursor.toArray()).map(toRow);
    const { filter, offset = 0, limit } = query;
    const matches = matcher(filter);
    const rows: Row[] = [];
    let skipped = 0;
    try {
      for await (const document of cursor) {
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

  async function listText(query: Query): Promise<RowTexts> {
    const prepared = prepare(query);
    if (prepared?.exact === false) return joinRows(await list(query));
    if (prepared === undefined) return joinTexts([]);
    const cursor = collections().rows(name).find<Uint8Array>(prepared.where, { ...prepared.options, projection: textProjection, raw: true });
    return joinTexts(await cursor.toArray());
  }

  const findById = createLoader({
    idsAtOnce: () => (connection.fences() ? mostIds : 1),
    read: (ids) => connection.call(async () => {
      const rows = collections().rows(name);
      if (ids.length > 1) return await rows.find<FetchedRow>({ _id: { $in: [...ids] } }, { ...options, batchSize: ids.length + 1 }).toArray();
      const found = await rows.findOne<FetchedRow>({ _id: ids[0]! }, options);
      return found === null ? [] : [found];
    }),
  });

  return {
    // No id holds U+0000, and not every server takes it.
    find: async (id) => (id.includes("\u0000") ? undefined : await findById(id)),
    list: (query) => connection.call(() => sorted(query, list)),
    listText: (query) => connection.call(() => sorted(query, listText)),
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

async function sorted<Result>(query: Query, run: (query: Query) => Promise<Result>): Promise<Result> {
  try {
    return await run(query);
  } catch (error) {
    throw codeOf(error) === sortTooLarge && query.sort !== undefined ? new SortTooLarge(query.sort.field, error) : error;
  }
}

function joinRows(rows: readonly Row[]): RowTexts {
  return { bytes: Buffer.from(rows.map(({ text }) => text).join(textSeparator)), count: rows.length };
}
