// Meta routes of accounts: the superadmin's editor.
import { readLimit, readOffset } from "../records/list-query.js";
import type { AdminEditor } from "../users/admin-editor.js";
import { created, noContent, ok, type Handler } from "./exchange.js";
import { callOf, inTenant, inTenantWithBody } from "./meta.js";

export function createUserRoutes({ editor }: { readonly editor: AdminEditor }) {
  return {
    list: inTenant(async (exchange, context) => {
      const offset = readOffset(exchange.query()["offset"]);
      const limit = readLimit(exchange.query()["limit"]);
      return ok({ ...(await editor.list(context, { offset, limit })), offset, limit });
    }),
    create: inTenantWithBody(async (exchange, context, body) => created(await editor.create(context, callOf(exchange, context), body))),
    get: inTenant(async ({ params }, context) => ok(await editor.get(context, params["id"]!))),
    update: inTenantWithBody(async (exchange, context, body) => ok(await editor.update(context, callOf(exchange, context), exchange.params["id"]!, body))),
    remove: inTenant(async (exchange, context) => {
      await editor.remove(context, callOf(exchange, context), exchange.params["id"]!);
      return noContent;
    }),
  } satisfies Record<string, Handler>;
}
