// The blocking contract: what the answer of a before-hook means, row by row of the interface.
import type { Json, JsonObject } from "../core/record.js";

export type Answer =
  | { readonly type: "allowed" }
  | { readonly type: "modified"; readonly body: JsonObject }
  | { readonly type: "rejected"; readonly status: number; readonly message: string; readonly body: Json; readonly warning: string | null }
  | { readonly type: "issueTokenFor"; readonly userId: string }
  /** Counts like a hook that could not be reached. */
  | { readonly type: "unusable"; readonly reason: string };

const defaultStatus = 400;
const ownMessage = "The request was rejected by a hook";
const deepest = 50;
const allowed: Answer = { type: "allowed" };

/** Reads the answer of a webhook. */
export function readAnswer(status: number, text: string, event: string): Answer {
  const succeeded = status >= 200 && status <= 299;
  const value = parseObject(text);
  if (succeeded) return value === undefined ? allowed : readValue(value, event);
  // Only a refusal is recognised outside of 2xx: a failing hook never lets a body through.
  if (value?.["continue"] === false) return readRefusal(value);
  return { type: "unusable", reason: `answered with status ${status}` };
}

/** Reads the answer of a handler in process, or the parsed body of a 2xx answer. */
export function readValue(value: JsonObject, event: string): Answer {
  if (value["continue"] === false) {
    const userId = member(value["issueTokenFor"], "userId");
    if (event === "beforeLogin" && typeof userId === "string" && userId.trim() !== "" && value["error"] === undefined) {
      return { type: "issueTokenFor", userId };
    }
    return readRefusal(value);
  }
  const body = member(value["data"], "body");
  if (!isObject(body)) return allowed;
  return isDeeperThan(body, deepest) ? { type: "unusable", reason: `answered with a body nested deeper than ${deepest} levels` } : { type: "modified", body };
}

function readRefusal(value: JsonObject): Answer {
  const error = value["error"];
  if (typeof error === "string") return { type: "rejected", status: defaultStatus, message: error, body: { error }, warning: null };
  if (!isObject(error) || isDeeperThan(error, deepest)) return { type: "rejected", status: defaultStatus, message: ownMessage, body: { error: ownMessage }, warning: null };
  const wanted = error["status"];
  const honoured = typeof wanted === "number" && Number.isInteger(wanted) && wanted >= 400 && wanted <= 599;
  return {
    type: "rejected",
    status: honoured ? wanted : defaultStatus,
    message: typeof error["message"] === "string" ? error["message"] : ownMessage,
    // Hook-protocol members never reach a client, wherever the hook put them.
    body: Object.fromEntries(Object.entries(error).filter(([name]) => name !== "continue" && name !== "issueTokenFor")),
    warning: honoured || wanted === undefined ? null : `error.status must be a whole number from 400 to 599; ${defaultStatus} was used instead`,
  };
}

function parseObject(text: string): JsonObject | undefined {
  if (text.trim() === "") return undefined;
  try {
    const value = JSON.parse(text.replace(/^\uFEFF/, "")) as Json;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function member(value: Json | undefined, name: string): Json | undefined {
  return isObject(value) ? value[name] : undefined;
}

function isDeeperThan(root: Json, limit: number): boolean {
  let level: Json[] = [root];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limit) return true;
    level = level.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value).filter((child) => typeof child === "object") : []));
  }
  return false;
}
