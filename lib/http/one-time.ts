// The routes of password reset and e-mail verification (interface, "Tenant auth endpoints"). A thin shell.
import type { OneTime } from "../auth/one-time/one-time.js";
import { parseOneTimeToken } from "../auth/one-time/token.js";
import type { Origin } from "../auth/origin.js";
import type { JsonObject } from "../core/record.js";
import { checkJson } from "../schema/json-guard.js";
import type { TenantContext, TenantRegistry } from "../tenants/context.js";
import { noContent, ok, type Exchange, type Handler } from "./exchange.js";

export type OneTimeRoutes = Readonly<Record<"forgot" | "reset" | "verifyRequest" | "verifyConfirm", Handler>>;

export interface OneTimeRoutesDeps {
  readonly oneTime: OneTime;
  readonly tenants: Pick<TenantRegistry, "byId" | "bySlug">;
}

export function createOneTimeRoutes({ oneTime, tenants }: OneTimeRoutesDeps): OneTimeRoutes {
  /** The tenant that the request names; undefined where it names none that exists. */
  async function tenantOf(exchange: Exchange, body: JsonObject): Promise<TenantContext | undefined> {
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
      await oneTime.forgotPassword(await tenantOf(exchange, body), originOf(exchange), body);
      return ok({});
    },
    async reset(exchange) {
      const body = await read(exchange);
      await traceToken(exchange, body);
      await oneTime.resetPassword(originOf(exchange), body);
      return noContent;
    },
    async verifyRequest(exchange) {
      const body = await read(exchange);
      await oneTime.requestVerification(await tenantOf(exchange, body), originOf(exchange), body);
      return ok({});
    },
    async verifyConfirm(exchange) {
      const body = await read(exchange);
      await traceToken(exchange, body);
      await oneTime.confirmVerification(originOf(exchange), body);
      return noContent;
    },
  };
}

/** These routes need no credential, and one that comes along is not looked at. */
function originOf({ facts, trace }: Exchange): Origin {
  return { request: facts, meter: trace };
}

async function read(exchange: Exchange): Promise<JsonObject> {
  const body = await exchange.json();
  checkJson(body);
  return body;
}
