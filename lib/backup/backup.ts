// The front door of backup/: a tenant out as one archive, and an archive into an empty tenant.
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { BadRequest, Conflict } from "../core/errors.js";
import type { TenantContext } from "../tenants/context.js";
import { makeBackup, type MakeBackupDeps, type Progress } from "./make-backup.js";
import { restoreBackup, type RestoreBackupDeps, type RestoreReport } from "./restore-backup.js";
import { openZip } from "./zip-reader.js";

/** An archive: in memory, in a file, or as a stream, which is kept in a temporary file while it is read. */
export type ArchiveSource = Buffer | Readable | { readonly file: string };

export interface RestoreOptions {
  /** Bytes of everything unpacked. @default no limit but those of each entry */
  readonly mostBytes?: number | undefined;
  /** Told how many records and files are in. */
  readonly onProgress?: ((step: "records" | "files", done: number) => void) | undefined;
}

export interface Backups {
  /** The archive, made while it is read. The stream breaks with Conflict where definitions change meanwhile. */
  make(context: TenantContext, options?: { readonly onProgress?: ((progress: Progress) => void) | undefined }): Readable;
  /** Whole or not at all. Throws Conflict where the tenant is not empty, BadRequest where the archive is not sound. */
  restore(context: TenantContext, archive: ArchiveSource, options?: RestoreOptions): Promise<RestoreReport>;
}

export interface BackupsDeps extends MakeBackupDeps, RestoreBackupDeps {
  readonly tenants: RestoreBackupDeps["tenants"];
  /** Takes a lease for that many milliseconds; undefined where somebody else holds it. */
  readonly takeLease: (name: string, duration: number) => Promise<{ renew(): Promise<boolean>; release(): Promise<void> } | undefined>;
}

/** Milliseconds; renewed well before it ends. */
const leaseDuration = 60_000;
const renewEvery = 15_000;

export function createBackups(deps: BackupsDeps): Backups {
  return {
    make(context, { onProgress = () => undefined } = {}) {
      const output = new PassThrough();
      // Whoever reads is told; a stream that nobody reads must not end the process.
      output.on("error", () => undefined);
      makeBackup(deps, context, output, onProgress).catch((error: unknown) => output.destroy(error as Error));
      return output;
    },

    async restore(context, archive, { mostBytes = Number.POSITIVE_INFINITY, onProgress = () => undefined } = {}) {
      const lease = await deps.takeLease(`restore-${context.tenant.id}`, leaseDuration);
      if (lease === undefined) throw new Conflict("Something is being restored into this tenant already");
      const renewal = setInterval(() => void lease.renew().catch(() => undefined), renewEvery);
      renewal.unref();
      try {
        return await withFile(archive, async (source) => {
          const zip = await openZip(source, mostBytes);
          try {
            return await restoreBackup(deps, await deps.tenants.get(context.tenant.id), zip, onProgress);
          } finally {
            zip.close();
          }
        });
      } finally {
        clearInterval(renewal);
        await lease.release();
      }
    },
  };
}

/** A zip is read from its end: a stream has to lie in a file first. */
async function withFile<T>(archive: ArchiveSource, run: (source: Buffer | string) => Promise<T>): Promise<T> {
  if (Buffer.isBuffer(archive)) return await run(archive);
  if (typeof archive !== "object" || archive === null) throw new BadRequest("The archive must be { file }, a stream or a Buffer");
  if ("file" in archive && typeof archive.file === "string") return await run(archive.file);
  if (!(Symbol.asyncIterator in archive)) throw new BadRequest("The archive must be { file }, a stream or a Buffer");
  const folder = await mkdtemp(join(tmpdir(), "records-restore-"));
  try {
    const file = join(folder, "archive.zip");
    await pipeline(archive, createWriteStream(file, { mode: 0o600 }));
    return await run(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
