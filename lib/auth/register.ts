// Register: the recipe from a guest's body to an account. The create rule of `users` is not asked, and only the
// register hooks fire.
import type { Call } from "../core/call.js";
import { timestamp } from "../core/clock.js";
import { Forbidden, ValidationFailed, type FieldError } from "../core/errors.js";
import { newId } from "../core/ids.js";
import type { Json, JsonObject, RecordValue } from "../core/record.js";
import type { Collection } from "../collections/collection.js";
import { checkJson } from "../schema/json-guard.js";
import { validateRecord } from "../schema/validate.js";
import { is, text } from "../storage/filter.js";
import { ConditionMissed, StampChanged, UniqueViolation, type Exists, type Row } from "../storage/storage.js";
import type { TenantContext } from "../tenants/context.js";
import type { Registered, UserSecrets } from "./auth.js";
import type { AuthDeps } from "./deps.js";
import { callOf, withoutSecrets, type Origin } from "./origin.js";

/** Rounds before definitions that change all the time are given up on. */
const rounds = 100;
const taken: FieldError = { field: "username", message: "is taken by another user" };

/** `{ username, email?, password, …custom fields }`; gives the new account as GET by id does. */
export async function register(deps: AuthDeps, known: TenantContext | undefined, origin: Origin, input: JsonObject): Promise<Registered> {
  const { hooks, users } = deps;
  checkJson(input);
  const { secrets } = users.policy.split(input);

  const told = withoutSecrets(input, ["password"]);
  const subject = { collection: "users", recordId: null, body: told, record: null };
  // Global hooks come before a flat denial, as on collections.
  const requested = known === undefined ? undefined : await hooks.beforeRequest(known, callOf(known, origin), subject);
  const context = demandOpen(known);
  const call = callOf(context, origin);
  const outcome = await hooks.before(context, call, "beforeRegister", { ...subject, body: requested?.body ?? told });
  // A hook can set no secret: the client's own stay.
  const { tenant: _tenant, ...body } = users.policy.split(outcome.body ?? told).body;

  const id = newId(deps.clock.now());
  // A password is hashed once, whatever is tried anew.
  let columns: Promise<AccountColumns> | undefined;
  const hash = () => (columns ??= users.policy.createColumns(secrets));
  for (let round = 1; ; round += 1) {
    const current = round === 1 ? context : demandOpen(await deps.tenants.byId(context.tenant.id));
    try {
      return await write(deps, current, origin, { id, body, secrets, hash, told: withoutSecrets(outcome.body ?? told, ["password"]) });
    } catch (error) {
      if (!(error instanceof StampChanged) || round === rounds) throw error;
    }
  }
}

type AccountColumns = Awaited<ReturnType<AuthDeps["users"]["policy"]["createColumns"]>>;

interface Account {
  readonly id: string;
  readonly body: JsonObject;
  readonly secrets: UserSecrets;
  readonly hash: () => Promise<AccountColumns>;
  /** The payload as hooks see it. */
  readonly told: JsonObject;
}

async function write(deps: AuthDeps, context: TenantContext, origin: Origin, { id, body, secrets, hash, told }: Account): Promise<Registered> {
  const { hooks, users, clock } = deps;
  const call = callOf(context, origin);
  const collection = context.collections.get("users")!;
  const { values, errors } = validateRecord({ fields: [...collection.fields.values()], isUsers: true, body, mode: "create" });
  const files = deps.mergeFiles({ collection, existing: null, body, pending: [] });
  const faults = [...errors, ...files.errors, ...users.policy.check(secrets, "create")];
  if (faults.length > 0) throw new ValidationFailed(faults);
  const relations = relationsOf(context, collection, values);

  // The look at the name saves a hash; the unique index decides.
  const table = context.store.table(collection.table);
  if ((await table.count(is(text("username"), String(values["username"])))) > 0) throw new ValidationFailed([taken]);
  const columns = await hash();
  const now = timestamp(clock);
  const record = ordered(collection, { id, createdAt: now, updatedAt: now }, { ...values, ...files.set, ...columns.record });
  const done = { collection: "users", recordId: id, body: told, record };
  try {
    const { rows } = await context.store.write({
      stamp: context.stamp,
      operations: [
        { type: "insert", table: collection.table, record, hidden: columns.hidden, log: { collection: "users", content: "id" } },
        ...relations.map(({ operation }) => operation),
        ...hooks.after(context, call, "afterRegister", done),
      ],
    });
    hooks.committed(context, call, "afterRegister", done);
    return present(deps, call, collection, rows[0]!);
  } catch (error) {
    if (error instanceof UniqueViolation && error.operation === 0) {
      throw new ValidationFailed(error.fields.map((field) => (field === "username" ? taken : { field, message: "is taken by another record" })));
    }
    const relation = error instanceof ConditionMissed ? relations[error.operation - 1] : undefined;
    throw relation === undefined ? error : new ValidationFailed([relation.fault]);
  }
}

function present(deps: AuthDeps, call: Call, collection: Collection, { id, revision, record, text: stored }: Row): Registered {
  if (collection.passthrough) return { id, revision, record, text: stored };
  const presented = deps.present(call, collection, record);
  return { id, revision, record: presented, text: JSON.stringify(presented) };
}

function demandOpen(context: TenantContext | undefined): TenantContext {
  if (context === undefined || !context.settings.selfRegistration) throw new Forbidden("Registration is disabled");
  return context;
}

/** What must exist for the account's relations to hold. */
function relationsOf(context: TenantContext, collection: Collection, values: JsonObject): { readonly operation: Exists; readonly fault: FieldError }[] {
  return collection.relations.flatMap((field) => {
    const id = values[field.name];
    if (typeof id !== "string") return [];
    const fault = { field: field.name, message: `names no record of ${field.collection}` };
    const related = context.collections.get(field.collection);
    if (related === undefined) throw new ValidationFailed([fault]);
    return [{ operation: { type: "exists", table: related.table, id }, fault }];
  });
}

/** System fields first, then the fields in the schema's order. */
function ordered(collection: Collection, system: Pick<RecordValue, "id" | "createdAt" | "updatedAt">, values: Readonly<Record<string, Json>>): RecordValue {
  return { ...system, ...Object.fromEntries([...collection.fields.keys()].map((name) => [name, values[name] ?? null])) };
}
