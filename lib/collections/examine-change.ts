// Looks at the stored records before a schema change: whether each of them satisfies the new definition.
import { ValidationFailed, type FieldError } from "../core/errors.js";
import { fileReferences, type FileReference, type Json } from "../core/record.js";
import type { CollectionDefinition } from "../schema/collection.js";
import { planChange, type ChangePlan } from "../schema/change.js";
import { always } from "../storage/filter.js";
import type { Define, Row } from "../storage/storage.js";
import type { TenantContext } from "../tenants/context.js";
import type { Collection } from "./collection.js";

export interface ExaminedChange {
  /** null where the table stays as it is. */
  readonly define: Define | null;
  /** Whether the verdict rests on the records: then none may have changed until it is written. */
  readonly readsRecords: boolean;
  readonly filesLeft: readonly { readonly recordId: string; readonly references: readonly FileReference[] }[];
}

const page = 500;
/** Faults told at once. */
const maxFaults = 20;

/** Throws ValidationFailed that names records and fields. */
export async function examineChange(context: TenantContext, before: Collection, after: CollectionDefinition): Promise<ExaminedChange> {
  const plan = planChange(before.definition, after);
  const readsRecords = plan.needsDefault.length > 0 || plan.scans.length > 0 || plan.relations.length > 0 || plan.defaultRelations.length > 0 || plan.removedFiles.length > 0;
  const filesLeft: { recordId: string; references: FileReference[] }[] = [];
  if (readsRecords) {
    const faults = await scan(context, before, plan, (row) => {
      const references = plan.removedFiles.flatMap((field) => fileReferences(row.record[field.name]));
      if (references.length > 0) filesLeft.push({ recordId: row.id, references });
    });
    if (faults.length > 0) throw new ValidationFailed(faults);
  }
  const define: Define | null = plan.changesTable ? { type: "define", table: before.table, indexes: plan.indexes, transform: plan.transform } : null;
  return { define, readsRecords, filesLeft };
}

async function scan(context: TenantContext, collection: Collection, plan: ChangePlan, each: (row: Row) => void): Promise<FieldError[]> {
  const faults: FieldError[] = [];
  const table = context.store.table(collection.table);
  let after: { value: null; id: string } | undefined;
  for (let isFirst = true; ; isFirst = false) {
    const rows = await table.list({ filter: always, limit: page, ...(after === undefined ? {} : { after }) });
    if (isFirst && rows.length > 0) {
      for (const name of plan.needsDefault) faults.push({ field: name, message: "is required and new: give it a default, there are records without it" });
      for (const { field, collection: target, id } of plan.defaultRelations) {
        if (!(await exists(context, target, id))) faults.push({ field, message: `its default names no record of ${target}` });
      }
    }
    for (const row of rows) {
      each(row);
      for (const one of plan.scans) {
        const message = one.check(row.record[one.field] ?? null);
        if (message !== null) faults.push({ field: one.field, message: `record ${row.id}: ${message}` });
      }
      for (const one of plan.relations) {
        const id: Json = row.record[one.field] ?? null;
        if (typeof id === "string" && !(await exists(context, one.collection, id))) faults.push({ field: one.field, message: `record ${row.id}: names no record of ${one.collection}` });
      }
      if (faults.length >= maxFaults) return faults;
    }
    const last = rows.at(-1);
    if (rows.length < page || last === undefined) return faults;
    after = { value: null, id: last.id };
  }
}

async function exists(context: TenantContext, collection: string, id: string): Promise<boolean> {
  const target = context.collections.get(collection);
  return target !== undefined && (await context.store.table(target.table).find(id)) !== undefined;
}
