// A router as the listener of a plain http server: there no next follows, so what falls through is answered here.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Router } from "express";
import { NotFound } from "../core/errors.js";
import type { Logger } from "../core/logger.js";
import { errorReply } from "./errors.js";
import { HttpFacts } from "./facts.js";
import { sendReply } from "./reply.js";

type Next = (error?: unknown) => void;
interface Handling {
  handle(req: IncomingMessage, res: ServerResponse, next: Next): void;
}

/** Lets the router be called as `(req, res)` too: `createServer(router)`. With a next nothing changes. */
export function standAlone(router: Router, logger: Logger): Router {
  const handling = router as unknown as Handling;
  const handle = handling.handle;
  handling.handle = function (this: Handling, req: IncomingMessage, res: ServerResponse, next?: Next) {
    handle.call(this, req, res, next ?? ((error) => {
      const { requestId } = new HttpFacts(req);
      sendReply(res, errorReply(error ?? new NotFound(), logger, requestId), requestId);
    }));
  };
  return router;
}
