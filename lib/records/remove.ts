// Remove: the recipe of a deletion and of what goes with it.
import { NotFound, PreconditionFailed } from "../core/errors.js";
import { fileReferences } from "../core/record.js";
import type { Row } from "../storage/storage.js";
import type { Prepared, Step } from "./commit.js";
import { matchesEtag } from "./if-match.js";
import type { RecordDeps, Target } from "./operation.js";
import { etagOf, toldToHooks } from "./present.js";
import { cascadeSteps } from "./relations.js";

export interface RemoveInput {
  readonly recordId: string;
  readonly ifMatch?: string | undefined;
  /** The admin editor of `users`, which is no collection route: no beforeRequest hook runs. */
  readonly byEditor?: boolean | undefined;
}

/** Runs everything up to the write itself. Throws the contract's errors; nothing is written yet. */
export async function prepareRemove(deps: RecordDeps, target: Target, input: RemoveInput): Promise<Prepared<null>> {
  const { access, hooks, files, users } = deps;
  const { call, context, collection } = target;
  const table = context.store.table(collection.table);
  access.demandPossible(call, collection, "deleteRule");
  const first = await demand();
  await hooks.before(context, call, "beforeDelete", { collection: collection.name, recordId: first.id, body: null, record: toldToHooks(files, call, collection, first.record) });

  return {
    async build() {
      const row = await demand();
      const done = { collection: collection.name, recordId: row.id, body: null, record: toldToHooks(files, call, collection, row.record) };
      const cascade = await cascadeSteps(deps, target, row);
      const after = hooks.after(context, call, "afterDelete", done);
      const steps: Step[] = [
        {
          operation: {
            type: "remove", table: collection.table, id: row.id,
            where: access.filter(call, collection, "deleteRule"),
            ...(after.length > 0 || input.ifMatch !== undefined ? { revision: row.revision } : {}),
            log: { collection: collection.name, content: collection.isUsers ? "id" : "record" },
          },
        },
        ...cascade.steps,
        ...(collection.isUsers ? await users.removeOperations(context, row.id) : []).map((operation) => ({ operation })),
        ...after.map((operation) => ({ operation })),
        ...cascade.checks,
      ];
      return {
        steps,
        finish(rows) {
          const removed = rows[0];
          if (removed === undefined) throw new NotFound();
          hooks.committed(context, call, "afterDelete", done);
          cascade.committed();
          const references = collection.files.flatMap((field) => fileReferences(removed.record[field.name]));
          if (references.length > 0) files.committed(context, collection, row.id, references);
          return null;
        },
      };
    },
  };

  async function demand(): Promise<Row> {
    const row = access.demandChange(call, collection, "deleteRule", await table.find(input.recordId));
    if (!matchesEtag(input.ifMatch, etagOf(row))) throw new PreconditionFailed();
    return row;
  }
}
