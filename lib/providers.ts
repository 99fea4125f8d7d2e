// Providers: storage, blobs, mailer, logger and secrets, as the options name them or as they come with the package.
import { join } from "node:path";
import type { BlobStore } from "./blobs/blobs.js";
import { createDiskBlobs } from "./blobs/disk.js";
import { createGridFsBlobs } from "./blobs/gridfs.js";
import type { Logger } from "./core/logger.js";
import { createDefaultLogger } from "./log.js";
import type { Mailer, SmtpOptions } from "./mailer/mailer.js";
import { createSmtpMailer } from "./mailer/smtp.js";
import { OptionsError, type ResolvedOptions, type Secrets } from "./options.js";
import { completeSecrets, repeatedSecrets } from "./secrets.js";
import { isMongoUrl } from "./storage/place.js";
import type { Storage } from "./storage/storage.js";
import { createMongoStorage, type MongoStorage } from "./storage/mongodb/mongodb.js";
import { createSqliteStorage } from "./storage/sqlite/sqlite.js";

export interface Providers {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  /** undefined: no mail goes out. */
  readonly mailer: Mailer | undefined;
  readonly logger: Logger;
  readonly secrets: Secrets;
}

/** Where everything lives. Opens nothing yet. */
export function createStores({ storage, files, clock }: Pick<ResolvedOptions, "storage" | "files" | "clock">): Pick<Providers, "storage" | "blobs"> {
  const mongo = typeof storage === "string" && isMongoUrl(storage) ? createMongoStorage({ url: storage, clock }) : undefined;
  const folder = typeof storage === "string" && mongo === undefined ? storage : undefined;
  return {
    storage: mongo ?? (typeof storage === "string" ? createSqliteStorage({ folder: storage, clock }) : storage),
    blobs: typeof files === "object" ? files : mongo !== undefined && files === undefined ? inGridFs(mongo) : createDiskBlobs({ folder: files ?? join(folder ?? "./data", "files") }),
  };
}

/** Opens nothing yet. */
export function createProviders(options: ResolvedOptions): Providers {
  const { storage } = options;
  const folder = typeof storage === "string" && !isMongoUrl(storage) ? storage : undefined;
  const logger = options.logger ?? createDefaultLogger();
  const secrets = completeSecrets(options.secrets, folder);
  const shared = repeatedSecrets(secrets);
  if (shared.length > 0) logger.warn({ secrets: shared }, "these secrets are equal: who learns one has them all; give each its own");
  const stores = createStores(options);
  return {
    ...stores,
    storage: typeof storage === "string" && isMongoUrl(storage) ? { ...stores.storage, open: () => openPlace(stores.storage) } : stores.storage,
    mailer: isSettings(options.mailer) ? (options.mailer.host === "" ? undefined : createSmtpMailer(options.mailer)) : options.mailer,
    logger,
    secrets,
  };
}

/** What only the driver and the servers can say of a URL is a fault of the option too. */
function openPlace(storage: Storage): Promise<void> {
  return storage.open().catch((error: unknown) => {
    throw error instanceof TypeError ? new OptionsError([`storage: ${error.message}`]) : error;
  });
}

function inGridFs({ connection, systemName }: MongoStorage): BlobStore {
  return createGridFsBlobs({ connect: () => connection.open(), database: () => connection.database(systemName) });
}

function isSettings(mailer: SmtpOptions | Mailer | undefined): mailer is SmtpOptions {
  return mailer !== undefined && "host" in mailer;
}
