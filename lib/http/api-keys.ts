// Meta routes of API keys (contract 7; interface, "API key binding endpoint"). Superadmin only.
import type { ApiKeys } from "../api-keys/api-keys.js";
import { created, noContent, ok, type Handler } from "./exchange.js";
import { inTenant, inTenantWithBody } from "./meta.js";

export type ApiKeyRoutes = Readonly<Record<"list" | "create" | "get" | "update" | "remove" | "revoke", Handler>>;

export function createApiKeyRoutes({ apiKeys }: { readonly apiKeys: ApiKeys }): ApiKeyRoutes {
  return {
    list: inTenant(async (_exchange, context) => ok({ items: await apiKeys.list(context) })),
    create: inTenantWithBody(async (_exchange, context, body) => created(await apiKeys.create(context, body))),
    get: inTenant(async ({ params }, context) => ok(await apiKeys.get(context, params["keyId"]!))),
    update: inTenantWithBody(async ({ params }, context, body) => {
      await apiKeys.update(context, params["keyId"]!, body);
      return noContent;
    }),
    remove: inTenant(async ({ params }, context) => {
      await apiKeys.remove(context, params["keyId"]!);
      return noContent;
    }),
    revoke: inTenant(async ({ params }, context) => {
      await apiKeys.revoke(context, params["keyId"]!);
      return noContent;
    }),
  };
}
