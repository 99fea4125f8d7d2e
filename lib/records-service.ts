// RecordsService: what createRecordsService gives.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Router } from "express";
import type { HookEvent } from "./hooks/definition.js";
import type { HookHandler, HookScope } from "./hooks/handlers.js";
import type { Identified, Identify, RequireUser } from "./host/identify.js";
import type { TenantHandle } from "./host/tenant-handle.js";
import type { Stats } from "./stats/stats.js";
import type { Tenants } from "./tenants/manage.js";

/** The service: an Express router with the functions of the service in code (contract 10). */
export interface RecordsService extends Router {
  /** Beside an Express router it is the listener of a plain http server: `createServer(records)`. What is none of its routes is 404 then. */
  (req: IncomingMessage, res: ServerResponse): void;
  /** Resolves when storage and files are open. Requests that come earlier wait for it. Rejects where they cannot be opened; a later call tries again. */
  ready(): Promise<void>;
  /** Refuses new requests, drains those under way, streams, hook deliveries, mails and image work, and releases everything. A second call is harmless. */
  close(): Promise<void>;
  /** A new setup token (30 minutes, single use), for the first superadmin or for recovery. The former one dies. */
  createSetupToken(): Promise<{ readonly token: string; readonly expiresAt: string }>;
  /** False until the first setup. */
  hasSuperadmin(): Promise<boolean>;
  /** Tenants by id. */
  readonly tenants: Pick<Tenants, "list" | "get" | "create" | "update"> & { delete(tenantId: string): Promise<void> };
  /** The management of one tenant, and its data with `.as(…)`. */
  tenant(slug: string): TenantHandle;
  /** Calls the handler on the event, in one chain with the webhooks, by priority (default 0). Returns the function that ends it. */
  on(event: HookEvent, scope: HookScope, handler: HookHandler, priority?: number): () => void;
  /** Who made a request of the host's own. Throws Unauthorized where a credential is present but invalid. */
  identify(request: Parameters<Identify["identify"]>[0]): Promise<Identified>;
  /** Express middleware: users and keys pass with `req.records` set, all others get 401. */
  requireUser(): RequireUser;
  /** Requests whose tenant is unknown, newest first. Those of a tenant: `tenant(slug).requestLog`. */
  readonly requestLog: TenantHandle["requestLog"];
  /** Counts, sizes, streams, hashing slots and latencies of this process. */
  stats(): Promise<Stats>;
  [Symbol.asyncDispose](): Promise<void>;
}
