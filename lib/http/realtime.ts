// The realtime routes: GET /api/realtime opens a stream, POST /api/realtime/subscribe says what it receives.
import type { Realtime } from "../realtime/realtime.js";
import { parseSubscribe } from "../realtime/subscriptions.js";
import { demandCredential } from "./demand-credential.js";
import { eventStreamHeaders, openEventSink } from "./event-sink.js";
import { ok, type Handler } from "./exchange.js";

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
