// Meta routes of tenants, settings and collections (contract 7). Every handler demands the superadmin first.
import type { Call } from "../core/call.js";
import { BadRequest } from "../core/errors.js";
import type { JsonObject } from "../core/record.js";
import type { Collections } from "../collections/manage.js";
import type { Tenants } from "../tenants/manage.js";
import type { SettingsManagement } from "../tenants/settings.js";
import type { TenantContext } from "../tenants/context.js";
import { created, noContent, ok, type Exchange, type Handler, type Reply } from "./exchange.js";

export interface MetaRoutesDeps {
  readonly tenants: Tenants;
  readonly settings: SettingsManagement;
  readonly collections: Collections;
}

export function createMetaRoutes({ tenants, settings, collections }: MetaRoutesDeps) {
  return {
    listTenants: forSuperadmin(async () => ok({ items: await tenants.list() })),
    createTenant: withBody(async (_exchange, body) => created(await tenants.create(body))),
    getTenant: inTenant(async (_exchange, { tenant }) => ok(tenant)),
    updateTenant: inTenantWithBody(async (_exchange, { tenant }, body) => ok(await tenants.update(tenant.id, body))),
    removeTenant: inTenant(async (_exchange, { tenant }) => {
      await tenants.remove(tenant.id);
      return noContent;
    }),

    getSettings: inTenant(async (_exchange, context) => ok(await settings.get(context))),
    updateSettings: inTenantWithBody(async (_exchange, context, body) => ok(await settings.update(context, body))),

    listCollections: inTenant(async (_exchange, context) => ok({ items: collections.list(context) })),
    createCollection: inTenantWithBody(async (_exchange, context, body) => created(await collections.create(context, body))),
    getCollection: inTenant(async ({ params }, context) => ok(collections.get(context, params["name"]!))),
    updateCollection: inTenantWithBody(async ({ params }, context, body) => ok(await collections.update(context, params["name"]!, body))),
    removeCollection: inTenant(async ({ params }, context) => {
      await collections.remove(context, params["name"]!);
      return noContent;
    }),
  } satisfies Record<string, Handler>;
}

/** Demands the superadmin before anything else is looked at. */
export function forSuperadmin(handler: (exchange: Exchange) => Promise<Reply | undefined>): Handler {
  return async (exchange) => {
    await exchange.superadmin();
    return await handler(exchange);
  };
}

/** The superadmin, then the JSON body. */
export function withBody(handler: (exchange: Exchange, body: JsonObject) => Promise<Reply | undefined>): Handler {
  return forSuperadmin(async (exchange) => {
    const body = await exchange.json();
    if (Object.hasOwn(body, "__proto__")) throw new BadRequest("__proto__ is not known here");
    return await handler(exchange, body);
  });
}

/** The superadmin, then the tenant of the path. */
export function inTenant(handler: (exchange: Exchange, context: TenantContext) => Promise<Reply | undefined>): Handler {
  return forSuperadmin(async (exchange) => await handler(exchange, await exchange.managedTenant()));
}

/** The superadmin, the tenant of the path, the JSON body. */
export function inTenantWithBody(handler: (exchange: Exchange, context: TenantContext, body: JsonObject) => Promise<Reply | undefined>): Handler {
  return inTenant(async (exchange, context) => await handler(exchange, context, await exchange.json()));
}

/** The superadmin's call, where a meta route writes through the pipeline of records. */
export function callOf({ facts, trace }: Exchange, { tenant }: TenantContext): Call {
  return { tenant, caller: trace.caller ?? { type: "superadmin", id: "superadmin" }, request: facts, meter: trace };
}
