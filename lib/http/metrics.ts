// GET /metrics: Prometheus figures, for the superadmin or for whoever sends the token of the options.
import { equalInConstantTime } from "../core/ids.js";
import type { Metrics } from "../stats/metrics.js";
import type { Handler } from "./exchange.js";

/** `token`: null where only the superadmin may read. */
export function createMetricsRoute({ metrics, token }: { readonly metrics: Metrics; readonly token: string | null }): Handler {
  return async (exchange) => {
    const { req, res, facts } = exchange;
    const bearer = /^Bearer +(\S+)$/i.exec(req.headers.authorization ?? "")?.[1];
    if (token === null || bearer === undefined || !equalInConstantTime(bearer, token)) await exchange.superadmin();
    const { type, text } = await metrics.read();
    res.writeHead(200, { "X-Request-Id": facts.requestId, "Content-Type": type, "Content-Length": Buffer.byteLength(text), "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store" });
    res.end(req.method === "HEAD" ? undefined : text);
    return undefined;
  };
}
