// File routes: download, removal, and the tokens that let an <img> load what its user may see.
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { CredentialRejected, Forbidden, NotFound } from "../core/errors.js";
import type { FileAccess, FileTarget } from "../files/file-access.js";
import type { FileTokens } from "../files/file-tokens.js";
import type { Download } from "../files/files.js";
import { issueFileToken } from "../files/issue-file-token.js";
import type { Hooks } from "../hooks/hooks.js";
import { demandCredential } from "./demand-credential.js";
import { noContent, type Exchange, type Handler, type TenantCall } from "./exchange.js";
import type { FileTokenCaller } from "./file-token-caller.js";

export interface FileRoutesDeps {
  readonly access: FileAccess;
  readonly tokens: FileTokens;
  readonly callerOfToken: FileTokenCaller;
  readonly hooks: Pick<Hooks, "beforeRequest">;
}

export interface FileRoutes {
  /** GET and HEAD `/api/collections/:collection/:id/files/:field[/:fileId]` */
  readonly download: Handler;
  /** DELETE of the same. */
  readonly remove: Handler;
  /** POST `/api/files/token` */
  readonly token: Handler;
}

export function createFileRoutes({ access, tokens, callerOfToken, hooks }: FileRoutesDeps): FileRoutes {
  /** By header or cookie as everywhere; without them by the query's token. */
  async function viewer(exchange: Exchange): Promise<TenantCall> {
    const { req, trace, facts } = exchange;
    const query = exchange.query();
    const token = query["token"];
    if (token === undefined || req.headers.authorization !== undefined) return exchange.call();
    try {
      const { caller, context } = await callerOfToken(token, req.socket.remoteAddress);
      trace.caller = caller;
      trace.tenantId = context.tenant.id;
      const named = header(req, "x-tenant")?.trim() || query["tenant"];
      if (named !== undefined && named !== "" && named !== context.tenant.slug) throw new Forbidden();
      return { context, call: { tenant: context.tenant, caller, request: facts, meter: trace } };
    } catch (error) {
      if (error instanceof CredentialRejected) {
        trace.rejection = error.rejection;
        trace.tenantId = error.tenantId;
        if (error.key !== null) trace.rejectedKey = { id: error.key.id, name: error.key.name };
      }
      throw error;
    }
  }

  /** What the path names, once the collection is known and the tenant's own guard has let the request pass. */
  async function guarded({ params }: Exchange, { context, call }: TenantCall): Promise<FileTarget> {
    const collection = params["collection"]!;
    const recordId = params["id"]!;
    if (!context.collections.has(collection)) throw new NotFound();
    if (context.settings.guardFileRoutes) await hooks.beforeRequest(context, call, { collection, recordId, body: null, record: null });
    return { context, call, collection, recordId };
  }

  return {
    async download(exchange) {
      const { req, res, params, facts } = exchange;
      // A host's compression in front would break ranges and give one strong entity tag to two different bodies.
      req.headers["accept-encoding"] = "identity";
      const target = await guarded(exchange, await viewer(exchange));
      const download = await access.download(target, {
        field: params["field"]!,
        fileId: params["fileId"] ?? null,
        width: exchange.query()["width"] ?? null,
        method: req.method === "HEAD" ? "HEAD" : "GET",
        ifNoneMatch: header(req, "if-none-match") ?? null,
        range: header(req, "range") ?? null,
        ifRange: header(req, "if-range") ?? null,
      });
      const { status, headers, body } = download;
      if (body === null || Buffer.isBuffer(body)) return { status, headers, text: body ?? undefined };
      await stream(res, status, headers, body, facts.requestId);
      return undefined;
    },

    async remove(exchange) {
      const target = await guarded(exchange, await exchange.call());
      await access.remove(target, exchange.params["field"]!, exchange.params["fileId"] ?? null, header(exchange.req, "if-match") ?? null);
      return noContent;
    },

    async token(exchange) {
      const { call, context } = await demandCredential(exchange);
      return { status: 200, json: await issueFileToken(tokens, context, call.caller) };
    },
  };
}

function header({ headers }: IncomingMessage, name: "x-tenant" | "if-match" | "if-none-match" | "range" | "if-range"): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : undefined;
}

/** Writes a file too large for one answer to the raw response; resolves when it is sent or the client has gone. */
async function stream(res: ServerResponse, status: number, headers: Download["headers"], body: Readable, requestId: string): Promise<void> {
  if (res.destroyed) {
    body.destroy();
    return;
  }
  res.writeHead(status, { "X-Request-Id": requestId, "Referrer-Policy": "no-referrer", ...headers });
  try {
    await pipeline(body, res);
  } catch {
    // The client left, or the bytes broke off: the response is cut, so that nobody takes it for whole.
    res.destroy();
  }
}
