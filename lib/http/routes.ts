// The handlers of every route group, as service.ts puts them together for the router.
import type { AdminRoutes } from "./admin.js";
import type { ApiKeyRoutes } from "./api-keys.js";
import type { AuthRoutes } from "./auth.js";
import type { BackupRoutes } from "./backup.js";
import type { Handler } from "./exchange.js";
import type { FileRoutes } from "./files.js";
import type { HookRoutes } from "./hooks.js";
import type { LogRoutes } from "./logs.js";
import type { createMetaRoutes } from "./meta.js";
import type { OneTimeRoutes } from "./one-time.js";
import type { RealtimeRoutes } from "./realtime.js";
import type { RecordRoutes } from "./records.js";
import type { TransferRoutes } from "./transfer.js";
import type { createUserRoutes } from "./users.js";

export interface Routes {
  readonly records: RecordRoutes;
  readonly files: FileRoutes;
  readonly auth: AuthRoutes;
  readonly oneTime: OneTimeRoutes;
  readonly realtime: RealtimeRoutes;
  readonly health: Handler;
  /** Off unless asked for. */
  readonly metrics: Handler | undefined;
  readonly explain: Handler;
  readonly stats: Handler;
  readonly admin: AdminRoutes;
  readonly meta: ReturnType<typeof createMetaRoutes>;
  readonly users: ReturnType<typeof createUserRoutes>;
  readonly apiKeys: ApiKeyRoutes;
  readonly hooks: HookRoutes;
  readonly logs: LogRoutes;
  readonly transfer: TransferRoutes;
  readonly backup: BackupRoutes;
  /** Off where the option `adminUi` is false. */
  readonly adminUi: Handler | undefined;
}
