// RequestFacts of an HTTP request: what hooks and logs may be told.
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { RequestFacts } from "../core/call.js";

/** Headers that never leave the service, whoever asks for them (interface, Delivery request). */
const never = ["authorization", "cookie", "set-cookie", "proxy-authorization"];
const requestIdPattern = /^[A-Za-z0-9._-]{1,128}$/;

export class HttpFacts implements RequestFacts {
  readonly requestId: string;
  readonly mountPath: string;
  readonly method: string;
  readonly path: string;

  constructor(private readonly req: IncomingMessage) {
    const given = req.headers["x-request-id"];
    this.requestId = typeof given === "string" && requestIdPattern.test(given) ? given : randomUUID();
    this.method = req.method ?? "GET";
    this.mountPath = (req as { baseUrl?: string }).baseUrl ?? "";
    const url = req.url ?? "/";
    const query = url.indexOf("?");
    this.path = query === -1 ? url : url.slice(0, query);
  }

  get headers(): Readonly<Record<string, readonly string[]>> {
    const headers: Record<string, readonly string[]> = {};
    for (const [name, values] of Object.entries(this.req.headersDistinct)) {
      if (values !== undefined && !never.includes(name)) headers[name] = values;
    }
    return headers;
  }
}
