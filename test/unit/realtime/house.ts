// A small house for realtime: a SQLite store in a folder of its own, tenants, records written straight to the store,
// and a server with the two realtime routes. Callers are named by the Authorization header.
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Caller } from "../../../lib/core/call.js";
import { timestamp } from "../../../lib/core/clock.js";
import { ServiceError, Unauthorized } from "../../../lib/core/errors.js";
import { newId } from "../../../lib/core/ids.js";
import type { Json, JsonObject, RecordValue } from "../../../lib/core/record.js";
import { compileCollections } from "../../../lib/collections/compile.js";
import { usersTable } from "../../../lib/collections/collection.js";
import { createCollections, initialUsersOperations } from "../../../lib/collections/manage.js";
import type { Exchange } from "../../../lib/http/exchange.js";
import { createRealtimeRoutes } from "../../../lib/http/realtime.js";
import { createRealtime } from "../../../lib/realtime/realtime.js";
import type { CollectionDefinition } from "../../../lib/schema/collection.js";
import { createSqliteStorage } from "../../../lib/storage/sqlite/sqlite.js";
import type { TenantContext } from "../../../lib/tenants/context.js";
import { createTenants } from "../../../lib/tenants/manage.js";
import { defineTables, systemTables } from "../../../lib/tenants/tables.js";
import { createTenantRegistry } from "../../../lib/tenants/registry.js";

export interface HouseOptions {
  readonly folder?: string;
  readonly heartbeat?: number;
  readonly maxBuffer?: number;
  readonly history?: number;
  /** What stands before the routes, as a host's middleware would. */
  readonly middleware?: (req: IncomingMessage, res: ServerResponse, next: () => void) => void;
}

export const quiet = { debug() {}, info() {}, warn() {}, error() {} };

export async function openHouse(options: HouseOptions = {}) {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), "realtime-")));
  const clock = { offset: 0, now() { return Date.now() + this.offset; } };
  const storage = createSqliteStorage({ folder });
  await storage.open();
  await storage.system.write({ operations: defineTables(systemTables) });
  const registry = createTenantRegistry({
    storage,
    compileCollections: (rows) => compileCollections(rows.map((row) => row.record as unknown as CollectionDefinition)),
    indexHooks: () => () => [],
  });
  const tenants = createTenants({
    storage, registry, clock,
    initialOperations: (now) => initialUsersOperations(newId(clock.now()), now),
    removeFiles: async () => undefined,
    forget: () => undefined,
  });
  const collections = createCollections({ tenants: registry, clock, removeFiles: async () => undefined, filesLeft: () => undefined });
  const realtime = createRealtime({
    storage, tenants: registry, clock, logger: quiet,
    present: (mountPath, collection, record) => ({ ...record, url: `${mountPath}/api/collections/${collection.name}/${record.id}` }),
    options: { heartbeat: options.heartbeat ?? 30_000, maxBuffer: options.maxBuffer ?? 1_048_576, history: options.history ?? 10_000 },
  });
  const routes = createRealtimeRoutes({ realtime });
  const callers = new Map<string, { readonly tenantId: string; readonly caller: () => Promise<Caller> }>();

  function exchangeOf(req: IncomingMessage, res: ServerResponse): Exchange {
    const facts = { requestId: "test", method: req.method ?? "", path: req.url ?? "", headers: {}, mountPath: String(req.headers["x-mount"] ?? "") };
    const refuse = async (): Promise<never> => { throw new Unauthorized(); };
    return {
      req, res, facts, params: {}, query: () => ({}),
      trace: { caller: null, tenantId: null, rejection: null, rejectedKey: null, hookMs: 0 },
      async json() {
        const chunks: Buffer[] = [];
        for await (const chunk of req) chunks.push(chunk as Buffer);
        return JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
      },
      async call() {
        const found = callers.get(req.headers.authorization ?? "");
        if (found === undefined) throw new Unauthorized();
        const context = await registry.get(found.tenantId);
        return { context, call: { tenant: context.tenant, caller: await found.caller(), request: facts, meter: { hookMs: 0 } } };
      },
      tenantHint: async () => undefined, superadmin: refuse, managedTenant: refuse,
    };
  }

  const server = createServer((req, res) => {
    const handle = async (): Promise<void> => {
      try {
        const reply = await (req.method === "POST" ? routes.subscribe : routes.connect)(exchangeOf(req, res));
        if (reply !== undefined) res.writeHead(reply.status, reply.headers as Record<string, string>).end(JSON.stringify(reply.json));
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        res.writeHead(error.status).end(JSON.stringify(error.body));
      }
    };
    if (options.middleware === undefined) void handle();
    else options.middleware(req, res, () => void handle());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  return {
    folder, clock, storage, registry, tenants, collections, realtime, server,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,

    async tenant(slug = `t${newId(Date.now()).slice(-12)}`) {
      const { id } = await tenants.create({ slug });
      return createHand(id);
    },

    async close({ keep = false } = {}) {
      await realtime.close();
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeIdleConnections();
      });
      await storage.close();
      if (!keep) await rm(folder, { recursive: true, force: true });
    },
  };

  /** What the rest of the service would do to one tenant. */
  function createHand(tenantId: string) {
    const context = (): Promise<TenantContext> => registry.get(tenantId);
    return {
      id: tenantId,
      context,
      async collection(name: string, definition: JsonObject = {}) {
        await collections.create(await context(), {
          name, viewRule: "true",
          fields: [{ name: "title", type: "TEXT" }, { name: "owner", type: "TEXT" }, { name: "group", type: "TEXT" }, { name: "rank", type: "NUMBER" }],
          ...definition,
        });
      },
      async create(collection: string, values: Record<string, Json>): Promise<RecordValue> {
        const { store, collections: known } = await context();
        const now = timestamp(clock);
        const record: RecordValue = { id: newId(clock.now()), createdAt: now, updatedAt: now, ...values };
        await store.write({ operations: [{ type: "insert", table: known.get(collection)!.table, record, log: { collection, content: "record" } }] });
        return record;
      },
      async update(collection: string, id: string, set: Record<string, Json>) {
        const { store, collections: known } = await context();
        await store.write({ operations: [{ type: "update", table: known.get(collection)!.table, id, set: { ...set, updatedAt: timestamp(clock) }, log: { collection, content: "record" } }] });
      },
      async remove(collection: string, id: string) {
        const { store, collections: known } = await context();
        await store.write({ operations: [{ type: "remove", table: known.get(collection)!.table, id, log: { collection, content: "record" } }] });
      },
      /** A user, and the Authorization header that stands for him. */
      async user(username: string, values: Record<string, Json> = {}) {
        const { store } = await context();
        const now = timestamp(clock);
        const record: RecordValue = { id: newId(clock.now()), createdAt: now, updatedAt: now, username, role: "user", emailVerified: false, ...values };
        await store.write({ operations: [{ type: "insert", table: usersTable, record, hidden: { generation: 1, active: true }, log: { collection: "users", content: "id" } }] });
        return { id: record.id, token: this.token(record.id) };
      },
      async changeUser(id: string, { set = {}, hidden = {}, revoke = false }: { set?: Record<string, Json>; hidden?: Record<string, boolean>; revoke?: boolean }) {
        const { store } = await context();
        await store.write({ operations: [{ type: "update", table: usersTable, id, set, setHidden: hidden, increment: revoke ? { generation: 1 } : {}, log: { collection: "users", content: "id" } }] });
      },
      async removeUser(id: string) {
        const { store } = await context();
        await store.write({ operations: [{ type: "remove", table: usersTable, id, log: { collection: "users", content: "id" } }] });
      },
      /** Tells the log of a change in a table that has no records. */
      async logged(collection: string, id: string, action: "update" | "remove" = "remove") {
        const { store } = await context();
        const now = timestamp(clock);
        await store.write({ operations: [{ type: "insert", table: "deliveries", record: { id, createdAt: now, updatedAt: now } }] });
        await store.write({ operations: [{ type: action, table: "deliveries", id, log: { collection, content: "id" } }] });
      },
      /** A token of this generation: one that was revoked since is refused, as the authenticator would. */
      token(userId: string, { familyId = null, expiresAt = null, generation = 1 }: { familyId?: string | null; expiresAt?: number | null; generation?: number } = {}) {
        const token = `Bearer ${newId(Date.now())}`;
        callers.set(token, { tenantId, caller: async () => ({ type: "user", user: await userOf(userId, generation), familyId, expiresAt }) });
        return token;
      },
      key(userId: string, { keyId = "key", bypassRules = false, expiresAt = null }: { keyId?: string; bypassRules?: boolean; expiresAt?: number | null } = {}) {
        const token = `Bearer ${newId(Date.now())}`;
        callers.set(token, { tenantId, caller: async () => ({ type: "apiKey", user: await userOf(userId), keyId, keyName: "test", bypassRules, bypassHooks: false, expiresAt }) });
        return token;
      },
      superadmin() {
        const token = `Bearer ${newId(Date.now())}`;
        callers.set(token, { tenantId, caller: async () => ({ type: "superadmin", id: "superadmin" }) });
        return token;
      },
      guest() {
        const token = `Bearer ${newId(Date.now())}`;
        callers.set(token, { tenantId, caller: async () => ({ type: "guest" }) });
        return token;
      },
    };

    async function userOf(userId: string, generation?: number): Promise<RecordValue> {
      const row = await (await context()).store.table(usersTable).find(userId);
      if (row === undefined || (generation !== undefined && row.hidden["generation"] !== generation)) throw new Unauthorized();
      return row.record;
    }
  }
}

export type House = Awaited<ReturnType<typeof openHouse>>;
export type Hand = Awaited<ReturnType<House["tenant"]>>;
