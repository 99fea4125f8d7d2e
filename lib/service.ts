// createRecordsService: providers, then features, then the router, in this order. Everything is connected here and
// nowhere else.
import { getHeapStatistics } from "node:v8";
import { createAdmin, type AdminIdentity } from "./admin/admin.js";
import { createApiKeys } from "./api-keys/api-keys.js";
import { createKeyAuthenticator } from "./api-keys/authenticate.js";
import { createAuthenticator } from "./auth/authenticator.js";
import { createAuth } from "./auth/create-auth.js";
import { createFamilies } from "./auth/families.js";
import { createOneTime } from "./auth/one-time/one-time.js";
import { createRefreshTokens } from "./auth/refresh-token.js";
import { createTokens } from "./auth/tokens.js";
import { compileCollections } from "./collections/compile.js";
import { createCollections, initialUsersOperations } from "./collections/manage.js";
import { describeError } from "./core/logger.js";
import { newId } from "./core/ids.js";
import { createFiles } from "./files/create-files.js";
import { createFileTokens } from "./files/file-tokens.js";
import { createFileAccess } from "./files/file-access.js";
import { mergeFiles } from "./files/merge.js";
import { createArgon2Hasher } from "./hasher/argon2.js";
import { limited } from "./hasher/limited.js";
import { createSlots, slotCount } from "./hasher/slots.js";
import { createHooks } from "./hooks/create-hooks.js";
import { indexHookRows } from "./hooks/stored.js";
import { createIdentify } from "./host/identify.js";
import { hostFiles } from "./host/files.js";
import { idOf, requestLogQueryOf } from "./host/input.js";
import { createTenantHandle, type HandleDeps } from "./host/tenant-handle.js";
import { cookieSession, createAdminRoutes } from "./http/admin.js";
import { createAdminUi } from "./http/admin-ui.js";
import { createApiKeyRoutes } from "./http/api-keys.js";
import { createAuthRoutes } from "./http/auth.js";
import { createCalls } from "./http/call.js";
import { createDispatch } from "./http/dispatch.js";
import { createFileTokenCaller } from "./http/file-token-caller.js";
import { createFileRoutes } from "./http/files.js";
import { readForm } from "./http/form.js";
import { createHealthRoute } from "./http/health.js";
import { createHookRoutes } from "./http/hooks.js";
import { createLogRoutes, requestLogEntry } from "./http/logs.js";
import { createMetaRoutes } from "./http/meta.js";
import { createOneTimeRoutes } from "./http/one-time.js";
import { createRealtimeRoutes } from "./http/realtime.js";
import { createRecordRoutes } from "./http/records.js";
import { createRouter } from "./http/router.js";
import { standAlone } from "./http/stand-alone.js";
import { createUserRoutes } from "./http/users.js";
import { createLogs } from "./logs/logs.js";
import { createOutgoing } from "./mailer/outgoing.js";
import { createOperations } from "./operations.js";
import { resolveOptions, type RecordsServiceOptions } from "./options.js";
import { createProviders } from "./providers.js";
import type { RecordsService } from "./records-service.js";
import { createAccess } from "./records/access.js";
import { etagOf } from "./records/present.js";
import { createRecords, type Records } from "./records/records.js";
import { createRealtime } from "./realtime/realtime.js";
import type { CollectionDefinition } from "./schema/collection.js";
import { createStart } from "./start.js";
import { createFigures } from "./stats/figures.js";
import { parseHostPort } from "./tenants/host-port.js";
import { createTenants } from "./tenants/manage.js";
import { createTenantRegistry } from "./tenants/registry.js";
import { defineTables, systemTables, tenantTables } from "./tenants/tables.js";
import { createSettings } from "./tenants/settings.js";
import { createUsers } from "./users/users.js";
import { createAdminEditor } from "./users/admin-editor.js";

/** Milliseconds that close() gives requests under way. */
const drainTime = 10_000;
/** Milliseconds that close() gives requests for mails and mails that are due. */
const mailTime = 5_000;

/** Throws OptionsError, which lists everything wrong with the options. Opens nothing before the first use or `ready()`. */
export function createRecordsService(input: RecordsServiceOptions = {}): RecordsService {
  const options = resolveOptions(input);
  const { clock, mode } = options;
  const { storage, blobs, mailer, logger, secrets } = createProviders(options);
  let closing: Promise<void> | undefined;

  // Tenants and their definitions
  const registry = createTenantRegistry({
    storage,
    compileCollections: (rows) => compileCollections(rows.map((row) => row.record as unknown as CollectionDefinition)),
    indexHooks: indexHookRows,
  });
  const figures = createFigures();
  const logs = createLogs({ storage, tenants: registry, clock, logger, retention: options.logRetention });
  const hooks = createHooks({
    storage, tenants: registry, clock, logger,
    log: {
      find: logs.hooks.find,
      write: (tenantId, entry) => {
        figures.hook(entry);
        logs.hooks.write(tenantId, entry);
      },
    },
    lookup: options.hooks.lookup, standardWebhooks: options.hooks.standardWebhooks, keepDeadDays: options.logRetention.days,
  });
  const files = createFiles({ blobs, storage, tenants: registry, clock, logger });

  // Accounts and credentials
  const { hashing } = options.authentication;
  const slots = createSlots({
    size: slotCount({ concurrency: hashing.concurrency, heapLimit: getHeapStatistics().heap_size_limit, memory: hashing.memory, threadPool: hashing.threadPool }),
    wait: hashing.timeout,
  });
  const hasher = limited(options.hasher ?? createArgon2Hasher(hashing), slots);
  const tokens = createTokens({ secret: secrets.token, clock });
  const refreshTokens = createRefreshTokens({ secret: secrets.token });
  const apiKeys = createApiKeys({ storage, clock });
  const users = createUsers({
    hasher,
    follow: [(context, userId) => families.removeOperations(context, userId), (context, userId) => apiKeys.revokeOperations(context, userId)],
  });
  const families = createFamilies({ clock, tokens, refreshTokens, users, accessTokenTtl: options.accessTokenTtl, refreshTokenTtl: options.refreshTokenTtl });
  const admin = createAdmin({ storage, clock, hasher, passwordErrors: users.passwordErrors, secrets, mode, tokens, tokenTtl: options.accessTokenTtl });
  const keyAuthenticator = createKeyAuthenticator({ storage, tenants: registry, clock, logger });
  const authenticator = createAuthenticator({
    tenants: registry, tokens, keys: keyAuthenticator,
    admin: { verifyToken: async (token) => asCaller(await admin.verifyToken(token)) },
  });
  const auth = createAuth({ tenants: registry, users, hooks, clock, families, refreshTokens, mergeFiles, present: files.present });
  const outgoing = createOutgoing({ mailer, logger });
  const defineMailJobs = defineTables({ mail_jobs: tenantTables.mail_jobs });
  const oneTime = createOneTime({ storage, tenants: registry, users, families, hooks, outgoing, defineMailJobs, clock, logger });

  // Records
  const access = createAccess(clock);
  const records: Records = createRecords({ access, hooks, files, mergeFiles, users: users.policy, clock, tenants: registry });
  const editor = createAdminEditor({ records: () => records });
  const fileAccess = createFileAccess({ files, records, etagOf, tenants: registry, clock });
  const fileTokens = createFileTokens({ secret: secrets.application, clock });
  const collections = createCollections({ tenants: registry, clock, removeFiles: files.removeCollection, filesLeft: files.committed });
  const settings = createSettings({ clock, parseHostPort });
  const tenants = createTenants({
    storage, registry, clock,
    initialOperations: (now) => initialUsersOperations(newId(clock.now()), now),
    removeFiles: files.removeTenant,
    forget: logs.forget,
  });
  const realtime = createRealtime({
    storage, tenants: registry, clock, logger, options: options.realtime,
    present: (path, collection, record) => files.present({ request: { mountPath: path } }, collection, record),
  });

  // HTTP
  const start = createStart(async () => {
    await storage.open();
    await storage.system.write({ operations: defineTables(systemTables) });
    await blobs.open();
    hooks.start();
    files.start();
    oneTime.start();
    await operations.open();
    await announceSetup();
  });
  const calls = createCalls({
    tenants: registry,
    authenticator,
    session: async (req) => {
      const identity = await cookieSession(admin, req);
      return identity === undefined ? undefined : asCaller(identity);
    },
    resolveTenant: options.resolveTenant,
    defaultTenant: options.defaultTenant,
  });
  const dispatch = createDispatch({
    calls, tenants: registry, logger,
    started: start.pending,
    isClosing: () => closing !== undefined,
    logRequest: (request) => {
      figures.request({ method: request.facts.method, path: request.facts.path, status: request.status, durationMs: request.durationMs });
      logs.requests.write(request.trace.tenantId, requestLogEntry(request));
    },
    now: () => clock.now(),
  });
  const { mountPath } = dispatch;
  const operations = createOperations({
    options, storage, blobs, secrets, registry, files, records, access, users, slots, figures,
    streams: realtime.stats, inFlight: dispatch.inFlight, mountPath,
  });
  const router = createRouter({
    ...operations.routes,
    records: createRecordRoutes({ records, clock, readForm: ({ req }, context, collection, id) => readForm(files, req, context, collection, id) }),
    files: createFileRoutes({ access: fileAccess, tokens: fileTokens, callerOfToken: createFileTokenCaller({ tokens: fileTokens, tenants: registry, clock }), hooks }),
    auth: createAuthRoutes({ auth, authenticator, tenants: registry }),
    oneTime: createOneTimeRoutes({ oneTime, tenants: registry, authenticator }),
    realtime: createRealtimeRoutes({ realtime }),
    health: createHealthRoute({ storage, started: start.run, isClosing: () => closing !== undefined }),
    admin: createAdminRoutes({ admin }),
    meta: createMetaRoutes({ tenants, settings, collections }),
    users: createUserRoutes({ editor }),
    apiKeys: createApiKeyRoutes({ apiKeys }),
    hooks: createHookRoutes({ hooks: hooks.manage }),
    logs: createLogRoutes({ logs }),
    adminUi: options.adminUi ? createAdminUi() : undefined,
  }, dispatch);

  async function announceSetup(): Promise<void> {
    if (!options.announceSetup || (await admin.hasSuperadmin())) return;
    const { token } = await admin.createSetupToken();
    logger.info({ setupToken: token, setupPage: `${mountPath()}/admin/` }, `setup token: ${token}`);
  }

  async function close(): Promise<void> {
    await start.settled();
    await realtime.close();
    await within(drainTime, dispatch.idle());
    await hooks.close();
    await oneTime.close(mailTime);
    await outgoing.close();
    await files.close();
    await keyAuthenticator.idle();
    await logs.close();
    await blobs.close();
    await storage.close();
    logger.info({}, "records-service is closed");
  }

  // In code
  const ready = (): Promise<void> => start.run();
  const handles = {
    registry, ready, collections, settings, editor, auth, oneTime, apiKeys, hooks: hooks.manage, logs, operations,
    data: {
      records, mountPath,
      watch: (context, call, collection, watched) => realtime.watch(context, call.caller, call.request.mountPath, collection, watched),
      files: hostFiles({ access: fileAccess, records, files, tokens: fileTokens, clock }),
    },
  } satisfies HandleDeps;
  const { identify, requireUser } = createIdentify({ calls, registry, ready, logger });
  const opened = <A extends unknown[], R>(run: (...given: A) => Promise<R>) => async (...given: A): Promise<R> => {
    await ready();
    return await run(...given);
  };

  // The first try begins at once; what fails is told by ready(), by requests and by /health.
  setImmediate(() => {
    if (closing === undefined) ready().catch((error: unknown) => logger.error({ error: describeError(error), ...(error instanceof Error && error.cause !== undefined ? { cause: describeError(error.cause) } : {}) }, "records-service could not start yet"));
  });

  return Object.assign(standAlone(router, logger), {
    ready,
    close: () => (closing ??= close()),
    createSetupToken: opened(admin.createSetupToken),
    hasSuperadmin: opened(admin.hasSuperadmin),
    tenants: {
      list: opened(tenants.list),
      get: opened((tenantId) => tenants.get(idOf(tenantId))),
      create: opened(tenants.create),
      update: opened((tenantId, body) => tenants.update(idOf(tenantId), body)),
      delete: opened((tenantId) => tenants.remove(idOf(tenantId))),
    },
    tenant: (slug: string) => createTenantHandle(handles, slug),
    on: hooks.on,
    requestLog: { list: opened((query?: object) => logs.requests.list(null, requestLogQueryOf(query))) },
    stats: opened(operations.stats.read),
    identify,
    requireUser,
    [Symbol.asyncDispose]: () => (closing ??= close()),
  }) as RecordsService;
}

/** The superadmin as a caller, with the end of what he presented: his streams end with it. */
function asCaller({ caller, expiresAt }: AdminIdentity): AdminIdentity["caller"] & { readonly expiresAt: number } {
  return { ...caller, expiresAt };
}

/** Waits for the promise, but not longer than this many milliseconds. */
async function within(time: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([promise, new Promise((resolve) => (timer = setTimeout(resolve, time)))]);
  clearTimeout(timer);
}
