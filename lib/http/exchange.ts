// Exchange: one request with what a handler may ask of it. Handlers return a Reply; nothing else writes to the response
// (streams of bytes and events excepted, which take the raw response).
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Call, Caller, RequestFacts } from "../core/call.js";
import type { JsonObject } from "../core/record.js";
import type { TenantContext } from "../tenants/context.js";

export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** The query, read by the service's own parser. A repeated parameter: BadRequest. */
  query(): Readonly<Record<string, string>>;
  readonly facts: RequestFacts;
  /** What the request log is told; handlers may fill it in. */
  readonly trace: Trace;
  /** The JSON body, an object; `{}` where the request has none and `optional` is set. Throws BadRequest, PayloadTooLarge, UnsupportedMediaType. */
  json(options?: { readonly optional?: boolean }): Promise<JsonObject>;
  /**
   * Credential, then tenant (contract 2). Throws Unauthorized where a credential is present but invalid, Forbidden
   * where a hint names another tenant, NotFound("Unknown tenant").
   */
  call(options?: { readonly bodyTenant?: unknown }): Promise<TenantCall>;
  /** The tenant's slug as hinted by header, query, body, `resolveTenant` or `defaultTenant`; undefined where none does. Looks at no credential. */
  tenantHint(bodyTenant?: unknown): Promise<string | undefined>;
  /** The superadmin, by session cookie (with the origin check where the request changes state) or bearer admin token. Throws Unauthorized, Forbidden. */
  superadmin(): Promise<Extract<Caller, { type: "superadmin" }>>;
  /** The tenant named by the path parameter `tenantId`, for the meta API. Throws NotFound. */
  managedTenant(): Promise<TenantContext>;
}

export interface TenantCall {
  readonly call: Call;
  readonly context: TenantContext;
}

export interface Trace {
  caller: Caller | null;
  tenantId: string | null;
  rejection: "unknown" | "expired" | "revoked" | "source" | null;
  /** The key that was rejected, where one was recognised. */
  rejectedKey: { readonly id: string; readonly name: string } | null;
  hookMs: number;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** A value to be sent as JSON. */
  readonly json?: unknown;
  /** A body that is ready to be sent: JSON text or its bytes, or others where `headers` say what they are. */
  readonly text?: string | Buffer | undefined;
}

/** Answers a request; `undefined` where it has written to the raw response itself. */
export type Handler = (exchange: Exchange) => Promise<Reply | undefined>;

export const ok = (json: unknown): Reply => ({ status: 200, json });
export const created = (json: unknown): Reply => ({ status: 201, json });
export const noContent: Reply = { status: 204 };
