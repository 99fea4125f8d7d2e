// List: a page of the records that the caller may see.
import { timestamp } from "../core/clock.js";
import { BadRequest } from "../core/errors.js";
import type { JsonObject, RecordValue, Scalar } from "../core/record.js";
import { compileRule } from "../rules/compile.js";
import { RuleError } from "../rules/rule-error.js";
import { callerUser } from "../core/call.js";
import { all, always, type Filter } from "../storage/filter.js";
import type { Query } from "../storage/storage.js";
import { decodeCursor, encodeCursor, queryKey } from "./cursor.js";
import { expandRecords, readExpand } from "./expand.js";
import { listParameterNames, readCount, readFields, readFilter, readLimit, readOffset, readSort, type ListParameters } from "./list-query.js";
import type { RecordDeps, Target } from "./operation.js";
import { readRows, readTexts, type Page } from "./page.js";
import { presentRow } from "./present.js";

export interface ListAnswer {
  /** The envelope of contract 5 as JSON text, or its bytes in UTF-8. */
  readonly text: string | Buffer;
  readonly value: ListValue;
}

export interface ListValue {
  readonly items: readonly RecordValue[];
  readonly offset: number;
  readonly limit: number;
  readonly hasMore: boolean;
  /** Opaque; null at the end. */
  readonly nextCursor: string | null;
  /** Only with `count`. */
  readonly total?: number;
}

/** Throws BadRequest for every parameter that is not as the interface says. */
export async function listRecords(deps: RecordDeps, target: Target, parameters: ListParameters): Promise<ListAnswer> {
  const { access, hooks, files } = deps;
  const { call, context, collection } = target;
  // First, so that whoever is denied anyway cannot ask by bad parameters which fields there are.
  access.demandPossible(call, collection, "listRule");
  for (const name of Object.keys(parameters)) {
    if (!listParameterNames.has(name)) throw new BadRequest(`${JSON.stringify(name)} is no parameter of a list; known are ${[...listParameterNames].join(", ")}`);
  }
  const limit = readLimit(parameters.limit);
  const offset = readOffset(parameters.offset);
  const sort = readSort(collection, parameters.sort);
  const narrowed = all(readFilter(collection, parameters.filter) ?? always, readWhere(deps, target, parameters.where));
  const fields = readFields(collection, parameters.fields);
  const expand = readExpand(context, collection, parameters.expand);
  const counted = readCount(parameters.count);
  const key = queryKey([collection.definition.id, parameters.sort, parameters.filter, parameters.where]);
  const after = parameters.cursor === undefined || parameters.cursor === "" ? undefined : decodeCursor(key, parameters.cursor);
  if (after !== undefined && offset > 0) throw new BadRequest("cursor and offset exclude each other");

  await hooks.before(context, call, "beforeList", { collection: collection.name, recordId: null, body: null, record: null });

  const filter = all(access.filter(call, collection, "listRule"), narrowed);
  const table = context.store.table(collection.table);
  const query: Query = { filter, sort, offset, limit, after };
  const counting = counted ? table.count(filter) : undefined;
  const rest = (page: Page, total: number | undefined) => {
    const last = page.hasMore ? page.last() : undefined;
    const nextCursor = last === undefined ? null : encodeCursor(key, { value: sort === undefined ? null : ((last[sort.field] ?? null) as Scalar), id: last.id });
    return { offset, limit, hasMore: page.hasMore, nextCursor, ...(total === undefined ? {} : { total }) };
  };

  const texts = fields === undefined && expand.length === 0 ? readTexts(table, collection, query) : undefined;
  if (texts !== undefined) {
    const [page, total] = await Promise.all([texts, counting]);
    const text = envelope(page.bytes, `],${JSON.stringify(rest(page, total)).slice(1)}`);
    return { text, get value() { return JSON.parse(text.toString()) as ListValue; } };
  }
  const [page, total] = await Promise.all([readRows(table, query), counting]);
  const values = page.rows.map((row) => presentRow(files, call, collection, row).value);
  const related = await expandRecords(deps, target, values, expand);
  const value: ListValue = { items: values.map((record, index) => pick(record, fields, related[index])), ...rest(page, total) };
  return { text: JSON.stringify(value), value };
}

const opening = `{"items":[`;

/** @param end plain ASCII */
function envelope(items: Buffer, end: string): Buffer {
  const bytes = Buffer.allocUnsafe(opening.length + items.length + end.length);
  bytes.write(opening, 0, "latin1");
  bytes.set(items, opening.length);
  bytes.write(end, opening.length + items.length, "latin1");
  return bytes;
}

function pick(record: RecordValue, fields: readonly string[] | undefined, expand: JsonObject | undefined): RecordValue {
  const picked = fields === undefined ? record : Object.fromEntries([["id", record.id], ...fields.map((name) => [name, record[name] ?? null] as const)]);
  return (expand === undefined ? picked : { ...picked, expand }) as RecordValue;
}

/** `where` in the rule grammar, with the caller filled in. */
function readWhere({ clock }: RecordDeps, { call, context, collection }: Target, where: string | undefined): Filter {
  if (where === undefined || where.trim() === "") return always;
  try {
    const rule = compileRule(where, {
      fields: collection.definition.fields, isUsers: collection.isUsers, usage: "where",
      userFields: context.collections.get("users")?.definition.fields ?? [],
    });
    return rule.bind({ auth: callerUser(call.caller), now: timestamp(clock), method: "GET" });
  } catch (error) {
    if (error instanceof RuleError) throw new BadRequest(`where: ${error.message}`);
    throw error;
  }
}
