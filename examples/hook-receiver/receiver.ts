// A receiver of hooks: verifies each signature over the raw bytes, drops repeated deliveries, and shows every kind of
// answer that a before-hook can give. Run it with HOOK_SECRET set to the secret that the hook was created with.
import express, { type Express, type NextFunction, type Request, type Response } from "express";
import { verifyHookSignature, type Envelope } from "records-service";

/** An Express app that answers the hooks of one service. */
export function createReceiver(secret: string, log: (line: string) => void = console.log): Express {
  const app = express();

  // The raw bytes are what was signed: do not let express.json() touch these routes.
  app.use(express.raw({ type: "application/json", limit: "10mb" }));

  app.use((request: Request, response: Response, next: NextFunction) => {
    const body: unknown = request.body;
    if (!Buffer.isBuffer(body) || !verifyHookSignature(body, request.get("x-service-signature"), secret)) {
      response.status(401).end();
      return;
    }
    response.locals["envelope"] = JSON.parse(body.toString("utf8")) as Envelope;
    next();
  });
  const envelopeOf = (response: Response): Envelope => response.locals["envelope"] as Envelope;

  // Lets the operation go on as it is: an empty answer will do.
  app.post("/allow", (_request, response) => {
    response.status(204).end();
  });

  // Refuses with a status of its own; the client gets the error object as the body.
  app.post("/refuse", (_request, response) => {
    response.json({ continue: false, error: { status: 409, message: "The shop is closed" } });
  });

  // Refuses with a text; the client gets 400 and { "error": "…" }.
  app.post("/refuse-simply", (_request, response) => {
    response.json({ continue: false, error: "Not today" });
  });

  // Puts a body in place of the client's. It is validated like one.
  app.post("/rewrite", (_request, response) => {
    const { body } = envelopeOf(response).data;
    const given = typeof body === "object" && body !== null && !Array.isArray(body) ? (body as Record<string, unknown>) : {};
    const title = typeof given["title"] === "string" ? given["title"].trim() : given["title"];
    response.json({ data: { body: { ...given, title } } });
  });

  // beforeLogin only: signs a user in that another system has vouched for.
  app.post("/sign-in", (_request, response) => {
    const body = envelopeOf(response).data.body as { ticket?: string; userId?: string } | null;
    if (body?.ticket !== "valid" || body.userId === undefined) response.json({ continue: false, error: { status: 401, message: "Unknown ticket" } });
    else response.json({ continue: false, issueTokenFor: { userId: body.userId } });
  });

  // After-hooks come at least once: remember the delivery ids (in a database, not as here) and answer quickly.
  const seen = new Set<string>();
  app.post("/after", (_request, response) => {
    const { service, context } = envelopeOf(response);
    if (!seen.has(service.deliveryId)) {
      seen.add(service.deliveryId);
      log(`${service.event} ${context.collection}/${String(context.recordId)}`);
    }
    response.status(204).end();
  });

  return app;
}
