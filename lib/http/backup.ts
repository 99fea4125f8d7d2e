// Meta routes of backup and restore (contract 7).
import type { Backups } from "../backup/backup.js";
import { readRaw } from "./body.js";
import { ok, type Handler } from "./exchange.js";
import { inTenant } from "./meta.js";
import { download } from "./transfer.js";

export type BackupRoutes = Readonly<Record<"backup" | "restore", Handler>>;

const zipTypes = ["application/zip", "application/x-zip-compressed", "application/octet-stream"];
/** Bytes of everything in an archive that came under the body cap. */
const mostBytes = 1024 * 1024 * 1024;

export function createBackupRoutes({ backups, now }: { readonly backups: Backups; /** ISO 8601 */ readonly now: () => string }): BackupRoutes {
  return {
    backup: inTenant(async (exchange, context) => {
      await download(exchange, backups.make(context), { type: "application/zip", name: `${context.tenant.slug}-${now().slice(0, 10)}.zip` });
      return undefined;
    }),
    restore: inTenant(async (exchange, context) => ok(await backups.restore(context, await readRaw(exchange.req, zipTypes), { mostBytes }))),
  };
}
