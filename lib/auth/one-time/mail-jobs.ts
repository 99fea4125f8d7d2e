// Mails that are still to go out, as rows of the tenant's store: whom to write to, and about what. A row holds neither
// token nor link: whoever takes it makes them. There is one row for each account and kind.
//
// `dueAt` is when a row may be taken; whoever takes it moves it ahead as a lease, so that it comes back by itself where
// the process dies. The revision that the taking gave the row is the proof of who has it.
import type { RecordValue } from "../../core/record.js";
import { always, text, type Filter } from "../../storage/filter.js";
import { ConditionMissed, UniqueViolation, type Operation, type Row, type Store, type Update } from "../../storage/storage.js";
import type { TenantContext } from "../../tenants/context.js";
import { lifetimeMs, type Kind } from "./kinds.js";

/** The table of mails in a tenant's store. */
export const mailJobsTable = "mail_jobs";

/** Milliseconds for which a job belongs to the process that took it: more than the longest attempt may take. */
export const leaseMs = 60_000;
/** Milliseconds after which nobody waits for the mail any more. */
const mostAge = lifetimeMs;
/** How often a job is taken before it is given up: each time the process ended over it. */
const mostTakings = 3;
/** Jobs of a tenant that may wait. */
const mostWaiting = 1000;
const rounds = 20;

export interface MailJob extends RecordValue {
  readonly kind: Kind["name"];
  readonly userId: string;
  /** The account's address when the mail was asked for. */
  readonly address: string;
  /** How often it was taken. */
  readonly taken: number;
  /** Not to be taken before this time, ISO 8601. */
  readonly dueAt: string;
}

const iso = (ms: number): string => new Date(ms).toISOString();
const byDue = { field: "dueAt", kind: "text", descending: false } as const;

export function jobOf(row: Row): MailJob {
  return row.record as MailJob;
}

/** Whether the tenant has as many jobs as may wait. */
export async function isFull(store: Store): Promise<boolean> {
  return (await store.table(mailJobsTable).list({ filter: always, offset: mostWaiting - 1, limit: 1 })).length > 0;
}

/**
 * Notes that the account is to be written to. One that waits already is enough; one that somebody has taken begins anew,
 * with a mail of its own. Throws StampChanged.
 *
 * @param define makes sure of the table, in tenants that are older than it
 */
export async function putJob({ store, stamp }: TenantContext, define: readonly Operation[], kind: Kind, userId: string, address: string, now: number): Promise<void> {
  const id = `${kind.name}-${userId}`;
  const fresh = { kind: kind.name, userId, address, taken: 0, createdAt: iso(now), updatedAt: iso(now), dueAt: iso(now) };
  for (let round = 1; ; round += 1) {
    const row = await store.table(mailJobsTable).find(id);
    if (row !== undefined && jobOf(row).taken === 0 && jobOf(row).address === address) return;
    const operations: Operation[] = row === undefined
      ? [...define, { type: "insert", table: mailJobsTable, record: { id, ...fresh } }]
      : [{ type: "update", table: mailJobsTable, id, revision: row.revision, set: fresh }];
    try {
      await store.write({ stamp, operations });
      return;
    } catch (error) {
      // Somebody was quicker: look again.
      if (!(error instanceof ConditionMissed || error instanceof UniqueViolation) || round === rounds) throw error;
    }
  }
}

/** The job that has been due the longest. */
export async function firstDue(store: Store, now: number): Promise<Row | undefined> {
  const [row] = await store.table(mailJobsTable).list({ filter: dueBy(now), sort: byDue, limit: 1 });
  return row;
}

/** When the next job may be taken, milliseconds since the epoch; undefined where there is none. */
export async function nextDue(store: Store): Promise<number | undefined> {
  const [row] = await store.table(mailJobsTable).list({ filter: always, sort: byDue, limit: 1 });
  return row === undefined ? undefined : Date.parse(jobOf(row).dueAt);
}

/** Why the job is not to be done any more, in words for the log; undefined where it is. */
export function hopeless({ createdAt, taken }: MailJob, now: number): string | undefined {
  if (now - Date.parse(createdAt) >= mostAge) return "a mail was dropped: it waited for 30 minutes";
  return taken >= mostTakings ? "a mail was given up: the process that sent it ended three times" : undefined;
}

/** The operation that takes the job, where nobody else has meanwhile. */
export function takeOperation(row: Row, now: number): Update {
  return { type: "update", table: mailJobsTable, id: row.id, revision: row.revision, set: { taken: jobOf(row).taken + 1, dueAt: iso(now + leaseMs), updatedAt: iso(now) } };
}

/** Removes the job as it was read or taken. One that was asked for anew meanwhile stays. */
export async function removeJob(store: Store, { id, revision }: Row): Promise<void> {
  // A write would make the database of a tenant anew that was removed meanwhile.
  if ((await store.table(mailJobsTable).find(id)) === undefined) return;
  await store.write({ operations: [{ type: "remove", table: mailJobsTable, id, revision, optional: true }] });
}

/** Removes up to a thousand jobs that nobody took in time, for a process that takes none. */
export async function dropOld(store: Store, now: number): Promise<void> {
  const rows = await store.table(mailJobsTable).list({ filter: dueBy(now - mostAge), sort: byDue, limit: mostWaiting });
  if (rows.length === 0) return;
  await store.write({ operations: rows.map(({ id, revision }): Operation => ({ type: "remove", table: mailJobsTable, id, revision, optional: true })) });
}

function dueBy(time: number): Filter {
  return { op: "less", left: text("dueAt"), right: { value: iso(time) }, orEqual: true };
}
