// Routes that guests cannot use, whichever tenant they name.
import { NotFound, Unauthorized } from "../core/errors.js";
import type { Exchange, TenantCall } from "./exchange.js";

/** 401 for guests, whether or not they name a tenant. */
export async function demandCredential(exchange: Exchange): Promise<TenantCall> {
  const { authorization, cookie } = exchange.req.headers;
  if (authorization === undefined && cookie === undefined) throw new Unauthorized();
  try {
    const tenantCall = await exchange.call();
    if (tenantCall.call.caller.type === "guest") throw new Unauthorized();
    return tenantCall;
  } catch (error) {
    // A guest with a cookie of somebody else is told 401, and only a superadmin that the tenant is unknown.
    if (error instanceof NotFound && authorization === undefined) await exchange.superadmin();
    throw error;
  }
}
