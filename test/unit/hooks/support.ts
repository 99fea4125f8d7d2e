// A tenant on the embedded store with hooks, a receiver on a real socket, and a way to wait for what happens.
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, LookupFunction, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Collection } from "../../../lib/collections/collection.js";
import type { Call, Caller } from "../../../lib/core/call.js";
import { newId } from "../../../lib/core/ids.js";
import type { Logger } from "../../../lib/core/logger.js";
import { createHooks, type HooksFeature } from "../../../lib/hooks/create-hooks.js";
import type { HookInput } from "../../../lib/hooks/check.js";
import type { Envelope, HookSubject } from "../../../lib/hooks/hooks.js";
import type { HookLog, HookLogEntry } from "../../../lib/hooks/log-entry.js";
import { indexHookRows, type HookView } from "../../../lib/hooks/stored.js";
import { createSqliteStorage } from "../../../lib/storage/sqlite/sqlite.js";
import type { Storage } from "../../../lib/storage/storage.js";
import type { TenantContext, TenantRegistry } from "../../../lib/tenants/context.js";
import { createTenantRegistry } from "../../../lib/tenants/registry.js";
import { defineTables, systemTables, tenantTables } from "../../../lib/tenants/tables.js";

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly raw: Buffer;
  readonly envelope: Envelope;
}

export interface Receiver {
  readonly port: number;
  /** `127.0.0.1:port`, as an allowlist names it. */
  readonly host: string;
  readonly url: string;
  readonly received: Received[];
  /** Connections that were made, whatever came of them. */
  readonly connections: () => number;
  /** Resolves once no connection is open. */
  quiet(): Promise<void>;
  /** What it answers; replaced at will. */
  answer: (received: Received, response: ServerResponse, request: IncomingMessage) => void;
  /** Resolves once this many deliveries have come. */
  count(wanted: number): Promise<void>;
  close(): Promise<void>;
}

export const json = (value: unknown, status = 200) => (_received: Received, response: ServerResponse): void => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
};

export const empty = (status = 200) => (_received: Received, response: ServerResponse): void => {
  response.writeHead(status).end();
};

/** Runs the check after each change until it holds. */
export class Changes {
  private waiting: (() => void)[] = [];
  note(): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }
  async until(check: () => boolean): Promise<void> {
    while (!check()) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const changes = new Changes();
  let connections = 0;
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const raw = Buffer.concat(chunks);
      const one = { method: request.method ?? "", url: request.url ?? "", headers: request.headers, raw, envelope: JSON.parse(raw.toString()) as Envelope };
      received.push(one);
      receiver.answer(one, response, request);
      changes.note();
    });
  });
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    connections += 1;
    open.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      open.delete(socket);
      changes.note();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    port, host: `127.0.0.1:${port}`, url: `http://127.0.0.1:${port}/hook`, received,
    connections: () => connections,
    quiet: () => changes.until(() => open.size === 0),
    answer: empty(),
    count: (wanted) => changes.until(() => received.length >= wanted),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return receiver;
}

export interface Bench {
  readonly hooks: HooksFeature;
  readonly storage: Storage;
  readonly registry: TenantRegistry;
  readonly tenantId: string;
  /** Everything that the logger was told, as JSON text per line. */
  readonly lines: string[];
  readonly log: HookLogEntry[];
  readonly clock: { now(): number; advance(ms: number): void };
  context(): Promise<TenantContext>;
  logged(check: (log: readonly HookLogEntry[]) => boolean): Promise<void>;
  addTenant(slug: string, allowlist: readonly string[]): Promise<string>;
  allow(...hosts: string[]): Promise<void>;
  /** A hook as the API makes it. */
  add(input: HookInput): Promise<HookView>;
  /** A hook put straight into the store, past every check. */
  plant(input: Record<string, unknown>, secret?: string, headers?: Record<string, string>): Promise<string>;
  /** Another service on the same store. */
  restart(): HooksFeature;
  close(): Promise<void>;
}

const collection = (name: string): Collection => ({
  name, isUsers: name === "users",
  definition: { name, fields: [{ name: "title", type: "TEXT", required: true, unique: false, default: null, minLength: null, maxLength: 5000, pattern: null }] },
} as unknown as Collection);

export async function openBench(options: { lookup?: LookupFunction; standardWebhooks?: boolean } = {}): Promise<Bench> {
  const folder = await mkdtemp(join(tmpdir(), "hooks-"));
  const storage = createSqliteStorage({ folder });
  await storage.open();
  await storage.system.write({ operations: defineTables(systemTables), bump: true });
  const collections = new Map(["tasks", "notes", "users"].map((name) => [name, collection(name)]));
  const registry = createTenantRegistry({ storage, compileCollections: () => collections, indexHooks: indexHookRows });
  let offset = 0;
  const clock = { now: () => Date.now() + offset, advance: (ms: number) => { offset += ms; } };
  const lines: string[] = [];
  const write = (level: string) => (fields: object, message: string): void => void lines.push(JSON.stringify({ level, ...fields, message }));
  const logger: Logger = { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
  const entries: HookLogEntry[] = [];
  const changes = new Changes();
  const log: HookLog = {
    write(_tenantId, entry) {
      entries.push({ id: newId(clock.now()), ...entry });
      changes.note();
    },
    find: (_context, id) => Promise.resolve(entries.find((entry) => entry.id === id)),
  };
  const make = (): HooksFeature => createHooks({ storage, tenants: registry, clock, logger, log, ...options });
  const made = [make()];
  const hooks = made[0]!;

  async function addTenant(slug: string, allowlist: readonly string[]): Promise<string> {
    const id = newId(clock.now());
    const at = new Date(clock.now()).toISOString();
    await storage.tenant(id).write({ operations: [...defineTables(tenantTables), { type: "insert", table: "settings", record: { id: "settings", createdAt: at, updatedAt: at, webhookAllowlist: allowlist } }], bump: true });
    await storage.system.write({ operations: [{ type: "insert", table: "tenants", record: { id, createdAt: at, updatedAt: at, slug, name: slug } }], bump: true });
    return id;
  }
  const tenantId = await addTenant("acme", []);
  const bench: Bench = {
    hooks, storage, registry, tenantId, lines, log: entries, clock, addTenant,
    context: () => registry.get(tenantId),
    logged: (check) => changes.until(() => check(entries)),
    async allow(...hosts) {
      await storage.tenant(tenantId).write({ operations: [{ type: "update", table: "settings", id: "settings", set: { webhookAllowlist: hosts } }], bump: true });
    },
    async add(input) {
      return hooks.manage.create(await bench.context(), input);
    },
    async plant(input, secret = "s", headers = {}) {
      const id = newId(clock.now());
      const at = new Date(clock.now()).toISOString();
      const record = { id, createdAt: at, updatedAt: at, collection: "tasks", event: "beforeCreate", url: "http://127.0.0.1/", method: "POST", timeoutMs: 2000, priority: 0, enabled: true, includeSchema: false, forwardHeaders: "", failOpen: false, match: null, ...input };
      await storage.tenant(tenantId).write({ operations: [{ type: "insert", table: "hooks", record, hidden: { secret, headers: JSON.stringify(headers) } }], bump: true });
      return id;
    },
    restart() {
      const again = make();
      made.push(again);
      return again;
    },
    async close() {
      await Promise.all(made.map((feature) => feature.close(200)));
      await storage.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return bench;
}

export function makeCall(context: TenantContext, caller: Caller = { type: "guest" }, request: Partial<Call["request"]> = {}): Call {
  return {
    tenant: context.tenant, caller,
    request: { requestId: "req-1", method: "POST", path: "/api/collections/tasks", headers: { "user-agent": ["test"], "x-plan": ["gold"] }, mountPath: "", ...request },
    meter: { hookMs: 0 },
  };
}

export const userCaller = (id: string, role = "user"): Caller => ({ type: "user", user: { id, createdAt: "", updatedAt: "", role }, familyId: null, expiresAt: null });

export const subjectOf = (subject: Partial<HookSubject> = {}): HookSubject => ({ collection: "tasks", recordId: newId(Date.now()), body: { title: "a" }, record: null, ...subject });

/** The error that the promise rejects with. */
export async function failure(promise: Promise<unknown>): Promise<Error & { status?: number; body?: unknown }> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error("nothing was thrown");
}
