// POST /api/meta/tenants/{tenantId}/explain: what would be decided about an operation, and why.
import type { Explain } from "../explain/explain.js";
import { ok, type Handler } from "./exchange.js";
import { inTenantWithBody } from "./meta.js";

export function createExplainRoute({ explain }: { readonly explain: Explain }): Handler {
  return inTenantWithBody(async (_exchange, context, body) => ok(await explain(context, body)));
}
