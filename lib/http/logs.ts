// The routes of the request log and the hook log, and what the request log keeps of a request (contract 7).
import { bypassesHooks, type Caller, type RequestFacts } from "../core/call.js";
import { BadRequest } from "../core/errors.js";
import type { Logs, NewRequestLogEntry, RequestLogEntry } from "../logs/logs.js";
import { ok, type Exchange, type Handler, type Trace } from "./exchange.js";

export type LogRoutes = Readonly<Record<"requests" | "hooks" | "instanceRequests", Handler>>;

const longestPath = 2048;

export function createLogRoutes({ logs }: { readonly logs: Logs }): LogRoutes {
  return {
    async requests(exchange) {
      await exchange.superadmin();
      return ok(await logs.requests.list(await exchange.managedTenant(), queryOf(exchange)));
    },
    async hooks(exchange) {
      await exchange.superadmin();
      return ok(await logs.hooks.list(await exchange.managedTenant(), queryOf(exchange)));
    },
    async instanceRequests(exchange) {
      await exchange.superadmin();
      return ok(await logs.requests.list(null, queryOf(exchange)));
    },
  };
}

/**
 * What the request log keeps of an answered request.
 * @param startedAt milliseconds since the epoch
 */
export function requestLogEntry(request: {
  readonly facts: RequestFacts;
  readonly trace: Trace;
  readonly status: number;
  readonly startedAt: number;
  readonly durationMs: number;
}): NewRequestLogEntry {
  const { facts, trace, status, startedAt, durationMs } = request;
  const { caller } = trace;
  return {
    requestId: facts.requestId,
    startedAt,
    method: facts.method,
    path: facts.path.length > longestPath ? facts.path.slice(0, longestPath) : facts.path,
    status,
    durationMs: Math.round(durationMs * 100) / 100,
    hookMs: Math.round(trace.hookMs * 100) / 100,
    caller: describeCaller(caller, trace),
    rulesBypassed: caller !== null && (caller.type === "superadmin" || (caller.type === "apiKey" && caller.bypassRules)),
    hooksBypassed: caller !== null && bypassesHooks(caller),
    rejection: trace.rejection,
  };
}

function describeCaller(caller: Caller | null, { rejectedKey }: Trace): RequestLogEntry["caller"] {
  if (rejectedKey !== null) return { type: "apiKey", id: rejectedKey.id, keyName: rejectedKey.name };
  switch (caller?.type) {
    case "user":
      return { type: "user", id: caller.user.id, keyName: null };
    case "apiKey":
      return { type: "apiKey", id: caller.keyId, keyName: caller.keyName };
    case "superadmin":
      return { type: "superadmin", id: null, keyName: null };
    default:
      return { type: "guest", id: null, keyName: null };
  }
}

function queryOf(exchange: Exchange): {
  readonly limit: number | undefined; readonly cursor: string | undefined; readonly hookId: string | undefined;
  readonly requestId: string | undefined; readonly keyId: string | undefined; readonly status: number | undefined;
} {
  const query = exchange.query();
  const limit = whole(query, "limit");
  return {
    limit: limit === undefined || limit <= 0 ? undefined : limit,
    cursor: query["cursor"],
    hookId: query["hookId"],
    requestId: query["requestId"],
    keyId: query["keyId"],
    status: whole(query, "status"),
  };
}

function whole(query: Readonly<Record<string, string>>, name: string): number | undefined {
  const value = query[name];
  if (value === undefined) return undefined;
  if (!/^-?[0-9]{1,9}$/.test(value)) throw new BadRequest(`${name} must be a whole number`);
  return Number(value);
}
