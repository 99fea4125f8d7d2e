// Create: the recipe from a body to a stored record.
import { timestamp } from "../core/clock.js";
import { NotFound, ValidationFailed } from "../core/errors.js";
import { newId } from "../core/ids.js";
import type { Json, JsonObject, RecordValue } from "../core/record.js";
import { isAlways, isNever } from "../storage/filter.js";
import { matches } from "../storage/matches.js";
import type { Hidden } from "../storage/storage.js";
import { checkJson } from "../schema/json-guard.js";
import { validateRecord } from "../schema/validate.js";
import type { Prepared, Step } from "./commit.js";
import type { RecordAnswer, RecordDeps, Target, WriteInput } from "./operation.js";
import { presentRow, toldToHooks } from "./present.js";
import { relationSteps } from "./relations.js";

/** Runs everything up to the write itself. Throws the contract's errors; nothing is written yet. */
export async function prepareCreate(deps: RecordDeps, target: Target, input: WriteInput): Promise<Prepared<RecordAnswer>> {
  const { access, hooks, files, mergeFiles, users, clock } = deps;
  const { call, context, collection } = target;
  const pending = input.files ?? [];
  checkJson(input.body);
  access.demandPossible(call, collection, "createRule");
  const id = input.id ?? newId(clock.now());

  const { body: clientBody, secrets } = collection.isUsers ? users.split(input.body) : { body: input.body, secrets: {} };
  const subject = { collection: collection.name, recordId: id, body: { ...clientBody, id }, record: null };
  const outcome = await hooks.before(context, call, "beforeCreate", subject);
  const body = replaced(outcome.body, subject.body) ? withoutSecrets(deps, target, outcome.body) : clientBody;

  const { values, errors } = validateRecord({ fields: collection.definition.fields, isUsers: collection.isUsers, body, mode: "create" });
  const merged = mergeFiles({ collection, existing: null, body, pending });
  const passwordErrors = collection.isUsers && input.system?.hasHash !== true ? users.check(secrets, "create") : [];
  const faults = [...errors, ...merged.errors, ...passwordErrors];
  if (faults.length > 0) throw new ValidationFailed(faults);

  const now = timestamp(clock);
  const fields: Record<string, Json> = { ...values, ...merged.set };
  const system: Record<string, Json> = collection.isUsers ? { role: "user", emailVerified: false } : {};
  const draft = ordered(target, { id, createdAt: now, updatedAt: now }, { ...fields, ...system });
  const bound = access.filter(call, collection, "createRule", { body, changed: new Set() });
  if (isNever(bound) || (!isAlways(bound) && !matches(bound, draft))) throw access.denied(call);

  // Hashed only now: a refused request never costs a hash.
  const columns = collection.isUsers ? await users.createColumns(secrets, input.system) : undefined;
  const record = columns === undefined ? draft : ordered(target, draft, { ...draft, ...columns.record });
  const hidden: Hidden | undefined = columns?.hidden;
  const done = { collection: collection.name, recordId: id, body: { ...body, id }, record: toldToHooks(files, call, collection, record) };

  return {
    async build() {
      const steps: Step[] = [
        { operation: { type: "insert", table: collection.table, record, hidden, log: { collection: collection.name, content: collection.isUsers ? "id" : "record" } } },
        ...relationSteps(target, record),
        ...[...hooks.after(context, call, "afterCreate", done), ...files.variantJobs(context, collection, id, pending)].map((operation) => ({ operation })),
      ];
      return {
        steps,
        finish(rows) {
          const row = rows[0];
          if (row === undefined) throw new NotFound();
          hooks.committed(context, call, "afterCreate", done);
          if (pending.length > 0) files.committed(context, collection, id, []);
          return presentRow(files, call, collection, row);
        },
      };
    },
  };
}

/** Whether a hook has answered with a body of its own. */
export function replaced(after: JsonObject | null, before: JsonObject | null): after is JsonObject {
  return after !== null && after !== before;
}

/** A hook's body may set no secret and nothing that is system-managed; the client's own secrets are kept apart anyway. */
export function withoutSecrets({ users }: RecordDeps, { collection }: Target, body: JsonObject): JsonObject {
  return collection.isUsers ? users.split(body).body : body;
}

/** System fields first, then the fields in the schema's order, so that every record of a collection reads the same. */
export function ordered({ collection }: Target, system: { id: string; createdAt: string; updatedAt: string }, values: Readonly<Record<string, Json>>): RecordValue {
  const record: Record<string, Json> = { id: system.id, createdAt: system.createdAt, updatedAt: system.updatedAt };
  for (const name of collection.fields.keys()) record[name] = values[name] ?? null;
  return record as RecordValue;
}
