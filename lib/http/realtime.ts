// The realtime routes: GET /api/realtime opens a stream, POST /api/realtime/subscribe says what it receives.
import { NotFound, Unauthorized } from "../core/errors.js";
import type { Realtime } from "../realtime/realtime.js";
import { parseSubscribe } from "../realtime/subscriptions.js";
import { eventStreamHeaders, openEventSink } from "./event-sink.js";
import { ok, type Exchange, type Handler, type TenantCall } from "./exchange.js";

export interface RealtimeRoutes {
  /** GET /api/realtime */
  readonly connect: Handler;
  /** POST /api/realtime/subscribe */
  readonly subscribe: Handler;
}

export function createRealtimeRoutes({ realtime }: { readonly realtime: Realtime }): RealtimeRoutes {
  return {
    async connect({ req, res, facts }) {
      if (req.method === "HEAD") return { status: 200, headers: eventStreamHeaders(facts.requestId) };
      realtime.connect((gone) => openEventSink(req, res, facts, gone));
      return undefined;
    },

    async subscribe(exchange) {
      const { call, context } = await demandCredential(exchange);
      const input = parseSubscribe(await exchange.json());
      const subscriptions = await realtime.subscribe(context, call.caller, input, () => exchange.call());
      return ok({ subscriptions });
    },
  };
}

/** 401 for guests, whether or not they name a tenant. */
async function demandCredential(exchange: Exchange): Promise<TenantCall> {
  const { authorization, cookie } = exchange.req.headers;
  if (authorization === undefined && cookie === undefined) throw new Unauthorized();
  try {
    const tenantCall = await exchange.call();
    if (tenantCall.call.caller.type === "guest") throw new Unauthorized();
    return tenantCall;
  } catch (error) {
    // A guest with a cookie of somebody else is told 401, and only a superadmin that the tenant is unknown.
    if (error instanceof NotFound && authorization === undefined) await exchange.superadmin();
    throw error;
  }
}
