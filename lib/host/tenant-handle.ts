// TenantHandle: the management of one tenant for host code (contract 10). Everything that HTTP does, as functions.
import { randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import type { Call, RequestFacts } from "../core/call.js";
import { BadRequest, NotFound, Unauthorized } from "../core/errors.js";
import type { JsonObject, RecordValue } from "../core/record.js";
import type { Settings, Tenant } from "../core/tenant.js";
import type { ApiKeys } from "../api-keys/api-keys.js";
import type { Auth, TokenPair } from "../auth/auth.js";
import type { OneTime } from "../auth/one-time/one-time.js";
import type { ArchiveSource, RestoreOptions } from "../backup/backup.js";
import type { Progress } from "../backup/make-backup.js";
import type { RestoreReport } from "../backup/restore-backup.js";
import type { Collections } from "../collections/manage.js";
import type { HookManagement } from "../hooks/manage.js";
import type { Explained } from "../explain/explain.js";
import type { Question } from "../explain/question.js";
import type { Operations } from "../operations.js";
import type { HookLogQuery, Logs } from "../logs/logs.js";
import type { CollectionDefinition } from "../schema/collection.js";
import { readFormat, type TransferFormat } from "../transfer/formats.js";
import type { ImportInput, ImportReport } from "../transfer/import.js";
import type { SettingsManagement } from "../tenants/settings.js";
import type { TenantContext, TenantRegistry } from "../tenants/context.js";
import type { AdminEditor } from "../users/admin-editor.js";
import { checkWho, hostCall, type Who } from "./call.js";
import { bodyOf, idOf, optionsOf, requestLogQueryOf, streamOf } from "./input.js";
import { createDataHandle, type DataDeps, type DataHandle } from "./data-handle.js";

export interface HandleDeps {
  readonly registry: TenantRegistry;
  /** Resolves once the service is open. */
  readonly ready: () => Promise<void>;
  readonly collections: Collections;
  readonly settings: SettingsManagement;
  readonly editor: AdminEditor;
  readonly auth: Auth;
  readonly oneTime: OneTime;
  readonly apiKeys: ApiKeys;
  readonly hooks: HookManagement;
  readonly logs: Logs;
  readonly operations: Pick<Operations, "transfer" | "backups" | "explain">;
  readonly data: Omit<DataDeps, "context">;
}

type Tail<F> = F extends (context: TenantContext, ...rest: infer R) => infer Result ? (...rest: R) => Result : never;

export interface TenantHandle {
  readonly slug: string;
  /** The tenant itself. Throws NotFound. */
  get(): Promise<Tenant>;
  readonly collections: {
    list(): Promise<CollectionDefinition[]>;
    get(name: string): Promise<CollectionDefinition>;
    create(input: object): Promise<CollectionDefinition>;
    update(name: string, input: object): Promise<CollectionDefinition>;
    delete(name: string): Promise<void>;
    /** The records as text, read while the stream is. */
    export(name: string, options?: { readonly format?: TransferFormat; readonly onProgress?: (records: number) => void }): Promise<Readable>;
    /** Checks every row, and unless it is a dry run makes a record of each, with hooks. Bad rows: ValidationFailed, nothing written. */
    import(name: string, input: Omit<ImportInput, "dryRun"> & { readonly dryRun?: boolean }): Promise<ImportReport>;
  };
  readonly settings: { get(): Promise<Settings>; update(input: object): Promise<Settings> };
  /** The superadmin's editor of accounts: may set `role`, `active`, `emailVerified` and hashes; fires create hooks, no register hooks. */
  readonly users: {
    list(page?: { readonly offset?: number; readonly limit?: number }): Promise<{ readonly items: readonly JsonObject[]; readonly hasMore: boolean }>;
    get(id: string): Promise<JsonObject>;
    create(input: object): Promise<JsonObject & { readonly id: string }>;
    update(id: string, input: object): Promise<JsonObject>;
    delete(id: string): Promise<void>;
  };
  readonly auth: {
    register(input: object): Promise<RecordValue>;
    login(input: object): Promise<TokenPair>;
    refresh(input: { readonly refreshToken: string }): Promise<TokenPair>;
    /** Ends all sessions of the user. */
    logout(who: { readonly userId: string }): Promise<void>;
    me(who: { readonly userId: string }): Promise<RecordValue>;
    issueToken(who: { readonly userId: string }, input: { readonly userId: string }): Promise<TokenPair>;
    forgotPassword(input: { readonly email: string }): Promise<void>;
    resetPassword(input: { readonly token: string; readonly password: string }): Promise<void>;
    requestVerification(input: { readonly email: string }): Promise<void>;
    confirmVerification(input: { readonly token: string }): Promise<void>;
  };
  readonly apiKeys: {
    list: Tail<ApiKeys["list"]>;
    get: Tail<ApiKeys["get"]>;
    create(input: object): ReturnType<ApiKeys["create"]>;
    update(keyId: string, input: object): ReturnType<ApiKeys["update"]>;
    revoke: Tail<ApiKeys["revoke"]>;
    delete: Tail<ApiKeys["remove"]>;
  };
  readonly hooks: {
    list: Tail<HookManagement["list"]>;
    get: Tail<HookManagement["get"]>;
    create(input: object): ReturnType<HookManagement["create"]>;
    update(hookId: string, input: object): ReturnType<HookManagement["update"]>;
    delete: Tail<HookManagement["remove"]>;
    test: Tail<HookManagement["test"]>;
    /** After-hook deliveries that are not delivered: dead ones, or with `state` pending ones. */
    deliveries: Tail<HookManagement["deliveries"]>;
    /** Sends one again, by its id or by one of the hook log. */
    redeliver: Tail<HookManagement["redeliver"]>;
  };
  readonly requestLog: { list(query?: object): ReturnType<Logs["requests"]["list"]> };
  readonly hookLog: { list(query?: object): ReturnType<Logs["hooks"]["list"]> };
  /** Everything of the tenant as one zip, made while it is read. */
  backup(options?: { readonly onProgress?: (progress: Progress) => void }): Promise<Readable>;
  /** Into this tenant, which must be empty; whole or not at all. Throws Conflict, BadRequest. */
  restore(archive: ArchiveSource, options?: RestoreOptions): Promise<RestoreReport>;
  /** What would be decided about an operation, and why; writes nothing. */
  explain(question: Omit<Question, "body"> & Partial<Pick<Question, "body">>): Promise<Explained>;
  /** The tenant's data in the name of a caller. There is no default caller. */
  as(who: Who): DataHandle;
}

export function createTenantHandle(deps: HandleDeps, slug: string): TenantHandle {
  const { collections, settings, editor, auth, oneTime, apiKeys, hooks, logs } = deps;
  const { transfer, backups, explain } = deps.operations;

  async function context(): Promise<TenantContext> {
    await deps.ready();
    // What is no text is no tenant's, whatever a storage would make of it.
    const found = typeof slug === "string" ? await deps.registry.bySlug(slug) : undefined;
    if (found === undefined) throw new NotFound("Unknown tenant");
    return found;
  }

  async function call(who: Who, method: string, path: string): Promise<{ context: TenantContext; call: Call }> {
    const current = await context();
    return { context: current, call: await hostCall(current, who, { method, path, mountPath: deps.data.mountPath() }) };
  }

  function origin(path: string): { request: RequestFacts; meter: { hookMs: number } } {
    return { request: { requestId: randomUUID(), method: "POST", path, headers: {}, mountPath: deps.data.mountPath() }, meter: { hookMs: 0 } };
  }

  return {
    slug,
    get: async () => (await context()).tenant,
    collections: {
      list: async () => collections.list(await context()),
      get: async (name) => collections.get(await context(), name),
      create: async (input) => collections.create(await context(), input),
      update: async (name, input) => collections.update(await context(), name, input),
      delete: async (name) => collections.remove(await context(), name),
      export: async (name, options) => {
        const { format, onProgress } = optionsOf(options, { format: "text", onProgress: "function" });
        return transfer.export(await context(), name, { format: readFormat(format, "ndjson"), onProgress });
      },
      import: async (name, input) => {
        const { format, open, dryRun = false, delimiter, onProgress } = optionsOf(input, { format: "text", open: "function", dryRun: "flag", delimiter: "text", onProgress: "function" });
        if (open === undefined) throw new BadRequest("open must be a function that gives the text from its beginning");
        const as = await call("system", "POST", `/api/collections/${idOf(name)}`);
        return await transfer.import(as.context, as.call, name, { format: readFormat(format, "json"), open: async () => streamOf(await open(), "what open gives"), dryRun, delimiter, onProgress });
      },
    },
    settings: {
      get: async () => settings.get(await context()),
      update: async (input) => settings.update(await context(), input),
    },
    users: {
      list: async (page) => {
        const { offset = 0, limit = 25 } = optionsOf(page, { offset: "integer", limit: "limit" });
        return (await editor.list(await context(), { offset: Math.max(0, offset), limit })) as { items: readonly JsonObject[]; hasMore: boolean };
      },
      get: async (id) => editor.get(await context(), idOf(id)),
      create: async (input) => {
        const as = await call("system", "POST", "/api/collections/users");
        return (await editor.create(as.context, as.call, bodyOf(input))) as JsonObject & { readonly id: string };
      },
      update: async (id, input) => {
        const as = await call("system", "PATCH", `/api/collections/users/${idOf(id)}`);
        return await editor.update(as.context, as.call, id, bodyOf(input));
      },
      delete: async (id) => {
        const as = await call("system", "DELETE", `/api/collections/users/${idOf(id)}`);
        await editor.remove(as.context, as.call, id);
      },
    },
    auth: {
      register: async (input) => (await auth.register(await context(), origin("/api/auth/register"), bodyOf(input))).record,
      login: async (input) => auth.login(await context(), origin("/api/auth/login"), bodyOf(input)),
      refresh: async (input) => {
        const { tenant } = await context();
        const body = bodyOf(input);
        if ((await auth.tenantOf(body["refreshToken"]))?.tenant.id !== tenant.id) throw new Unauthorized();
        return auth.refresh(origin("/api/auth/refresh"), body);
      },
      logout: async (who) => {
        const as = await call(who, "POST", "/api/auth/logout");
        await auth.logout(as.context, as.call);
      },
      me: async (who) => {
        const as = await call(who, "GET", "/api/auth/me");
        return await auth.me(as.context, as.call);
      },
      issueToken: async (who, input) => {
        const as = await call(who, "POST", "/api/auth/issue-token");
        return await auth.issueToken(as.context, as.call, bodyOf(input));
      },
      forgotPassword: async (input) => oneTime.forgotPassword(await context(), origin("/api/auth/password/forgot"), bodyOf(input)),
      resetPassword: async (input) => {
        await context();
        await oneTime.resetPassword(origin("/api/auth/password/reset"), bodyOf(input));
      },
      requestVerification: async (input) => oneTime.requestVerification(await context(), origin("/api/auth/verify/request"), bodyOf(input)),
      confirmVerification: async (input) => {
        await context();
        await oneTime.confirmVerification(origin("/api/auth/verify/confirm"), bodyOf(input));
      },
    },
    apiKeys: {
      list: async () => apiKeys.list(await context()),
      get: async (id) => apiKeys.get(await context(), idOf(id)),
      create: async (input) => apiKeys.create(await context(), bodyOf(input)),
      update: async (id, input) => apiKeys.update(await context(), idOf(id), bodyOf(input)),
      revoke: async (id) => apiKeys.revoke(await context(), idOf(id)),
      delete: async (id) => apiKeys.remove(await context(), idOf(id)),
    },
    hooks: {
      list: async () => hooks.list(await context()),
      get: async (id) => hooks.get(await context(), id),
      create: async (input) => hooks.create(await context(), input as JsonObject),
      update: async (id, input) => hooks.update(await context(), id, input as JsonObject),
      delete: async (id) => hooks.remove(await context(), id),
      test: async (id) => hooks.test(await context(), id),
      deliveries: async (query) => hooks.deliveries(await context(), optionsOf(query, { state: "text", limit: "limit", cursor: "text" })),
      redeliver: async (id) => hooks.redeliver(await context(), id),
    },
    requestLog: { list: async (query) => logs.requests.list(await context(), requestLogQueryOf(query)) },
    hookLog: { list: async (query) => logs.hooks.list(await context(), optionsOf<HookLogQuery>(query, { hookId: "text", requestId: "text", status: "integer", limit: "limit", cursor: "text" })) },
    backup: async (options) => backups.make(await context(), optionsOf(options, { onProgress: "function" })),
    restore: async (archive, options) => backups.restore(await context(), archive, optionsOf(options, { mostBytes: "number", onProgress: "function" })),
    explain: async (question) => explain(await context(), question),
    as: (who) => createDataHandle({ ...deps.data, context }, checkWho(who)),
  };
}
