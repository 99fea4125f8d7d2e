// View: one record for whoever may see it.
import type { RecordAnswer, RecordDeps, Target } from "./operation.js";
import { presentRow, toldToHooks } from "./present.js";

/** Throws Unauthorized, Forbidden, NotFound, HookRejected, HookFailed. */
export async function viewRecord(deps: RecordDeps, target: Target, recordId: string): Promise<RecordAnswer> {
  const { access, hooks, files } = deps;
  const { call, context, collection } = target;
  access.demandPossible(call, collection, "viewRule");
  const row = access.demandView(call, collection, await context.store.table(collection.table).find(recordId));
  await hooks.before(context, call, "beforeView", { collection: collection.name, recordId: row.id, body: null, record: toldToHooks(files, call, collection, row.record) });
  return presentRow(files, call, collection, row);
}
