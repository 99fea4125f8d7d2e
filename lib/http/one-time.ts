// The routes of password reset and e-mail verification (interface, "Tenant auth endpoints"). A thin shell.
import type { Authenticator } from "../auth/auth.js";
import type { OneTime } from "../auth/one-time/one-time.js";
import { parseOneTimeToken } from "../auth/one-time/token.js";
import type { JsonObject } from "../core/record.js";
import { checkJson } from "../schema/json-guard.js";
import type { TenantContext, TenantRegistry } from "../tenants/context.js";
import { noContent, ok, type Exchange, type Handler } from "./exchange.js";
import { originOf } from "./origin.js";

export type OneTimeRoutes = Readonly<Record<"forgot" | "reset" | "verifyRequest" | "verifyConfirm", Handler>>;

export interface OneTimeRoutesDeps {
  readonly oneTime: OneTime;
  readonly tenants: Pick<TenantRegistry, "byId" | "bySlug">;
  readonly authenticator: Authenticator;
}

export function createOneTimeRoutes({ oneTime, tenants, authenticator }: OneTimeRoutesDeps): OneTimeRoutes {
  /** The tenant that the request names; undefined where it names none that exists. */
  async function hintedTenant(exchange: Exchange, body: JsonObject): Promise<TenantContext | undefined> {
    const slug = await exchange.tenantHint(body["tenant"]);
    const context = slug === undefined ? undefined : await tenants.bySlug(slug);
    if (context !== undefined) exchange.trace.tenantId = context.tenant.id;
    return context;
  }

  /** The request log counts the request to the tenant that its token names. */
  async function traceToken({ trace }: Exchange, { token }: JsonObject): Promise<void> {
    const named = parseOneTimeToken(token)?.tenantId;
    const context = named === undefined ? undefined : await tenants.byId(named);
    if (context !== undefined) trace.tenantId = context.tenant.id;
  }

  return {
    async forgot(exchange) {
      const body = await read(exchange);
      await oneTime.forgotPassword(await hintedTenant(exchange, body), await originOf(exchange, authenticator), body);
      return ok({});
    },
    async reset(exchange) {
      const body = await read(exchange);
      await traceToken(exchange, body);
      await oneTime.resetPassword(await originOf(exchange, authenticator), body);
      return noContent;
    },
    async verifyRequest(exchange) {
      const body = await read(exchange);
      await oneTime.requestVerification(await hintedTenant(exchange, body), await originOf(exchange, authenticator), body);
      return ok({});
    },
    async verifyConfirm(exchange) {
      const body = await read(exchange);
      await traceToken(exchange, body);
      await oneTime.confirmVerification(await originOf(exchange, authenticator), body);
      return noContent;
    },
  };
}

async function read(exchange: Exchange): Promise<JsonObject> {
  const body = await exchange.json();
  checkJson(body);
  return body;
}
