// The Exchange of a Node request: everything is read when it is asked for, and once.
import type { IncomingMessage, ServerResponse } from "node:http";
import { NotFound } from "../core/errors.js";
import { isId } from "../core/ids.js";
import type { JsonObject } from "../core/record.js";
import type { TenantContext, TenantRegistry } from "../tenants/context.js";
import { readJson } from "./body.js";
import type { Calls, Superadmin } from "./call.js";
import type { Exchange, TenantCall, Trace } from "./exchange.js";
import { HttpFacts } from "./facts.js";
import { readQuery } from "./query.js";

export class HttpExchange implements Exchange {
  readonly facts: HttpFacts;
  readonly trace: Trace = { caller: null, tenantId: null, rejection: null, rejectedKey: null, hookMs: 0 };
  #query: Readonly<Record<string, string>> | undefined;

  constructor(
    readonly req: IncomingMessage,
    readonly res: ServerResponse,
    readonly params: Readonly<Record<string, string>>,
    private readonly calls: Calls,
    private readonly tenants: TenantRegistry,
  ) {
    this.facts = new HttpFacts(req);
  }

  query(): Readonly<Record<string, string>> {
    this.#query ??= readQuery(this.req.url ?? "");
    return this.#query;
  }

  json(options?: { readonly optional?: boolean }): Promise<JsonObject> {
    return readJson(this.req, options?.optional ?? false);
  }

  call(options?: { readonly bodyTenant?: unknown }): Promise<TenantCall> {
    return this.calls.call(this.req, this.facts, this.query(), this.trace, options?.bodyTenant);
  }

  tenantHint(bodyTenant?: unknown): Promise<string | undefined> {
    return this.calls.hint(this.req, this.query(), bodyTenant);
  }

  superadmin(): Promise<Superadmin> {
    return this.calls.superadmin(this.req, this.trace);
  }

  async managedTenant(): Promise<TenantContext> {
    const id = this.params["tenantId"] ?? "";
    const context = isId(id) ? await this.tenants.byId(id) : undefined;
    if (context === undefined) throw new NotFound("Unknown tenant");
    this.trace.tenantId = context.tenant.id;
    return context;
  }
}
