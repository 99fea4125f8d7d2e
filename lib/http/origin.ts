// The origin of requests that need no credential: an invalid one is not looked at (contract 11), but an API key that
// bypasses hooks spares its own tenant's auth routes the hooks.
import type { Authenticator } from "../auth/auth.js";
import type { Origin } from "../auth/origin.js";
import { CredentialRejected } from "../core/errors.js";
import type { Exchange } from "./exchange.js";

export async function originOf({ req, facts, trace }: Exchange, authenticator: Authenticator): Promise<Origin> {
  const origin: Origin = { request: facts, meter: trace };
  const { authorization } = req.headers;
  if (authorization === undefined || !/^bearer +pk_/i.test(authorization)) return origin;
  try {
    const identity = await authenticator.authenticate(authorization, req.socket.remoteAddress);
    const tenantId = identity?.context?.tenant.id;
    if (identity === undefined || tenantId === undefined || identity.caller.type !== "apiKey" || !identity.caller.bypassHooks) return origin;
    return { ...origin, exempt: { tenantId, caller: identity.caller } };
  } catch (error) {
    if (error instanceof CredentialRejected) return origin;
    throw error;
  }
}
