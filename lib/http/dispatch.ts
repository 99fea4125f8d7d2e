// Runs a handler for a request: start-up awaited, in-flight requests counted, errors turned into answers, the request
// logged. The same for every route.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestFacts } from "../core/call.js";
import type { Logger } from "../core/logger.js";
import { ShuttingDown } from "../core/errors.js";
import type { TenantRegistry } from "../tenants/context.js";
import { hasBody, parsedBody } from "./body.js";
import { drain, drained } from "./drain.js";
import type { Calls } from "./call.js";
import type { Exchange, Handler, Trace } from "./exchange.js";
import { errorReply } from "./errors.js";
import { HttpExchange } from "./http-exchange.js";
import { createOutbox } from "./outbox.js";
import { sendReply } from "./reply.js";

export interface DispatchDeps {
  readonly calls: Calls;
  readonly tenants: TenantRegistry;
  readonly logger: Logger;
  /** Resolves at once when the service is ready; requests that come before wait. */
  readonly started: () => Promise<unknown> | undefined;
  readonly isClosing: () => boolean;
  /** Tells the request log of an answered request. */
  readonly logRequest: (request: { facts: RequestFacts; trace: Trace; status: number; startedAt: number; durationMs: number }) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface Manner {
  /** Stands in the request log. */
  readonly logged: boolean;
  /** Waits until the service is open, and is refused once it closes. */
  readonly waits: boolean;
}

export interface Dispatch {
  run(handler: Handler, req: IncomingMessage, res: ServerResponse, params: Readonly<Record<string, string>>, manner: Manner): void;
  /** Resolves when no request is under way. */
  idle(): Promise<void>;
  readonly inFlight: () => number;
  /** Where the router is mounted, as the latest request has shown it; empty before the first. */
  readonly mountPath: () => string;
}

export function createDispatch({ calls, tenants, logger, started, isClosing, logRequest, now }: DispatchDeps): Dispatch {
  let inFlight = 0;
  let mountPath = "";
  const waiting: (() => void)[] = [];
  const outbox = createOutbox();

  function left(): void {
    inFlight -= 1;
    if (inFlight === 0) for (const resolve of waiting.splice(0)) resolve();
  }

  async function handle(handler: Handler, exchange: Exchange, waits: boolean): Promise<void> {
    const { req, res } = exchange;
    try {
      if (waits) {
        if (isClosing()) throw new ShuttingDown();
        const starting = started();
        if (starting !== undefined) await starting;
      }
      // A repeated parameter is an error on every route, also where none is looked at.
      exchange.query();
      const reply = await handler(exchange);
      if (reply !== undefined) sendReply(res, reply, exchange.facts.requestId, outbox);
    } catch (error) {
      const reply = errorReply(error, logger, exchange.facts.requestId);
      if (!req.complete && hasBody(req) && parsedBody(req) === undefined) await drained(req);
      if (res.headersSent) res.destroy();
      else sendReply(res, reply, exchange.facts.requestId, outbox);
    }
    // What is still to come of a body that nobody wanted must not block the connection.
    if (!req.complete && hasBody(req) && parsedBody(req) === undefined) drain(req);
  }

  return {
    run(handler, req, res, params, { logged, waits }) {
      const exchange = new HttpExchange(req, res, params, calls, tenants);
      mountPath = exchange.facts.mountPath;
      const startedAt = now();
      const begun = performance.now();
      inFlight += 1;
      void handle(handler, exchange, waits).then(() => {
        left();
        if (logged) {
          logRequest({ facts: exchange.facts, trace: exchange.trace, status: res.statusCode, startedAt, durationMs: performance.now() - begun });
        }
      });
    },
    idle: () => (inFlight === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    inFlight: () => inFlight,
    mountPath: () => mountPath,
  };
}
