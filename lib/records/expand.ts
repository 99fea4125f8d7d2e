// Expand: related records, one level deep, only where their viewRule lets the caller see them.
import { BadRequest } from "../core/errors.js";
import type { JsonObject, RecordValue } from "../core/record.js";
import type { Collection } from "../collections/collection.js";
import type { RelationField } from "../schema/collection.js";
import { all, isNever, isOneOf, text } from "../storage/filter.js";
import type { TenantContext } from "../tenants/context.js";
import type { RecordDeps, Target } from "./operation.js";
import { presentRow } from "./present.js";

/** The relation fields of `expand=a,b`. */
export function readExpand(_context: TenantContext, collection: Collection, expand: string | undefined): readonly RelationField[] {
  if (expand === undefined) return [];
  return expand.split(",").map((name) => name.trim()).filter((name) => name !== "").map((name) => {
    const field = collection.relations.find((relation) => relation.name === name);
    if (field === undefined) throw new BadRequest(`expand: ${JSON.stringify(name.slice(0, 60))} is no RELATION field of ${collection.name}`);
    return field;
  });
}

/** By record: the related records by field. One query for each field. */
export async function expandRecords(deps: RecordDeps, { call, context }: Target, records: readonly RecordValue[], fields: readonly RelationField[]): Promise<readonly (JsonObject | undefined)[]> {
  if (fields.length === 0) return [];
  const found = await Promise.all(fields.map(async (field) => {
    const related = context.collections.get(field.collection);
    const ids = [...new Set(records.map((record) => record[field.name]).filter((id) => typeof id === "string"))];
    if (related === undefined || ids.length === 0) return new Map<string, RecordValue>();
    const visible = deps.access.filter(call, related, "viewRule");
    if (isNever(visible)) return new Map<string, RecordValue>();
    const rows = await context.store.table(related.table).list({ filter: all(isOneOf(text("id"), ids), visible), limit: ids.length });
    return new Map(rows.map((row) => [row.id, presentRow(deps.files, call, related, row).value]));
  }));
  return records.map((record) => {
    const expanded: Record<string, RecordValue> = {};
    for (const [index, field] of fields.entries()) {
      const related = found[index]!.get(String(record[field.name]));
      if (related !== undefined) expanded[field.name] = related;
    }
    return expanded;
  });
}
