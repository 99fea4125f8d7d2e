// What an operator needs: backup, import and export, explain, stats and metrics, put together as service.ts puts the
// rest together.
import { createSeal } from "./admin/sealed.js";
import { keyIndexInsert } from "./api-keys/api-keys.js";
import { keysTable, presentKey } from "./api-keys/key.js";
import { createBackups, type Backups } from "./backup/backup.js";
import type { BlobStore } from "./blobs/blobs.js";
import { usersTable, type Collection } from "./collections/collection.js";
import { compileTogether } from "./collections/compile.js";
import { timestamp } from "./core/clock.js";
import type { RecordValue } from "./core/record.js";
import { createExplain, type Asker, type Explain } from "./explain/explain.js";
import type { Files } from "./files/files.js";
import { fileKey, variantKey } from "./files/keys.js";
import { takeLease } from "./files/lease.js";
import type { Slots } from "./hasher/slots.js";
import { checkHook } from "./hooks/check.js";
import { readHooks, writeHook } from "./hooks/stored.js";
import { createBackupRoutes, type BackupRoutes } from "./http/backup.js";
import type { Handler } from "./http/exchange.js";
import { createExplainRoute } from "./http/explain.js";
import { createMetricsRoute } from "./http/metrics.js";
import { createStatsRoute } from "./http/stats.js";
import { createTransferRoutes, type TransferRoutes } from "./http/transfer.js";
import type { ResolvedOptions, Secrets } from "./options.js";
import type { Access } from "./records/access.js";
import type { Records } from "./records/records.js";
import type { RealtimeStats } from "./realtime/realtime.js";
import type { Figures } from "./stats/figures.js";
import { createMetrics } from "./stats/metrics.js";
import { createStats, type StatsReader } from "./stats/stats.js";
import type { Storage } from "./storage/storage.js";
import type { TenantContext, TenantRegistry } from "./tenants/context.js";
import { createTransfer, type Transfer } from "./transfer/transfer.js";
import type { Users } from "./users/users.js";

export interface OperationsDeps {
  readonly options: Pick<ResolvedOptions, "clock" | "metrics">;
  readonly storage: Storage;
  readonly blobs: BlobStore;
  readonly secrets: Secrets;
  readonly registry: TenantRegistry;
  readonly files: Files;
  readonly records: Records;
  readonly access: Access;
  readonly users: Users;
  readonly slots: Slots;
  readonly figures: Figures;
  readonly streams: () => RealtimeStats;
  readonly inFlight: () => number;
  readonly mountPath: () => string;
}

export interface Operations {
  readonly transfer: Transfer;
  readonly backups: Backups;
  readonly explain: Explain;
  readonly stats: StatsReader;
  readonly routes: {
    readonly transfer: TransferRoutes;
    readonly backup: BackupRoutes;
    readonly explain: Handler;
    readonly stats: Handler;
    /** Off unless asked for. */
    readonly metrics: Handler | undefined;
  };
  /** Loads what only metrics need. */
  open(): Promise<void>;
}

export function createOperations(deps: OperationsDeps): Operations {
  const { options, storage, blobs, secrets, registry, files, records, access, users, figures } = deps;
  const { clock } = options;
  const present = (collection: Collection, record: RecordValue): RecordValue => files.present({ request: { mountPath: deps.mountPath() } }, collection, record);

  const transfer = createTransfer({ records, clock, passwordErrors: users.passwordErrors, present });
  // Long enough for the headers of a hook.
  const seal = createSeal(secrets.application, "backup", 1_048_576);
  const backups = createBackups({
    storage, tenants: registry, blobs, clock, files, fileKey, variantKey, keyIndexInsert,
    seal: seal.seal, unseal: seal.open,
    compile: compileTogether,
    readHooks: ({ store }) => readHooks(store),
    checkHook: (input, known) => checkHook(input, null, known),
    hookRow: writeHook,
    takeLease: (name, duration) => takeLease(storage.system, clock, name, duration),
  });
  const explain = createExplain({ access, clock, users: users.policy, keyCaller: (context, keyId) => keyCaller(context, keyId, clock.now()), present });
  const stats = createStats({ storage, tenants: registry, clock, figures, slots: deps.slots, streams: deps.streams, inFlight: deps.inFlight });
  const metrics = options.metrics === false ? undefined : createMetrics({ figures, stats });

  return {
    transfer, backups, explain, stats,
    routes: {
      transfer: createTransferRoutes({ transfer }),
      backup: createBackupRoutes({ backups, now: () => timestamp(clock) }),
      explain: createExplainRoute({ explain }),
      stats: createStatsRoute({ stats }),
      metrics: metrics === undefined || options.metrics === false ? undefined : createMetricsRoute({ metrics, token: options.metrics.token }),
    },
    open: async () => metrics?.open(),
  };
}

/** A stored key as the caller that it makes; undefined where there is none, or its account is gone. */
async function keyCaller({ store }: TenantContext, keyId: string, now: number): Promise<Asker | undefined> {
  const row = await store.table(keysTable).find(keyId);
  if (row === undefined) return undefined;
  const { id, name, userId, bypassRules, bypassHooks, status, expiresAt } = presentKey(row.record);
  const user = await store.table(usersTable).find(userId);
  if (user === undefined) return undefined;
  const fault = status === "revoked" ? "is revoked" : expiresAt !== null && Date.parse(expiresAt) <= now ? "has expired" : user.hidden["active"] === false ? "is that of an inactive account" : null;
  return {
    caller: { type: "apiKey", user: user.record, keyId: id, keyName: name, bypassRules, bypassHooks, expiresAt: null },
    refused: fault === null ? null : `The API key ${fault}: it is refused`,
  };
}
