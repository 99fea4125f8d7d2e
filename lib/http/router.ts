// Every route of the service, grouped and ordered as in the interface, one line each.
import type { NextFunction, Request, Response, Router } from "express";
// `express.Router` is this very function; the rest of Express is not needed here and takes 60 ms to load.
import expressRouter from "router";
import { MethodNotAllowed, NotFound } from "../core/errors.js";
import type { Dispatch, Manner } from "./dispatch.js";
import type { Handler } from "./exchange.js";
import type { Routes } from "./routes.js";

type Methods = Readonly<Record<string, Handler>>;

/** The service's own prefixes; every other path is the host's. */
const prefixes = /^\/(?:api\/|(?:health|admin|authenticate)(?:\/|$))/;

const usual: Manner = { logged: true, waits: true };
const unlogged: Manner = { ...usual, logged: false };

/** Builds the router. It never touches requests outside of the service's own prefixes. */
export function createRouter(routes: Routes, dispatch: Dispatch): Router {
  const router = expressRouter({ caseSensitive: true, strict: true }) as unknown as Router;
  const { records, files, auth, oneTime, realtime, health, admin, meta, users, apiKeys, hooks, logs, transfer, backup, explain, stats, adminUi, metrics } = routes;

  // Records
  at("/api/collections/:collection/:id", { GET: records.view, PATCH: records.update, DELETE: records.remove });
  at("/api/collections/:collection", { GET: records.list, POST: records.create });
  at("/api/collections/:collection/:id/files/:field", { GET: files.download, DELETE: files.remove });
  at("/api/collections/:collection/:id/files/:field/:fileId", { GET: files.download, DELETE: files.remove });
  at("/api/batch", { POST: records.batch });
  at("/api/files/token", { POST: files.token });

  // Tenant auth
  at("/api/auth/register", { POST: auth.register });
  at("/api/auth/login", { POST: auth.login });
  at("/api/auth/refresh", { POST: auth.refresh });
  at("/api/auth/logout", { POST: auth.logout });
  at("/api/auth/me", { GET: auth.me });
  at("/api/auth/password/forgot", { POST: oneTime.forgot });
  at("/api/auth/password/reset", { POST: oneTime.reset });
  at("/api/auth/verify/request", { POST: oneTime.verifyRequest });
  at("/api/auth/verify/confirm", { POST: oneTime.verifyConfirm });
  at("/api/auth/issue-token", { POST: auth.issueToken });

  // Realtime
  at("/api/realtime", { GET: realtime.connect });
  at("/api/realtime/subscribe", { POST: realtime.subscribe });

  // Health
  at("/health", { GET: health }, { logged: false, waits: false });
  if (metrics !== undefined) at("/metrics", { GET: metrics }, unlogged);

  // Superadmin
  at("/api/admin/setup", { POST: admin.setup });
  at("/api/admin/login", { POST: admin.login });
  at("/api/admin/login/2fa", { POST: admin.loginCode });
  at("/api/admin/token", { POST: admin.token });
  at("/api/admin/token/2fa", { POST: admin.tokenCode });
  at("/api/admin/me", { GET: admin.me });
  at("/api/admin/logout", { POST: admin.logout });
  at("/api/admin/password", { POST: admin.password });
  at("/api/admin/2fa", { POST: admin.enrol, DELETE: admin.disable });
  at("/api/admin/2fa/confirm", { POST: admin.confirm });

  // Meta
  at("/api/meta/tenants", { GET: meta.listTenants, POST: meta.createTenant });
  at("/api/meta/tenants/:tenantId", { GET: meta.getTenant, PATCH: meta.updateTenant, DELETE: meta.removeTenant });
  at("/api/meta/tenants/:tenantId/settings", { GET: meta.getSettings, PATCH: meta.updateSettings });
  at("/api/meta/tenants/:tenantId/collections", { GET: meta.listCollections, POST: meta.createCollection });
  at("/api/meta/tenants/:tenantId/collections/:name", { GET: meta.getCollection, PATCH: meta.updateCollection, DELETE: meta.removeCollection });
  at("/api/meta/tenants/:tenantId/collections/:name/export", { GET: transfer.export });
  at("/api/meta/tenants/:tenantId/collections/:name/import", { POST: transfer.import });
  at("/api/meta/stats", { GET: stats });
  at("/api/meta/tenants/:tenantId/explain", { POST: explain });
  at("/api/meta/tenants/:tenantId/backup", { GET: backup.backup });
  at("/api/meta/tenants/:tenantId/restore", { POST: backup.restore });
  at("/api/meta/tenants/:tenantId/api-keys", { GET: apiKeys.list, POST: apiKeys.create });
  at("/api/meta/tenants/:tenantId/api-keys/:keyId", { GET: apiKeys.get, PATCH: apiKeys.update, DELETE: apiKeys.remove });
  at("/api/meta/tenants/:tenantId/api-keys/:keyId/revoke", { POST: apiKeys.revoke });
  at("/api/meta/tenants/:tenantId/hooks", { GET: hooks.listHooks, POST: hooks.createHook });
  at("/api/meta/tenants/:tenantId/hooks/:hookId", { GET: hooks.getHook, PATCH: hooks.updateHook, DELETE: hooks.removeHook });
  at("/api/meta/tenants/:tenantId/hooks/:hookId/test", { POST: hooks.testHook });
  at("/api/meta/tenants/:tenantId/hook-log", { GET: logs.hooks });
  at("/api/meta/tenants/:tenantId/hook-log/:id/redeliver", { POST: hooks.redeliver });
  at("/api/meta/tenants/:tenantId/deliveries", { GET: hooks.listDeliveries });
  at("/api/meta/tenants/:tenantId/request-log", { GET: logs.requests });
  at("/api/meta/tenants/:tenantId/users", { GET: users.list, POST: users.create });
  at("/api/meta/tenants/:tenantId/users/:id", { GET: users.get, PATCH: users.update, DELETE: users.remove });
  at("/api/meta/request-log", { GET: logs.instanceRequests });

  // Admin page
  if (adminUi !== undefined) {
    at("/authenticate", { GET: adminUi }, unlogged);
    at("/admin", { GET: adminUi }, unlogged);
    at("/admin/", { GET: adminUi }, unlogged);
    at("/admin/*path", { GET: adminUi }, unlogged);
  }

  router.use((req: Request, res: Response, next: NextFunction) => {
    const path = pathOf(req);
    if (!prefixes.test(path)) next();
    else dispatch.run(demandAdmin(path, notFound), req, res, {}, usual);
  });
  // A path that cannot be decoded reaches no handler.
  router.use((error: unknown, req: Request, res: Response, next: NextFunction) => {
    if (!prefixes.test(pathOf(req))) next(error);
    else dispatch.run(async () => Promise.reject(error), req, res, {}, usual);
  });
  return router;

  /** One path with the handlers of its methods; every other method is 405. HEAD is a GET without a body. */
  function at(path: string, methods: Methods, manner = usual): void {
    const allow = Object.keys(methods).flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
    const refuse: Handler = async () => {
      throw new MethodNotAllowed(allow);
    };
    const guarded = demandAdmin(path, refuse);
    router.all(path, (req: Request, res: Response) => {
      const handler = methods[req.method === "HEAD" ? "GET" : req.method] ?? guarded;
      dispatch.run(handler, req, res, req.params as Record<string, string>, manner);
    });
  }
}

/** Without Express's prototypes a request has no `path`. */
function pathOf({ url = "/" }: Request): string {
  return url.split("?", 1)[0]!;
}

const notFound: Handler = async () => {
  throw new NotFound();
};

/** Below /api/meta nobody but the superadmin learns which paths and methods there are. */
function demandAdmin(path: string, handler: Handler): Handler {
  if (!path.startsWith("/api/meta")) return handler;
  return async (exchange) => {
    await exchange.superadmin();
    return await handler(exchange);
  };
}
