// The envelope: what a delivery tells, and the headers it is sent with. Secrets are left out here, whatever came in.
import type { Call } from "../core/call.js";
import { callerUser } from "../core/call.js";
import type { Json, JsonObject, RecordValue } from "../core/record.js";
import type { TenantContext } from "../tenants/context.js";
import type { HookDefinition } from "./definition.js";
import { forbiddenForwardHeaders } from "./headers.js";
import type { Envelope, HookSubject } from "./hooks.js";

const alwaysForwarded = ["content-type", "user-agent", "accept", "accept-language", "x-request-id"] as const;
const secretMembers: readonly string[] = ["password", "oldPassword", "refreshToken"];
const neverInRecords: readonly string[] = ["password", "passwordHash", "passwordSalt"];
/** What a hook's replacement body cannot set on accounts. */
const protectedMembers: readonly string[] = [...secretMembers, "role", "emailVerified"];

export interface Occasion {
  readonly context: TenantContext;
  readonly call: Call;
  readonly event: string;
  readonly subject: HookSubject;
}

/** The envelope of one delivery. `hook` is null for a handler in process. */
export function createEnvelope({ context, call, event, subject }: Occasion, hook: HookDefinition | null, deliveryId: string, timestamp: string): Envelope {
  return {
    service: { version: 1, event, deliveryId, timestamp },
    context: {
      collection: subject.collection,
      recordId: subject.recordId,
      auth: authOf(call),
      http: { method: call.request.method, path: call.request.path, headers: forwardedHeaders(call, hook) },
    },
    data: { body: presentBody(call, event, subject), record: presentRecord(subject) },
    schema: hook === null || hook.includeSchema ? schemaOf(context, subject.collection) : null,
  };
}

/** Whether the subject is about accounts, whose secrets are kept from hooks. */
export function isAboutUsers(subject: HookSubject): boolean {
  return subject.collection === "users";
}

/** The body to go on with after a hook replaced it: on accounts the client's own secrets stay, and the hook can set none. */
export function mergeReplacement(subject: HookSubject, current: JsonObject, replacement: JsonObject): JsonObject {
  if (!isAboutUsers(subject)) return replacement;
  const given = Object.entries(replacement).filter(([name]) => !protectedMembers.includes(name));
  const kept = Object.entries(current).filter(([name]) => protectedMembers.includes(name));
  return Object.fromEntries([...given, ...kept]);
}

function authOf(call: Call): { id: string | null; role: string | null } {
  const user = callerUser(call.caller);
  if (user !== null) return { id: user.id, role: typeof user["role"] === "string" ? user["role"] : null };
  if (call.caller.type === "superadmin" || call.caller.type === "system") return { id: null, role: call.caller.type };
  return { id: null, role: null };
}

function forwardedHeaders(call: Call, hook: HookDefinition | null): Record<string, readonly string[]> {
  const wanted = hook === null || hook.forwardHeaders === "" ? alwaysForwarded : [...alwaysForwarded, ...hook.forwardHeaders.split(",").map((name) => name.trim().toLowerCase())];
  const headers: Record<string, readonly string[]> = {};
  for (const name of wanted) {
    // Checked at save, and here again: a stored definition is not trusted with credentials.
    if (forbiddenForwardHeaders.includes(name) || !Object.hasOwn(call.request.headers, name)) continue;
    headers[name] = call.request.headers[name]!;
  }
  return headers;
}

function presentBody(call: Call, event: string, subject: HookSubject): Json {
  const { body } = subject;
  if (body === null) return null;
  const own = isAboutUsers(subject) ? withoutSecrets(call, event, body) : body;
  return event === "beforeCreate" && subject.recordId !== null ? { ...own, id: subject.recordId } : own;
}

function withoutSecrets(call: Call, event: string, body: JsonObject): JsonObject {
  const registers = event === "beforeRegister" || event === "afterRegister";
  // Reset and verify carry a one-time token, which beforeRequest would see.
  const left = call.request.path.startsWith("/api/auth/") ? [...secretMembers, "token"] : secretMembers;
  return Object.fromEntries(
    Object.entries(body)
      .filter(([name]) => !left.includes(name) || (registers && name === "password"))
      .map(([name, value]) => (name === "password" ? [name, "***"] : [name, value])),
  );
}

function presentRecord(subject: HookSubject): RecordValue | null {
  const { record } = subject;
  if (record === null || !isAboutUsers(subject) || !neverInRecords.some((name) => Object.hasOwn(record, name))) return record;
  return Object.fromEntries(Object.entries(record).filter(([name]) => !neverInRecords.includes(name))) as RecordValue;
}

function schemaOf(context: TenantContext, collection: string): { fields: Json } | null {
  const definition = context.collections.get(collection)?.definition;
  return definition === undefined ? null : { fields: definition.fields as unknown as Json };
}
