// Auth routes (interface, "Tenant auth endpoints"): register, login, refresh, logout, me, issue-token. A thin shell.
import type { Auth, Authenticator } from "../auth/auth.js";
import type { Call } from "../core/call.js";
import { NotFound, Unauthorized } from "../core/errors.js";
import type { JsonObject } from "../core/record.js";
import type { TenantContext, TenantRegistry } from "../tenants/context.js";
import { checkJson } from "../schema/json-guard.js";
import { noContent, ok, type Exchange, type Handler, type TenantCall } from "./exchange.js";
import { originOf } from "./origin.js";

export interface AuthRoutesDeps {
  readonly auth: Auth;
  readonly authenticator: Authenticator;
  readonly tenants: TenantRegistry;
}

export type AuthRoutes = Readonly<Record<"register" | "login" | "refresh" | "logout" | "me" | "issueToken", Handler>>;

export function createAuthRoutes({ auth, authenticator, tenants }: AuthRoutesDeps): AuthRoutes {
  /** The tenant that the request names; undefined where it names none that exists. */
  async function tenantOf(exchange: Exchange, body: JsonObject): Promise<TenantContext | undefined> {
    const slug = await exchange.tenantHint(body["tenant"]);
    const context = slug === undefined ? undefined : await tenants.bySlug(slug);
    if (context !== undefined) exchange.trace.tenantId = context.tenant.id;
    return context;
  }

  return {
    async register(exchange) {
      const body = await read(exchange);
      const context = await tenantOf(exchange, body);
      const account = await auth.register(context, await originOf(exchange, authenticator), body);
      return { status: 201, text: account.text, headers: { ETag: `"${account.revision}"` } };
    },

    async login(exchange) {
      const body = await read(exchange);
      const context = await tenantOf(exchange, body);
      return ok(await auth.login(context, await originOf(exchange, authenticator), body));
    },

    async refresh(exchange) {
      const body = await read(exchange);
      const context = await auth.tenantOf(body["refreshToken"]);
      if (context !== undefined) exchange.trace.tenantId = context.tenant.id;
      return ok(await auth.refresh(await originOf(exchange, authenticator), body));
    },

    async logout(exchange) {
      const body = await read(exchange, true);
      const { context, call } = await signedIn(exchange, body["tenant"]);
      await auth.logout(context, call, body);
      return noContent;
    },

    async me(exchange) {
      const { context, call } = await signedIn(exchange);
      return ok(await auth.me(context, call));
    },

    async issueToken(exchange) {
      const body = await read(exchange, true);
      const { context, call } = await signedIn(exchange);
      return ok(await auth.issueToken(context, call, body));
    },
  };
}

async function read(exchange: Exchange, optional = false): Promise<JsonObject> {
  const body = await exchange.json({ optional });
  checkJson(body);
  return body;
}

/** The call of a tenant user, by access token or key. Guests and the superadmin get the one 401, whatever tenant they name. */
async function signedIn(exchange: Exchange, bodyTenant?: unknown): Promise<TenantCall> {
  try {
    const found = await exchange.call({ bodyTenant });
    if (isUser(found.call)) return found;
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
  }
  throw new Unauthorized();
}

function isUser({ caller }: Call): boolean {
  return caller.type === "user" || caller.type === "apiKey";
}
