// The save-time checks of a hook: shape, limits and what belongs together. The address is checked beside it, in manage.ts.
import joi from "joi";
import type { FieldError } from "../core/errors.js";
import { ValidationFailed } from "../core/errors.js";
import type { JsonObject } from "../core/record.js";
import { collectionNamePattern } from "../schema/collection.js";
import { authEvents, hookEvents, type HookDefinition, type HookEvent } from "./definition.js";
import { parseTarget } from "./address.js";
import { forbiddenForwardHeaders, isHeaderName, isHeaderValue, isReservedHeader } from "./headers.js";
import { concealed } from "./stored.js";

/** What a client may set of a hook; null as secret: generate (create) or keep (update). */
export interface HookInput {
  readonly collection?: string | null;
  readonly event?: HookEvent;
  readonly url?: string;
  readonly method?: string;
  readonly timeoutMs?: number;
  readonly secret?: string | null;
  readonly priority?: number;
  readonly enabled?: boolean;
  readonly includeSchema?: boolean;
  readonly forwardHeaders?: string;
  readonly failOpen?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly match?: HookDefinition["match"];
}

/** A definition but for what the service gives it. */
export type HookDraft = Omit<HookDefinition, "id" | "createdAt" | "updatedAt">;

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const requestMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
const defaultTimeouts = { before: 5_000, after: 30_000 };

const shape = joi.object({
  // A hook that was read can be written back.
  id: joi.any(), createdAt: joi.any(), updatedAt: joi.any(),
  event: joi.string().valid(...hookEvents),
  collection: joi.string().allow(null),
  url: joi.string().max(2048),
  method: joi.string(),
  timeoutMs: joi.number().integer().min(1).max(30_000),
  secret: joi.string().min(1).max(1024).allow(null),
  priority: joi.number(),
  enabled: joi.boolean(),
  includeSchema: joi.boolean(),
  forwardHeaders: joi.string().max(4096).allow(""),
  failOpen: joi.boolean(),
  headers: joi.object().pattern(joi.string(), joi.string().max(8192).allow("")).max(50),
  match: joi.object({
    collections: joi.array().items(joi.string().pattern(collectionNamePattern, "collection name")).max(200),
    methods: joi.array().items(joi.string()).max(20),
  }).allow(null),
}).required();

/** Whether an after-event, which cannot change the answer. */
export function isAfterEvent(event: string): boolean {
  return event.startsWith("after");
}

/**
 * Checks the input, laid over `stored` where it changes a hook, and gives the whole definition. The secret is empty
 * where none was given. Throws ValidationFailed with an entry for each fault.
 */
export function checkHook(input: JsonObject, stored: HookDefinition | null, collections: ReadonlyMap<string, unknown>): HookDraft {
  const { error } = shape.validate(input, { abortEarly: false, convert: false, errors: { wrap: { label: false } } });
  if (error !== undefined) {
    throw new ValidationFailed(error.details.map((detail) => ({ field: detail.path.join(".") || "body", message: withoutLabel(detail.message, detail.path) })));
  }
  const given = input as HookInput;
  const faults: FieldError[] = [];
  const fault = (field: string, message: string): void => void faults.push({ field, message });

  const event = given.event ?? stored?.event;
  if (event === undefined) throw new ValidationFailed([{ field: "event", message: `is required: one of ${hookEvents.join(", ")}` }]);
  const draft: HookDraft = {
    event,
    collection: checkCollection(given.collection === undefined ? stored?.collection : given.collection, event, collections, fault),
    url: checkUrl(given.url ?? stored?.url, fault),
    method: checkMethod(given.method ?? stored?.method ?? "POST", fault),
    timeoutMs: given.timeoutMs ?? stored?.timeoutMs ?? (isAfterEvent(event) ? defaultTimeouts.after : defaultTimeouts.before),
    secret: given.secret ?? stored?.secret ?? "",
    priority: given.priority ?? stored?.priority ?? 0,
    enabled: given.enabled ?? stored?.enabled ?? true,
    includeSchema: given.includeSchema ?? stored?.includeSchema ?? false,
    forwardHeaders: given.forwardHeaders === undefined ? stored?.forwardHeaders ?? "" : checkForwardHeaders(given.forwardHeaders, fault),
    failOpen: given.failOpen ?? stored?.failOpen ?? false,
    headers: given.headers === undefined ? stored?.headers ?? {} : checkHeaders(given.headers, stored?.headers ?? {}, fault),
    match: checkMatch(given.match === undefined ? stored?.match ?? null : given.match, event, fault),
  };
  if (draft.failOpen && isAfterEvent(event)) fault("failOpen", "is for before-events only: an after-hook cannot stop anything");
  if (faults.length > 0) throw new ValidationFailed(faults);
  return draft;
}

type Fault = (field: string, message: string) => void;

function checkCollection(value: string | null | undefined, event: HookEvent, collections: ReadonlyMap<string, unknown>, fault: Fault): string | null {
  if (event === "beforeRequest") {
    if (value !== null && value !== undefined) fault("collection", "must be null for beforeRequest: use match to name collections");
    return null;
  }
  if ((authEvents as readonly string[]).includes(event)) {
    if (value !== undefined && value !== "users") fault("collection", `must be users: ${event} is an auth event`);
    return "users";
  }
  if (typeof value !== "string") fault("collection", `is required for ${event}`);
  else if (!collections.has(value)) fault("collection", "is no collection of this tenant");
  return value ?? null;
}

function checkUrl(value: string | undefined, fault: Fault): string {
  if (value === undefined) {
    fault("url", "is required");
    return "";
  }
  const target = parseTarget(value);
  if ("fault" in target) fault("url", target.fault);
  return value;
}

function checkMethod(value: string, fault: Fault): string {
  const method = value.toUpperCase();
  if (!methods.includes(method)) fault("method", `must be one of ${methods.join(", ")}`);
  return method;
}

function checkForwardHeaders(value: string, fault: Fault): string {
  const names = value.split(",").map((name) => name.trim()).filter((name) => name !== "");
  for (const name of names) {
    if (!isHeaderName(name)) fault("forwardHeaders", `${JSON.stringify(name)} is no header name: give names separated by commas`);
    else if (forbiddenForwardHeaders.includes(name.toLowerCase())) fault("forwardHeaders", `${name} can never be forwarded: it carries credentials`);
  }
  return [...new Set(names.map((name) => name.toLowerCase()))].join(",");
}

function checkHeaders(given: Readonly<Record<string, string>>, stored: Readonly<Record<string, string>>, fault: Fault): Record<string, string> {
  const kept = new Map(Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value]));
  const seen = new Set<string>();
  const headers: [string, string][] = [];
  for (const [name, value] of Object.entries(given)) {
    const lower = name.toLowerCase();
    const former = kept.get(lower);
    if (!isHeaderName(name)) fault("headers", `${JSON.stringify(name)} is no header name`);
    else if (isReservedHeader(name)) fault("headers", `${name} is set by the service and cannot be changed`);
    else if (seen.has(lower)) fault("headers", `${name} is given twice`);
    else if (value === concealed && former === undefined) fault("headers", `${name} has no stored value that "${concealed}" could keep: give the value`);
    else if (!isHeaderValue(value)) fault("headers", `the value of ${name} has characters that no header can carry`);
    seen.add(lower);
    headers.push([name, value === concealed && former !== undefined ? former : value]);
  }
  return Object.fromEntries(headers);
}

function checkMatch(match: HookDefinition["match"], event: HookEvent, fault: Fault): HookDefinition["match"] {
  if (match === null) return null;
  if (event !== "beforeRequest") {
    fault("match", "is for beforeRequest only");
    return null;
  }
  const wanted = match.methods?.map((method) => method.toUpperCase());
  for (const method of wanted ?? []) if (!requestMethods.includes(method)) fault("match.methods", `${JSON.stringify(method)} is none of ${requestMethods.join(", ")}`);
  return { ...(match.collections === undefined ? {} : { collections: match.collections }), ...(wanted === undefined ? {} : { methods: wanted }) };
}

function withoutLabel(message: string, path: readonly (string | number)[]): string {
  const label = path.join(".");
  return message.startsWith(`${label} `) ? message.slice(label.length + 1) : message;
}

