// Every call that the page makes, by name: the admin, meta and data routes of the HTTP interface.
import type { Explained } from "../../../explain/explain.js";
import type { Stats } from "../../../stats/stats.js";
import { ask, get, type Ask } from "./http.js";
import type {
  ApiKeyEntry, CollectionDefinition, DeliveryEntry, HookEntry, HookLogEntry, HookTest, JsonObject, RecordBody, RecordPage,
  RequestLogEntry, Settings, Superadmin, Tenant,
} from "./types.js";

interface Items<T> { readonly items: readonly T[] }
export interface LogPage<T> extends Items<T> { readonly nextCursor: string | null }

const part = encodeURIComponent;
const meta = (tenant: Tenant, rest: string) => `/api/meta/tenants/${part(tenant.id)}${rest}`;
const items = async <T>(path: string, options?: Ask) => (await get<Items<T>>(path, options)).items;
const body = async <T>(method: string, path: string, value?: unknown, options: Ask = {}) =>
  (await ask<T>(method, path, value === undefined ? options : { ...options, body: value })).data;

/** The superadmin's own account and session. */
export const admin = {
  me: () => get<Superadmin>("/api/admin/me", { plain401: true }),
  setup: (token: string, username: string, password: string) => body<unknown>("POST", "/api/admin/setup", { token, username, password }, { plain401: true }),
  login: (username: string, password: string) => body<{ twoFactorRequired: boolean }>("POST", "/api/admin/login", { username, password }, { plain401: true }),
  secondFactor: (code: string) => body<unknown>("POST", "/api/admin/login/2fa", { code }, { plain401: true }),
  logout: () => body<null>("POST", "/api/admin/logout", {}, { plain401: true }),
  changePassword: (password: string, newPassword: string) => body<null>("POST", "/api/admin/password", { password, newPassword }),
  startTwoFactor: (password: string) => body<{ secret: string; uri: string; recoveryCodes: readonly string[] }>("POST", "/api/admin/2fa", { password }),
  confirmTwoFactor: (code: string) => body<null>("POST", "/api/admin/2fa/confirm", { code }),
  stopTwoFactor: (password: string) => body<null>("DELETE", "/api/admin/2fa", { password }),
};

/** Tenants and what belongs to them. */
export const manage = {
  tenants: () => items<Tenant>("/api/meta/tenants"),
  createTenant: (value: { slug: string; name?: string }) => body<Tenant>("POST", "/api/meta/tenants", value),
  updateTenant: (tenant: Tenant, value: { slug?: string; name?: string }) => body<Tenant>("PATCH", meta(tenant, ""), value),
  removeTenant: (tenant: Tenant) => body<null>("DELETE", meta(tenant, "")),
  settings: (tenant: Tenant) => get<Settings>(meta(tenant, "/settings")),
  saveSettings: (tenant: Tenant, value: unknown) => body<Settings>("PATCH", meta(tenant, "/settings"), value),
  collections: (tenant: Tenant) => items<CollectionDefinition>(meta(tenant, "/collections")),
  collection: (tenant: Tenant, name: string) => get<CollectionDefinition>(meta(tenant, `/collections/${part(name)}`)),
  createCollection: (tenant: Tenant, value: unknown) => body<CollectionDefinition>("POST", meta(tenant, "/collections"), value),
  updateCollection: (tenant: Tenant, name: string, value: unknown) => body<CollectionDefinition>("PATCH", meta(tenant, `/collections/${part(name)}`), value),
  removeCollection: (tenant: Tenant, name: string) => body<null>("DELETE", meta(tenant, `/collections/${part(name)}`)),
  keys: (tenant: Tenant, signal?: AbortSignal) => items<ApiKeyEntry>(meta(tenant, "/api-keys"), { signal }),
  createKey: (tenant: Tenant, value: unknown) => body<ApiKeyEntry & { key: string }>("POST", meta(tenant, "/api-keys"), value),
  bindKey: (tenant: Tenant, id: string, allowedCidrs: readonly string[]) => body<null>("PATCH", meta(tenant, `/api-keys/${part(id)}`), { allowedCidrs }),
  revokeKey: (tenant: Tenant, id: string) => body<null>("POST", meta(tenant, `/api-keys/${part(id)}/revoke`), {}),
  removeKey: (tenant: Tenant, id: string) => body<null>("DELETE", meta(tenant, `/api-keys/${part(id)}`)),
  hooks: (tenant: Tenant, signal?: AbortSignal) => items<HookEntry>(meta(tenant, "/hooks"), { signal }),
  hook: (tenant: Tenant, id: string) => get<HookEntry>(meta(tenant, `/hooks/${part(id)}`)),
  createHook: (tenant: Tenant, value: unknown) => body<HookEntry>("POST", meta(tenant, "/hooks"), value),
  updateHook: (tenant: Tenant, id: string, value: unknown) => body<HookEntry>("PATCH", meta(tenant, `/hooks/${part(id)}`), value),
  removeHook: (tenant: Tenant, id: string) => body<null>("DELETE", meta(tenant, `/hooks/${part(id)}`)),
  testHook: (tenant: Tenant, id: string) => body<HookTest>("POST", meta(tenant, `/hooks/${part(id)}/test`), {}),
  redeliver: (tenant: Tenant, entryId: string) => body<unknown>("POST", meta(tenant, `/hook-log/${part(entryId)}/redeliver`), {}),
  deliveries: (tenant: Tenant, query: Ask["query"], signal?: AbortSignal) => get<LogPage<DeliveryEntry>>(meta(tenant, "/deliveries"), { query, signal }),
  hookLog: (tenant: Tenant, query: Ask["query"], signal?: AbortSignal) => get<LogPage<HookLogEntry>>(meta(tenant, "/hook-log"), { query, signal }),
  requestLog: (tenant: Tenant, query: Ask["query"], signal?: AbortSignal) => get<LogPage<RequestLogEntry>>(meta(tenant, "/request-log"), { query, signal }),
  user: (tenant: Tenant, id: string, signal?: AbortSignal) => get<RecordBody>(meta(tenant, `/users/${part(id)}`), { signal }),
  createUser: (tenant: Tenant, value: JsonObject) => body<RecordBody>("POST", meta(tenant, "/users"), value),
  updateUser: (tenant: Tenant, id: string, value: JsonObject) => body<RecordBody>("PATCH", meta(tenant, `/users/${part(id)}`), value),
  explain: (tenant: Tenant, value: unknown) => body<Explained>("POST", meta(tenant, "/explain"), value),
  stats: (signal?: AbortSignal) => get<Stats & JsonObject>("/api/meta/stats", { signal }),
  health: (signal?: AbortSignal) => get<{ db: boolean; status: string }>("/health", { signal, plain401: true }),
};

const collectionPath = (name: string, rest = "") => `/api/collections/${part(name)}${rest}`;

/** The data plane, as the superadmin: no rules, hooks and validation as for everybody. */
export const data = {
  list: (tenant: Tenant, name: string, query: Ask["query"], signal?: AbortSignal) => get<RecordPage>(collectionPath(name), { tenant: tenant.slug, query, signal }),
  read: async (tenant: Tenant, name: string, id: string, signal?: AbortSignal) => withTag(await ask<RecordBody>("GET", collectionPath(name, `/${part(id)}`), { tenant: tenant.slug, signal })),
  create: async (tenant: Tenant, name: string, value: JsonObject | FormData) => withTag(await ask<RecordBody>("POST", collectionPath(name), { tenant: tenant.slug, ...payload(value) })),
  update: async (tenant: Tenant, name: string, id: string, value: JsonObject | FormData, tag: string | null) =>
    withTag(await ask<RecordBody>("PATCH", collectionPath(name, `/${part(id)}`), { tenant: tenant.slug, headers: tag === null ? {} : { "If-Match": tag }, ...payload(value) })),
  remove: (tenant: Tenant, name: string, id: string) => body<null>("DELETE", collectionPath(name, `/${part(id)}`), undefined, { tenant: tenant.slug }),
  batch: (tenant: Tenant, requests: readonly JsonObject[]) => body<{ results: readonly JsonObject[] }>("POST", "/api/batch", { requests }, { tenant: tenant.slug }),
  subscribe: (tenant: Tenant, value: { clientId: string; subscriptions: readonly string[]; since?: string }) => body<unknown>("POST", "/api/realtime/subscribe", value, { tenant: tenant.slug }),
};

/** A record with the tag that guards its next change. */
export interface Tagged {
  readonly record: RecordBody;
  readonly tag: string | null;
}

function withTag(answer: { readonly data: RecordBody; readonly headers: Headers }): Tagged {
  return { record: answer.data, tag: answer.headers.get("ETag") };
}

function payload(value: JsonObject | FormData): Ask {
  return value instanceof FormData ? { raw: value } : { body: value };
}
