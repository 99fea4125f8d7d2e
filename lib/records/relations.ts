// Relations: a value must name an existing record, and what happens to those who point at a record that is removed.
import { timestamp } from "../core/clock.js";
import { Conflict, ValidationFailed } from "../core/errors.js";
import { fileReferences, type FileReference, type JsonObject } from "../core/record.js";
import type { Collection } from "../collections/collection.js";
import { is, text, type Filter } from "../storage/filter.js";
import type { Row } from "../storage/storage.js";
import type { Step } from "./commit.js";
import type { RecordDeps, Target } from "./operation.js";
import { toldToHooks } from "./present.js";

/** Records that one removal may take with it. */
const cascadeLimit = 10_000;

/** The steps that demand the targets of the relations among these values. */
export function relationSteps({ context, collection }: Target, values: JsonObject): Step[] {
  const steps: Step[] = [];
  for (const field of collection.relations) {
    const id = values[field.name];
    const related = context.collections.get(field.collection);
    if (typeof id !== "string") continue;
    const missing = new ValidationFailed([{ field: field.name, message: `names no record of ${field.collection}` }]);
    if (related === undefined) throw missing;
    steps.push({ operation: { type: "exists", table: related.table, id }, onMiss: missing });
  }
  return steps;
}

/** What a removal does to others. */
export interface Cascade {
  /** What happens to those who pointed here. */
  readonly steps: Step[];
  /** Stand at the end of the unit: nobody points here any more. */
  readonly checks: Step[];
  /** To be called once the unit is durable. */
  committed(): void;
}

/**
 * Follows the relations that point at this row: `cascade` removes, `setNull` empties, `restrict` refuses (409) where what
 * points there does not go as well.
 */
export async function cascadeSteps(deps: RecordDeps, target: Target, row: Row): Promise<Cascade> {
  const steps: Step[] = [];
  const checks: Step[] = [];
  const followers: (() => void)[] = [];
  const gone = new Set([key(target.collection, row.id)]);
  const restricted: { collection: Collection; field: string; pointing: Filter }[] = [];
  await follow(target.collection, row);
  // Only now it is known what goes: in which order the relations were followed must not decide.
  for (const one of restricted) await demandNobody(one.collection, one.field, one.pointing);
  return { steps, checks, committed: () => followers.forEach((run) => run()) };

  async function follow(removed: Collection, parent: Row): Promise<void> {
    for (const collection of target.context.collections.values()) {
      for (const field of collection.relations) {
        if (field.collection !== removed.name) continue;
        const pointing = is(text(field.name), parent.id);
        // A required field cannot be emptied: it restricts.
        if (field.onDelete === "restrict" || (field.onDelete === "setNull" && field.required)) restricted.push({ collection, field: field.name, pointing });
        else {
          const rows = await target.context.store.table(collection.table).list({ filter: pointing, limit: cascadeLimit + 1 });
          if (rows.length > cascadeLimit || steps.length > cascadeLimit) throw new Conflict(`More than ${cascadeLimit} records of ${collection.name} refer to this record: remove them first`);
          for (const one of rows) {
            if (gone.has(key(collection, one.id))) continue;
            if (field.onDelete === "setNull") {
              empty(collection, one, field.name);
              continue;
            }
            gone.add(key(collection, one.id));
            await follow(collection, one);
            await remove(collection, one, pointing);
          }
        }
        // Looked at again in the unit itself: a record that came to point here meanwhile makes the write start anew.
        checks.push({ operation: { type: "absent", table: collection.table, filter: pointing } });
      }
    }
  }

  async function demandNobody(collection: Collection, field: string, pointing: Filter): Promise<void> {
    const rows = await target.context.store.table(collection.table).list({ filter: pointing, limit: gone.size + 1 });
    if (rows.every((one) => gone.has(key(collection, one.id)))) return;
    throw new Conflict(`A record of ${collection.name} still refers to this record in ${field}`);
  }

  async function remove(collection: Collection, row: Row, where: Filter): Promise<void> {
    const { hooks, files, users } = deps;
    const { call, context } = target;
    const subject = { collection: collection.name, recordId: row.id, body: null, record: toldToHooks(files, call, collection, row.record) };
    steps.push({ operation: { type: "remove", table: collection.table, id: row.id, where, log: { collection: collection.name, content: collection.isUsers ? "id" : "record" } } });
    for (const operation of hooks.after(context, call, "afterDelete", subject)) steps.push({ operation });
    if (collection.isUsers) for (const operation of await users.removeOperations(context, row.id)) steps.push({ operation });
    const references: FileReference[] = collection.files.flatMap((field) => fileReferences(row.record[field.name]));
    followers.push(() => {
      hooks.committed(context, call, "afterDelete", subject);
      if (references.length > 0) files.committed(context, collection, row.id, references);
    });
  }

  function empty(collection: Collection, row: Row, field: string): void {
    const { hooks, files, clock } = deps;
    const { call, context } = target;
    const set = { [field]: null, updatedAt: timestamp(clock) };
    const subject = { collection: collection.name, recordId: row.id, body: { [field]: null }, record: toldToHooks(files, call, collection, { ...row.record, ...set }) };
    steps.push({ operation: { type: "update", table: collection.table, id: row.id, set, where: is(text(field), String(row.record[field])), log: { collection: collection.name, content: collection.isUsers ? "id" : "record" } } });
    for (const operation of hooks.after(context, call, "afterUpdate", subject)) steps.push({ operation });
    followers.push(() => hooks.committed(context, call, "afterUpdate", subject));
  }
}

function key(collection: Collection, id: string): string {
  return `${collection.table}/${id}`;
}
