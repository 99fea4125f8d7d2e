// Calls: who asks, and of which tenant (contract 2).
import type { IncomingMessage } from "node:http";
import type { Authenticator, Identity } from "../auth/auth.js";
import type { Call, Caller, RequestFacts } from "../core/call.js";
import { CredentialRejected, Forbidden, NotFound, Unauthorized } from "../core/errors.js";
import type { TenantContext, TenantRegistry } from "../tenants/context.js";
import type { TenantCall, Trace } from "./exchange.js";

export type Superadmin = Extract<Caller, { type: "superadmin" }>;

export interface CallsDeps {
  readonly tenants: TenantRegistry;
  readonly authenticator: Authenticator;
  /** The superadmin of the session cookie; undefined without one, or where it is no longer good. Checks the origin where the request changes state: throws Forbidden. */
  readonly session: (req: IncomingMessage) => Promise<Superadmin | undefined>;
  readonly resolveTenant: ((req: IncomingMessage) => string | undefined | Promise<string | undefined>) | undefined;
  readonly defaultTenant: string | undefined;
}

export interface Calls {
  call(req: IncomingMessage, facts: RequestFacts, query: Readonly<Record<string, string>>, trace: Trace, bodyTenant?: unknown): Promise<TenantCall>;
  /** The slug that header, query, body, `resolveTenant` or `defaultTenant` name, in this order. */
  hint(req: IncomingMessage, query: Readonly<Record<string, string>>, bodyTenant?: unknown): Promise<string | undefined>;
  superadmin(req: IncomingMessage, trace: Trace): Promise<Superadmin>;
  /** Who asks, whatever the tenant; undefined for a guest. */
  identify(req: IncomingMessage, trace: Trace): Promise<Identity | undefined>;
}

const guest: Caller = { type: "guest" };

export function createCalls({ tenants, authenticator, session, resolveTenant, defaultTenant }: CallsDeps): Calls {
  async function identify(req: IncomingMessage, trace: Trace): Promise<Identity | undefined> {
    const { authorization } = req.headers;
    if (authorization !== undefined) {
      try {
        const identity = await authenticator.authenticate(authorization, req.socket.remoteAddress);
        if (identity !== undefined) {
          trace.caller = identity.caller;
          trace.tenantId = identity.context?.tenant.id ?? null;
        }
        return identity;
      } catch (error) {
        if (error instanceof CredentialRejected) {
          trace.rejection = error.rejection;
          if (error.key !== null) trace.rejectedKey = { id: error.key.id, name: error.key.name };
          // A token outlives its tenant; what is logged then belongs to the instance.
          if (error.tenantId !== null) trace.tenantId = (await tenants.byId(error.tenantId))?.tenant.id ?? null;
        }
        throw error;
      }
    }
    if (req.headers.cookie === undefined) return undefined;
    const caller = await session(req);
    if (caller === undefined) return undefined;
    trace.caller = caller;
    return { caller, context: null };
  }

  /** What the request itself says: header, query, body, as far as they name one. */
  function explicit(req: IncomingMessage, query: Readonly<Record<string, string>>, bodyTenant: unknown): string[] {
    const header = req.headers["x-tenant"];
    const given = [typeof header === "string" ? header.trim() : undefined, query["tenant"], bodyTenant];
    return given.filter((slug) => typeof slug === "string" && slug !== "") as string[];
  }

  async function hint(req: IncomingMessage, query: Readonly<Record<string, string>>, bodyTenant?: unknown): Promise<string | undefined> {
    return explicit(req, query, bodyTenant)[0] ?? (await resolveTenant?.(req)) ?? defaultTenant;
  }

  async function named(req: IncomingMessage, query: Readonly<Record<string, string>>, bodyTenant: unknown): Promise<TenantContext> {
    const slug = await hint(req, query, bodyTenant);
    const context = slug === undefined ? undefined : await tenants.bySlug(slug);
    if (context === undefined) throw new NotFound("Unknown tenant");
    return context;
  }

  return {
    identify,
    hint,

    async call(req, facts, query, trace, bodyTenant) {
      const identity = await identify(req, trace);
      let context = identity?.context ?? null;
      if (context === null) {
        context = await named(req, query, bodyTenant);
      } else {
        const own = context.tenant.slug;
        if (explicit(req, query, bodyTenant).some((slug) => slug !== own)) throw new Forbidden();
      }
      trace.tenantId = context.tenant.id;
      const caller = identity?.caller ?? guest;
      trace.caller = caller;
      const call: Call = { tenant: context.tenant, caller, request: facts, meter: trace };
      return { call, context };
    },

    async superadmin(req, trace) {
      const identity = await identify(req, trace);
      if (identity === undefined) throw new Unauthorized();
      if (identity.caller.type !== "superadmin") throw new Forbidden();
      return identity.caller;
    },
  };
}
