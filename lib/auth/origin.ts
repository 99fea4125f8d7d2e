// Where an auth request comes from, before it has a caller; and what hooks are told of its body.
import type { Call, Caller, RequestFacts } from "../core/call.js";
import type { JsonObject } from "../core/record.js";
import type { TenantContext } from "../tenants/context.js";

export interface Origin {
  readonly request: RequestFacts;
  readonly meter: { hookMs: number };
  /** An API key that bypasses hooks, where one came along: it spares requests to its own tenant the hooks. */
  readonly exempt?: { readonly tenantId: string; readonly caller: Caller } | undefined;
}

const guest: Caller = { type: "guest" };

/** The call of a request that needs no credential. */
export function callOf(context: TenantContext, { request, meter, exempt }: Origin, caller: Caller = guest): Call {
  return { tenant: context.tenant, caller: exempt?.tenantId === context.tenant.id ? exempt.caller : caller, request, meter };
}

const secretMembers = new Set(["password", "oldPassword", "refreshToken", "newPassword"]);

/** The payload as hooks see it: without secrets, a registration's password as `"***"` (contract 7). */
export function withoutSecrets(body: JsonObject, redacted: readonly string[] = []): JsonObject {
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => (!secretMembers.has(name) ? [[name, value]] : redacted.includes(name) ? [[name, "***"]] : [])),
  );
}
