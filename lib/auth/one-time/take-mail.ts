// Taking one mail job: in one unit the job becomes ours and the account gets a new token in place of its former one. So
// the token of a process that died is dead too, and none is kept anywhere but in the mail.
import { usersTable } from "../../collections/collection.js";
import type { Mail } from "../../mailer/mailer.js";
import { ConditionMissed, StampChanged, type Row, type Update } from "../../storage/storage.js";
import type { TenantContext } from "../../tenants/context.js";
import type { OneTimeDeps } from "./deps.js";
import { kinds, lifetimeMs, type Kind } from "./kinds.js";
import { composeMail, linkWith } from "./mail.js";
import { firstDue, hopeless, jobOf, removeJob, takeOperation } from "./mail-jobs.js";
import { newOneTimeToken } from "./token.js";

export interface TakenMail {
  readonly mail: Mail;
  /** The job as it was taken. */
  readonly job: Row;
}

/**
 * Takes the tenant's job that is due the longest. `again` where it was not to be had: there may be others. `none` where
 * none is due, `gone` where the tenant is.
 */
export async function takeMail({ storage, tenants, users, clock, logger }: OneTimeDeps, tenantId: string): Promise<TakenMail | "again" | "none" | "gone"> {
  // The store alone first: most looks find nothing, and need no definitions.
  if ((await firstDue(storage.tenant(tenantId), clock.now())) === undefined) return "none";
  const context = await tenants.byId(tenantId);
  if (context === undefined) return "gone";
  const { store, tenant } = context;
  const row = await firstDue(store, clock.now());
  if (row === undefined) return "none";
  const job = jobOf(row);
  const reason = hopeless(job, clock.now());
  if (reason !== undefined) {
    logger.error({ tenantId, kind: job.kind }, reason);
    await removeJob(store, row);
    return "again";
  }
  const kind = kinds[job.kind];
  const account = await users.find(context, job.userId);
  if (kind === undefined || account === undefined || !isWanted(context, kind, account, job.address)) {
    await removeJob(store, row);
    return "again";
  }
  const { token, hash } = newOneTimeToken(tenant.id, account.id);
  try {
    const { rows } = await store.write({ stamp: context.stamp, operations: [takeOperation(row, clock.now()), replaceToken(kind, account, hash, clock.now())] });
    const link = linkWith(kind.settings(context.settings).linkUrl, token);
    return { job: rows[0]!, mail: composeMail(kind, { to: job.address, tenant: tenant.name, username: String(account.record["username"] ?? ""), link }) };
  } catch (error) {
    // Another process was quicker, or what was decided on has changed.
    if (error instanceof ConditionMissed || error instanceof StampChanged) return "again";
    throw error;
  }
}

/** What was asked for may have been switched off or be of no use any more, and the account may have another address. */
function isWanted({ settings }: TenantContext, kind: Kind, account: Row, address: string): boolean {
  const { enabled, linkUrl } = kind.settings(settings);
  return enabled && linkUrl !== "" && account.record["email"] === address && kind.serves(account);
}

/** Only where the account is as it was read: whoever has changed its address meanwhile gets nothing for the former one. */
function replaceToken(kind: Kind, account: Row, hash: string, now: number): Update {
  return { type: "update", table: usersTable, id: account.id, revision: account.revision, setHidden: { [kind.hashColumn]: hash, [kind.expiresColumn]: now + lifetimeMs } };
}
