// Routes of hooks under /api/meta, for the superadmin: a thin shell over hooks/manage.ts.
import { BadRequest } from "../core/errors.js";
import type { HookManagement } from "../hooks/manage.js";
import type { HookInput } from "../hooks/check.js";
import { created, noContent, ok, type Exchange, type Handler } from "./exchange.js";
import type { TenantContext } from "../tenants/context.js";

export interface HookRoutes {
  /** GET `/api/meta/tenants/{tenantId}/hooks` */
  readonly listHooks: Handler;
  /** POST `/api/meta/tenants/{tenantId}/hooks` */
  readonly createHook: Handler;
  /** GET `/api/meta/tenants/{tenantId}/hooks/{hookId}` */
  readonly getHook: Handler;
  /** PATCH `/api/meta/tenants/{tenantId}/hooks/{hookId}` */
  readonly updateHook: Handler;
  /** DELETE `/api/meta/tenants/{tenantId}/hooks/{hookId}` */
  readonly removeHook: Handler;
  /** POST `/api/meta/tenants/{tenantId}/hooks/{hookId}/test` */
  readonly testHook: Handler;
  /** GET `/api/meta/tenants/{tenantId}/deliveries` */
  readonly listDeliveries: Handler;
  /** POST `/api/meta/tenants/{tenantId}/hook-log/{id}/redeliver` */
  readonly redeliver: Handler;
}

const states = ["dead", "pending", "waiting"] as const;

export function createHookRoutes({ hooks }: { readonly hooks: HookManagement }): HookRoutes {
  const managed = async (exchange: Exchange): Promise<TenantContext> => {
    await exchange.superadmin();
    return exchange.managedTenant();
  };
  const param = (exchange: Exchange, name: string): string => exchange.params[name] ?? "";

  return {
    async listHooks(exchange) {
      return ok({ items: await hooks.list(await managed(exchange)) });
    },
    async createHook(exchange) {
      const context = await managed(exchange);
      return created(await hooks.create(context, (await exchange.json()) as HookInput));
    },
    async getHook(exchange) {
      return ok(await hooks.get(await managed(exchange), param(exchange, "hookId")));
    },
    async updateHook(exchange) {
      const context = await managed(exchange);
      return ok(await hooks.update(context, param(exchange, "hookId"), (await exchange.json()) as HookInput));
    },
    async removeHook(exchange) {
      await hooks.remove(await managed(exchange), param(exchange, "hookId"));
      return noContent;
    },
    async testHook(exchange) {
      return ok(await hooks.test(await managed(exchange), param(exchange, "hookId")));
    },
    async listDeliveries(exchange) {
      const context = await managed(exchange);
      const { state = "dead", limit = "25", cursor } = exchange.query();
      const known = states.find((name) => name === state);
      if (known === undefined) throw new BadRequest(`state must be one of ${states.join(", ")}`);
      if (!/^-?\d{1,9}$/.test(limit)) throw new BadRequest("limit must be a whole number");
      const size = Number(limit) <= 0 ? 25 : Number(limit);
      return ok(await hooks.deliveries(context, { state: known, limit: size, ...(cursor === undefined ? {} : { cursor }) }));
    },
    async redeliver(exchange) {
      const context = await managed(exchange);
      return { status: 202, json: await hooks.redeliver(context, param(exchange, "id")) };
    },
  };
}
