// Explain: what the service would decide about an operation, and why; by the code that decides it, writing nothing.
import { bypassesHooks, bypassesRules, callerUser, type Call, type Caller } from "../core/call.js";
import { timestamp, type Clock } from "../core/clock.js";
import { NotFound, ServiceError, ValidationFailed, type FieldError } from "../core/errors.js";
import type { JsonObject, RecordValue } from "../core/record.js";
import type { UserPolicy, UserSecrets } from "../auth/auth.js";
import { usersTable, type Collection } from "../collections/collection.js";
import type { HookEvent } from "../hooks/definition.js";
import type { Access, Incoming } from "../records/access.js";
import { explainRule, type Explanation } from "../rules/explain.js";
import type { RuleContext } from "../rules/rule.js";
import type { RuleName } from "../schema/collection.js";
import { changedFields } from "../schema/changed-fields.js";
import { validateRecord } from "../schema/validate.js";
import { isNever, type Filter } from "../storage/filter.js";
import { matches } from "../storage/matches.js";
import type { Row } from "../storage/storage.js";
import type { TenantContext } from "../tenants/context.js";
import { readQuestion, type Operation, type Question } from "./question.js";

export interface Explained {
  readonly operation: Operation;
  /** Whether the operation passes credential, rules and validation. Of a list: whether it is answered; of one with a record: whether that record is in it. */
  readonly allowed: boolean;
  /** What a client would get where no hook changes or refuses anything. */
  readonly status: number;
  /** One sentence. */
  readonly reason: string;
  readonly rule: {
    readonly name: RuleName;
    /** null: No access. */
    readonly source: string | null;
    /** The caller is not asked by rules. */
    readonly bypassed: boolean;
    /** What each part of the rule says of the record; null where there is no record or no rule. */
    readonly parts: Explanation | null;
  };
  /** The rule as a filter on records, with the caller filled in: what a list runs in the store. */
  readonly query: Filter;
  /** Hooks that would be asked, in this order. */
  readonly hooks: readonly { readonly id: string; readonly event: HookEvent; readonly priority: number; readonly url: string; readonly failOpen: boolean; readonly blocking: boolean }[];
  /** The caller's hooks are not asked. */
  readonly hooksBypassed: boolean;
  /** What validation would say of the body. */
  readonly validation: readonly FieldError[];
  /** The record that was decided on; of a create as it would be stored. */
  readonly record: RecordValue | null;
}

/** Who asks, and why his credential is not taken, in a sentence; null where it is. */
export interface Asker {
  readonly caller: Caller;
  readonly refused: string | null;
}

export interface ExplainDeps {
  readonly access: Access;
  readonly clock: Clock;
  readonly users: Pick<UserPolicy, "split" | "check" | "demandOwner" | "authorize">;
  /** A stored key as a caller; undefined where there is none. */
  readonly keyCaller: (context: TenantContext, keyId: string) => Promise<Asker | undefined>;
  /** The outgoing shape of a record. */
  readonly present: (collection: Collection, record: RecordValue) => RecordValue;
}

const ruleOf: Readonly<Record<Operation, RuleName>> = { list: "listRule", view: "viewRule", create: "createRule", update: "updateRule", delete: "deleteRule" };
const methodOf: Readonly<Record<Operation, string>> = { list: "GET", view: "GET", create: "POST", update: "PATCH", delete: "DELETE" };
const successOf: Readonly<Record<Operation, number>> = { list: 200, view: 200, create: 201, update: 200, delete: 204 };
const eventsOf: Readonly<Record<Operation, readonly HookEvent[]>> = {
  list: ["beforeList"], view: ["beforeView"], create: ["beforeCreate", "afterCreate"], update: ["beforeUpdate", "afterUpdate"], delete: ["beforeDelete", "afterDelete"],
};

/** Throws ValidationFailed where the question cannot be read, NotFound for an unknown collection, record or caller. */
export type Explain = (context: TenantContext, input: unknown) => Promise<Explained>;

export function createExplain(deps: ExplainDeps): Explain {
  return async (context, input) => {
    const question = readQuestion(input);
    const collection = context.collections.get(question.collection);
    if (collection === undefined) throw new NotFound("Unknown collection");
    const { caller, refused } = await askerOf(deps, context, question);
    const call = callOf(context, caller, question);
    const subject = await subjectOf(deps, context, collection, question);
    const { record, incoming, validation } = subject;
    const name = ruleOf[question.operation];
    const rule = collection.rules[name];
    const verdict = refused === null ? await decide(deps, context, call, collection, question, subject) : { allowed: false, status: 401, reason: refused };
    const ruleContext: RuleContext = {
      auth: callerUser(call.caller), body: incoming?.body, changed: incoming?.changed, now: timestamp(deps.clock), method: call.request.method,
    };
    return {
      operation: question.operation,
      ...verdict,
      rule: {
        name,
        source: rule?.source ?? null,
        bypassed: bypassesRules(call.caller),
        parts: rule === null || record === null ? null : explainRule(rule.source, schemaOf(context, collection, question.operation), ruleContext, record),
      },
      query: deps.access.filter(call, collection, name, incoming),
      hooks: hooksOf(context, call, collection, question.operation),
      hooksBypassed: bypassesHooks(call.caller),
      validation,
      record: record === null ? null : deps.present(collection, record),
    };
  };
}

function schemaOf(context: TenantContext, { definition, isUsers }: Collection, usage: Operation) {
  return { fields: definition.fields, isUsers, userFields: context.collections.get("users")?.definition.fields ?? [], usage };
}

function callOf(context: TenantContext, caller: Caller, { collection, operation, recordId }: Question): Call {
  const path = `/api/collections/${collection}${recordId === undefined ? "" : `/${recordId}`}`;
  return {
    tenant: context.tenant,
    caller,
    request: { requestId: "explain", method: methodOf[operation], path, headers: {}, mountPath: "" },
    meter: { hookMs: 0 },
  };
}

async function askerOf({ keyCaller }: ExplainDeps, context: TenantContext, { caller }: Question): Promise<Asker> {
  if (caller === "guest") return { caller: { type: "guest" }, refused: null };
  if (caller === "superadmin") return { caller: { type: "superadmin", id: "superadmin" }, refused: null };
  if ("keyId" in caller) {
    const key = await keyCaller(context, caller.keyId);
    if (key === undefined) throw new NotFound("Unknown API key");
    return key;
  }
  const row = await context.store.table(usersTable).find(caller.userId);
  if (row === undefined) throw new NotFound("Unknown user");
  return { caller: { type: "user", user: row.record, familyId: null, expiresAt: null }, refused: row.hidden["active"] === false ? "The account is inactive: its credentials are refused" : null };
}

interface Subject {
  readonly row: Row | undefined;
  /** What the rule is decided on. */
  readonly record: RecordValue | null;
  readonly incoming: Incoming | undefined;
  /** Of the body, on `users` without its secrets. */
  readonly body: JsonObject;
  readonly secrets: UserSecrets;
  readonly validation: readonly FieldError[];
}

async function subjectOf({ clock, users }: ExplainDeps, context: TenantContext, collection: Collection, question: Question): Promise<Subject> {
  const { operation, recordId } = question;
  const { isUsers, definition: { fields } } = collection;
  const { body, secrets } = isUsers ? users.split(question.body) : { body: question.body, secrets: {} };
  const checked = (mode: "create" | "update") => {
    const { values, errors } = validateRecord({ fields, isUsers, body, mode });
    return { values, validation: isUsers ? [...errors, ...users.check(secrets, mode)] : errors };
  };

  if (operation === "create") {
    const { values, validation } = checked("create");
    const now = timestamp(clock);
    const system = isUsers ? { role: "user", emailVerified: false } : {};
    const record = { id: "new", createdAt: now, updatedAt: now, ...Object.fromEntries([...collection.fields.keys()].map((name) => [name, values[name] ?? null])), ...system } as RecordValue;
    return { row: undefined, record, incoming: { body, changed: new Set() }, body, secrets, validation };
  }
  const row = recordId === undefined ? undefined : await context.store.table(collection.table).find(recordId);
  if (recordId !== undefined && row === undefined) throw new NotFound("Unknown record");
  const record = row?.record ?? null;
  if (operation !== "update" || record === null) return { row, record, incoming: undefined, body, secrets, validation: [] };
  const { values, validation } = checked("update");
  return { row, record, incoming: { body: { ...body, ...values }, changed: changedFields(fields, { record, body, values }) }, body, secrets, validation };
}

type Verdict = Pick<Explained, "allowed" | "status" | "reason">;

/** By the functions that decide requests, in their order; what they throw is the answer. */
async function decide({ access, users }: ExplainDeps, context: TenantContext, call: Call, collection: Collection, { operation }: Question, { row, record, incoming, body, secrets, validation }: Subject): Promise<Verdict> {
  const name = ruleOf[operation];
  const invalid: Verdict = { allowed: false, status: 400, reason: "The body is not valid" };
  let isOwnersAlone = false;
  try {
    access.demandPossible(call, collection, name);
    const bound = access.filter(call, collection, name, incoming);
    switch (operation) {
      case "list":
        if (record !== null && !matches(bound, record)) return { allowed: false, status: 200, reason: "The list is answered, and this record is not in it" };
        return { allowed: true, status: 200, reason: isNever(bound) ? "The list is answered, and no record can be in it" : record === null ? "The list is answered with the records that the rule lets through" : "The record is in the list" };
      case "view": access.demandView(call, collection, row); break;
      case "create":
        if (validation.length > 0) return invalid;
        if (record === null || !matches(bound, record)) throw access.denied(call);
        break;
      case "update": {
        const visible = row !== undefined && access.canView(call, collection, row.record) ? row : undefined;
        if (collection.isUsers && row !== undefined) {
          isOwnersAlone = true;
          users.demandOwner(call, row.id, visible, body, secrets);
          isOwnersAlone = false;
        }
        const found = access.demandChange(call, collection, "updateRule", row, visible === undefined ? incoming : "early");
        if (collection.isUsers) await users.authorize(context, call, found, body, secrets);
        if (validation.length > 0) return invalid;
        access.demandChange(call, collection, "updateRule", row, incoming);
        break;
      }
      case "delete": access.demandChange(call, collection, "deleteRule", row); break;
    }
    return { allowed: true, status: successOf[operation], reason: bypassesRules(call.caller) ? "Rules do not apply to this caller" : "The rule holds" };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (isOwnersAlone) return { allowed: false, status: error.status, reason: "The password and the e-mail address of an account are changed by its own user" };
    return { allowed: false, status: error.status, reason: error instanceof ValidationFailed ? `The body is not valid: ${error.entries.map(({ field, message }) => `${field} ${message}`).join("; ")}` : reasonOf(error.status, collection, name, call.caller) };
  }
}

function reasonOf(status: number, collection: Collection, name: RuleName, caller: Caller): string {
  if (collection.rules[name] === null) return "The rule is No access";
  if (status === 404) return "The rule does not hold, and the caller may not view the record: it looks as if there were none";
  return caller.type === "guest" ? "The rule does not hold for a guest: a credential is needed" : "The rule does not hold";
}

function hooksOf(context: TenantContext, call: Call, { name }: Collection, operation: Operation): Explained["hooks"] {
  const global = context.hooks("beforeRequest", null).filter(({ match }) =>
    (match?.collections === undefined || match.collections.includes(name)) && (match?.methods === undefined || match.methods.includes(call.request.method)));
  return [...global, ...eventsOf[operation].flatMap((event) => context.hooks(event, name))].map(({ id, event, priority, url, failOpen }) =>
    ({ id, event, priority, url, failOpen, blocking: event.startsWith("before") }));
}
