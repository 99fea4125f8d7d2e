// A tenant with users on the SQLite store, and everything of sign-in around it, without HTTP.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApiKeys } from "../../../lib/api-keys/api-keys.js";
import { createKeyAuthenticator } from "../../../lib/api-keys/authenticate.js";
import { createAuthenticator } from "../../../lib/auth/authenticator.js";
import { createAuth } from "../../../lib/auth/create-auth.js";
import { createFamilies } from "../../../lib/auth/families.js";
import type { Origin } from "../../../lib/auth/origin.js";
import { createRefreshTokens } from "../../../lib/auth/refresh-token.js";
import { createTokens } from "../../../lib/auth/tokens.js";
import { compileCollections } from "../../../lib/collections/compile.js";
import { initialUsersOperations } from "../../../lib/collections/manage.js";
import { usersTable } from "../../../lib/collections/collection.js";
import type { Call, Caller } from "../../../lib/core/call.js";
import { newId } from "../../../lib/core/ids.js";
import type { Json, JsonObject } from "../../../lib/core/record.js";
import type { Settings } from "../../../lib/core/tenant.js";
import { mergeFiles } from "../../../lib/files/merge.js";
import type { PasswordHasher } from "../../../lib/hasher/hasher.js";
import { createArgon2Hasher } from "../../../lib/hasher/argon2.js";
import { limited } from "../../../lib/hasher/limited.js";
import { createSlots } from "../../../lib/hasher/slots.js";
import type { ChainOutcome, Hooks, HookSubject } from "../../../lib/hooks/hooks.js";
import type { CollectionDefinition } from "../../../lib/schema/collection.js";
import { createSqliteStorage } from "../../../lib/storage/sqlite/sqlite.js";
import type { Hidden, Row } from "../../../lib/storage/storage.js";
import type { TenantContext } from "../../../lib/tenants/context.js";
import { createTenants } from "../../../lib/tenants/manage.js";
import { createTenantRegistry } from "../../../lib/tenants/registry.js";
import { createSettings } from "../../../lib/tenants/settings.js";
import { defineTables, systemTables } from "../../../lib/tenants/tables.js";
import { createUsers } from "../../../lib/users/users.js";

export const secret = "0123456789abcdef".repeat(4);
export const password = "correct horse battery";
export const start = Date.parse("2026-01-31T10:00:00.000Z");

/** Costs next to nothing, and is Argon2id all the same. */
export const cheap = { memory: 64, iterations: 1, parallelism: 1 } as const;

/** Counts, over a cheap hasher. */
export function countingHasher(inner: PasswordHasher = createArgon2Hasher(cheap)) {
  const counts = { hash: 0, verify: 0, verified: [] as string[] };
  const hasher: PasswordHasher = {
    hash: (text) => { counts.hash += 1; return inner.hash(text); },
    verify: (stored, text) => { counts.verify += 1; counts.verified.push(stored); return inner.verify(stored, text); },
    needsRehash: (stored) => inner.needsRehash(stored),
    verifyLegacy: (hash, salt, text) => { counts.verify += 1; return inner.verifyLegacy!(hash, salt, text); },
  };
  return { hasher, counts };
}

/** Hooks that note what they are asked, and answer as a test says. */
export function notingHooks() {
  const asked: { readonly event: string; readonly subject: HookSubject; readonly caller: Caller }[] = [];
  const answers = new Map<string, (subject: HookSubject) => ChainOutcome>();
  const note = (event: string, call: Call, subject: HookSubject): ChainOutcome => {
    asked.push({ event, subject, caller: call.caller });
    return answers.get(event)?.(subject) ?? { body: subject.body };
  };
  const hooks: Hooks = {
    beforeRequest: async (_context, call, subject) => note("beforeRequest", call, subject),
    before: async (_context, call, event, subject) => note(event, call, subject),
    hasAfter: () => false,
    after: () => [],
    committed: (_context, call, event, subject) => { note(event, call, subject); },
  };
  return { hooks, asked, answers };
}

export interface WorldOptions {
  readonly folder?: string;
  readonly hasher?: PasswordHasher;
  readonly slots?: { readonly size: number; readonly wait: number };
  readonly clock?: { time: number; now(): number };
}

export async function openWorld(options: WorldOptions = {}) {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), "records-auth-")));
  const clock = options.clock ?? { time: start, now(): number { return this.time; } };
  const storage = createSqliteStorage({ folder, clock });
  await storage.open();
  await storage.system.write({ operations: defineTables(systemTables) });
  const registry = createTenantRegistry({
    storage,
    compileCollections: (rows) => compileCollections(rows.map((row) => row.record as unknown as CollectionDefinition)),
    indexHooks: () => () => [],
  });
  const tenants = createTenants({ storage, registry, clock, initialOperations: (now) => initialUsersOperations(newId(clock.now()), now), removeFiles: async () => {}, forget: () => {} });
  const settings = createSettings({ clock, parseHostPort: (entry) => entry });
  const slots = createSlots(options.slots ?? { size: 64, wait: 2000 });
  const hasher = limited(options.hasher ?? createArgon2Hasher(cheap), slots);
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const apiKeys = createApiKeys({ storage, clock });
  const keyAuthenticator = createKeyAuthenticator({ storage, tenants: registry, clock, logger });
  const tokens = createTokens({ secret, clock });
  const refreshTokens = createRefreshTokens({ secret });
  const noted = notingHooks();
  const users = createUsers({ hasher, follow: [(context, userId) => families.removeOperations(context, userId), (context, userId) => apiKeys.revokeOperations(context, userId)] });
  const families = createFamilies({ clock, tokens, refreshTokens, users, accessTokenTtl: 900, refreshTokenTtl: 2_592_000 });
  const auth = createAuth({ tenants: registry, users, hooks: noted.hooks, clock, families, refreshTokens, mergeFiles, present: (_call, _collection, record) => record });
  const authenticator = createAuthenticator({ tenants: registry, tokens, keys: keyAuthenticator });
  const origin: Origin = {
    request: { requestId: "test", method: "POST", path: "/api/auth", headers: {}, mountPath: "" },
    meter: { hookMs: 0 },
  };

  async function context(slug = "acme"): Promise<TenantContext> {
    return (await registry.bySlug(slug))!;
  }

  return {
    folder, clock, storage, registry, tenants, slots, hasher, apiKeys, keyAuthenticator, tokens, refreshTokens, users, families, auth, authenticator, origin, noted, context,
    createTenant: (slug = "acme") => tenants.create({ slug }),
    async set(changes: JsonObject, slug = "acme"): Promise<Settings> {
      return await settings.update(await context(slug), changes);
    },
    async signUp(username: string, extra: JsonObject = {}, slug = "acme"): Promise<Row> {
      await this.set({ selfRegistration: true }, slug);
      const { id } = await auth.register(await context(slug), origin, { username, password, ...extra });
      return (await this.row(id, slug))!;
    },
    async login(username: string, text: string = password, slug = "acme") {
      return await auth.login(await context(slug), origin, { username, password: text });
    },
    async row(userId: string, slug = "acme"): Promise<Row | undefined> {
      return await (await context(slug)).store.table(usersTable).find(userId);
    },
    async patch(userId: string, changes: { set?: Record<string, Json>; setHidden?: Hidden }, slug = "acme"): Promise<void> {
      await (await context(slug)).store.write({ operations: [{ type: "update", table: usersTable, id: userId, ...changes }] });
    },
    async caller(token: string, slug = "acme"): Promise<{ context: TenantContext; call: Call }> {
      const identity = await authenticator.authenticate(`Bearer ${token}`, "127.0.0.1");
      return { context: await context(slug), call: { tenant: identity!.context!.tenant, caller: identity!.caller, request: origin.request, meter: origin.meter } };
    },
    async close(): Promise<void> {
      await keyAuthenticator.idle();
      await storage.close();
      if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

export type World = Awaited<ReturnType<typeof openWorld>>;

/** The error that the promise rejects with. */
export async function failure(promise: Promise<unknown>): Promise<{ status?: number; body?: unknown; rejection?: string; message: string; headers?: unknown }> {
  try {
    await promise;
  } catch (error) {
    return error as never;
  }
  throw new Error("it succeeded");
}
