// Puts the recipes of auth/ together.
import type { Auth } from "./auth.js";
import type { AuthDeps } from "./deps.js";
import { login } from "./login.js";
import { refresh, tenantOf } from "./refresh.js";
import { register } from "./register.js";
import { issueToken, logout, me } from "./session.js";

export function createAuth(deps: AuthDeps): Auth {
  return {
    register: (context, origin, input) => register(deps, context, origin, input),
    login: (context, origin, input) => login(deps, context, origin, input),
    refresh: (origin, input) => refresh(deps, origin, input),
    tenantOf: (refreshToken) => tenantOf(deps, refreshToken),
    logout: (context, call, input = {}) => logout(deps, context, call, input),
    me: (context, call) => me(deps, context, call),
    issueToken: (context, call, input) => issueToken(deps, context, call, input),
  };
}
