// Update: the recipe from a partial body to a changed record.
import { timestamp } from "../core/clock.js";
import { NotFound, PreconditionFailed, ValidationFailed } from "../core/errors.js";
import type { Json, JsonObject, RecordValue } from "../core/record.js";
import { changedFields } from "../schema/changed-fields.js";
import { checkJson } from "../schema/json-guard.js";
import { validateRecord } from "../schema/validate.js";
import type { Row } from "../storage/storage.js";
import type { Incoming } from "./access.js";
import type { Built, Prepared, Step } from "./commit.js";
import { replaced, withoutSecrets } from "./create.js";
import { matchesEtag } from "./if-match.js";
import type { RecordAnswer, RecordDeps, Target, WriteInput } from "./operation.js";
import { etagOf, presentRow, toldToHooks } from "./present.js";
import { relationSteps } from "./relations.js";

export interface UpdateInput extends WriteInput {
  readonly recordId: string;
  readonly ifMatch?: string | undefined;
}

/** Runs everything up to the write itself. Throws the contract's errors; nothing is written yet. */
export async function prepareUpdate(deps: RecordDeps, target: Target, input: UpdateInput): Promise<Prepared<RecordAnswer>> {
  const { access, hooks, files, mergeFiles, users, clock } = deps;
  const { call, context, collection } = target;
  const pending = input.files ?? [];
  const table = context.store.table(collection.table);
  checkJson(input.body);
  access.demandPossible(call, collection, "updateRule");
  const { body: clientBody, secrets } = collection.isUsers ? users.split(input.body) : { body: input.body, secrets: {} };

  if (collection.isUsers) {
    const row = await table.find(input.recordId);
    const visible = row !== undefined && access.canView(call, collection, row.record) ? row : undefined;
    users.demandOwner(call, input.recordId, visible, clientBody, secrets);
  }

  const first = await firstLook();
  if (collection.isUsers) await users.authorize(context, call, first, clientBody, secrets);

  const subject = { collection: collection.name, recordId: first.id, body: clientBody, record: toldToHooks(files, call, collection, first.record) };
  const outcome = await hooks.before(context, call, "beforeUpdate", subject);
  const body = replaced(outcome.body, clientBody) ? withoutSecrets(deps, target, outcome.body) : clientBody;
  // A body of a hook's is taken like the client's: another address in it needs the same proof.
  if (collection.isUsers && body !== clientBody) await users.authorize(context, call, first, body, secrets);

  const { values, errors } = checked(body);
  const faults = [...errors, ...(collection.isUsers ? users.check(secrets, "update") : [])];
  if (faults.length > 0) throw new ValidationFailed([...faults, ...mergeFiles({ collection, existing: first.record, body, pending }).errors]);

  return { build };

  /**
   * Whoever may not change this record, whatever a hook makes of the body, learns so before any hook is asked. Of a
   * record that the caller may not even view neither hooks nor validation tell anything: there his own body decides.
   */
  async function firstLook(): Promise<Row> {
    const row = access.demandChange(call, collection, "updateRule", await table.find(input.recordId), "early");
    const rule = collection.rules.updateRule;
    if ((rule?.readsBody === true || rule?.readsChanged === true) && !access.canView(call, collection, row.record)) {
      access.demandChange(call, collection, "updateRule", row, incomingOf(row, clientBody, checked(clientBody).values));
    }
    if (!matchesEtag(input.ifMatch, etagOf(row))) throw new PreconditionFailed();
    return row;
  }

  function checked(from: JsonObject) {
    return validateRecord({ fields: collection.definition.fields, isUsers: collection.isUsers, body: from, mode: "update" });
  }

  /** What of this update a rule may look at: the values as they would be stored, and which of them are other ones. */
  function incomingOf(row: Row, from: JsonObject, read: Readonly<Record<string, Json>>): Incoming {
    return { body: { ...from, ...read }, changed: changedFields(collection.definition.fields, { record: row.record, body: from, values: read, withFiles: pending.map((file) => file.field) }) };
  }

  async function build(): Promise<Built<RecordAnswer>> {
    const found = await table.find(input.recordId);
    const incoming = found === undefined ? undefined : incomingOf(found, body, values);
    const row = access.demandChange(call, collection, "updateRule", found, incoming);
    if (!matchesEtag(input.ifMatch, etagOf(row))) throw new PreconditionFailed();
    const merged = mergeFiles({ collection, existing: row.record, body, pending });
    if (merged.errors.length > 0) throw new ValidationFailed(merged.errors);
    const columns = collection.isUsers ? await users.updateColumns(row, values, secrets, input.system) : undefined;
    const set: Record<string, Json> = { ...values, ...merged.set, ...columns?.set };
    const touched = Object.keys(set).length > 0 || Object.keys(columns?.setHidden ?? {}).length > 0;
    if (!touched) return { steps: [], finish: () => presentRow(files, call, collection, row) };

    set["updatedAt"] = timestamp(clock);
    const done = { collection: collection.name, recordId: row.id, body, record: toldToHooks(files, call, collection, { ...row.record, ...set } as RecordValue) };
    const after = hooks.after(context, call, "afterUpdate", done);
    // What was decided on this very revision must still be it; otherwise the rule as the condition is enough, and
    // changes of other fields by others stay.
    const pinned = after.length > 0 || input.ifMatch !== undefined || collection.isUsers || collection.files.some((field) => field.name in set) || collection.rules.updateRule?.readsChanged === true;
    const steps: Step[] = [
      {
        operation: {
          type: "update", table: collection.table, id: row.id, set,
          where: access.filter(call, collection, "updateRule", incoming),
          ...(pinned ? { revision: row.revision } : {}),
          ...(columns === undefined ? {} : { setHidden: columns.setHidden, increment: columns.increment, hiddenIs: columns.hiddenIs }),
          log: { collection: collection.name, content: collection.isUsers ? "id" : "record" },
        },
      },
      ...relationSteps(target, values),
      ...[...after, ...files.variantJobs(context, collection, row.id, pending)].map((operation) => ({ operation })),
    ];
    return {
      steps,
      finish(rows) {
        const written = rows[0];
        if (written === undefined) throw new NotFound();
        hooks.committed(context, call, "afterUpdate", done);
        if (pending.length > 0 || merged.removed.length > 0) files.committed(context, collection, row.id, merged.removed);
        return presentRow(files, call, collection, written);
      },
    };
  }
}
