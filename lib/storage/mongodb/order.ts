// The order of lists, and the rows after a position of it. MongoDB puts null and absent members first, as the
// contract does.
import type { Query, Sort } from "../storage.js";
import { scalarToQuery } from "./documents.js";
import type { RowQuery } from "./filter-to-query.js";
import { fieldPath } from "./names.js";

export function sortKeys(sort: Sort | undefined): Record<string, 1 | -1> {
  const direction = sort?.descending === true ? -1 : 1;
  return sort === undefined || sort.field === "id" ? { _id: direction } : { [fieldPath(sort.field)]: direction, _id: direction };
}

export function afterToQuery(sort: Sort | undefined, { value, id }: NonNullable<Query["after"]>): RowQuery {
  const beyond = sort?.descending === true ? "$lt" : "$gt";
  if (sort === undefined || sort.field === "id") return { _id: { [beyond]: id } } as RowQuery;
  const path = fieldPath(sort.field);
  const at = scalarToQuery(value);
  const tied = { $and: [{ [path]: { $eq: at } }, { _id: { [beyond]: id } }] };
  if (value === null) return (sort.descending ? tied : { $or: [{ [path]: { $ne: null } }, tied] }) as RowQuery;
  // Nulls come last where the order descends.
  const further = [{ [path]: { [beyond]: at } }, ...(sort.descending ? [{ [path]: { $eq: null } }] : [])];
  return { $or: [...further, tied] } as RowQuery;
}
