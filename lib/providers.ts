// Providers: storage, blobs, mailer, logger and secrets, as the options name them or as they come with the package.
import { join } from "node:path";
import type { BlobStore } from "./blobs/blobs.js";
import { createDiskBlobs } from "./blobs/disk.js";
import type { Logger } from "./core/logger.js";
import { createDefaultLogger } from "./log.js";
import type { Mailer } from "./mailer/mailer.js";
import { createSmtpMailer } from "./mailer/smtp.js";
import type { ResolvedOptions, Secrets, SmtpOptions } from "./options.js";
import { completeSecrets } from "./secrets.js";
import type { Storage } from "./storage/storage.js";
import { createSqliteStorage } from "./storage/sqlite/sqlite.js";

export interface Providers {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  /** undefined: no mail goes out. */
  readonly mailer: Mailer | undefined;
  readonly logger: Logger;
  readonly secrets: Secrets;
}

/** Opens nothing yet. */
export function createProviders(options: ResolvedOptions): Providers {
  const { storage, files, clock } = options;
  const folder = typeof storage === "string" ? storage : undefined;
  return {
    storage: typeof storage === "string" ? createSqliteStorage({ folder: storage, clock }) : storage,
    blobs: typeof files === "object" ? files : createDiskBlobs({ folder: files ?? join(folder ?? "./data", "files") }),
    mailer: isSettings(options.mailer) ? (options.mailer.host === "" ? undefined : createSmtpMailer(options.mailer)) : options.mailer,
    logger: options.logger ?? createDefaultLogger(),
    secrets: completeSecrets(options.secrets, folder),
  };
}

function isSettings(mailer: SmtpOptions | Mailer | undefined): mailer is SmtpOptions {
  return mailer !== undefined && "host" in mailer;
}
