// Serving a request: each account of the tenant with the address is noted to be written to. Its token is made when the
// mail goes out; where none will, it is made here.
import type { JsonObject } from "../../core/record.js";
import { usersTable } from "../../collections/collection.js";
import { isPlainAddress } from "../../mailer/address.js";
import { is, text } from "../../storage/filter.js";
import { StampChanged, type Row, type Update } from "../../storage/storage.js";
import type { TenantContext } from "../../tenants/context.js";
import type { OneTimeDeps } from "./deps.js";
import { lifetimeMs, type Kind } from "./kinds.js";
import { isFull, putJob } from "./mail-jobs.js";
import { newOneTimeToken } from "./token.js";

/** Accounts served at a time. */
const portion = 50;
const rounds = 100;

/**
 * Serves every active account with this address. Does nothing where the feature is off, the address is none, or nobody
 * has it. False where accounts were left out because too many mails wait already.
 *
 * @param wake told that mails wait
 */
export async function issue(deps: OneTimeDeps, kind: Kind, known: TenantContext, address: JsonObject[string] | undefined, wake: (tenantId: string) => void): Promise<boolean> {
  const email = typeof address === "string" ? address.trim() : undefined;
  if (!isPlainAddress(email)) return true;
  let context: TenantContext | undefined = known;
  let after: string | undefined;
  let round = 1;
  while (context !== undefined && kind.settings(context.settings).enabled) {
    const accounts: Row[] = await context.store.table(usersTable).list({
      filter: is(text("email"), email), limit: portion, after: after === undefined ? undefined : { value: after, id: after },
    });
    const served = accounts.filter((row) => row.hidden["active"] !== false && kind.serves(row));
    try {
      if (served.length > 0) {
        if (!deps.outgoing.available || kind.settings(context.settings).linkUrl === "") await replaceTokens(deps, kind, context, email, served);
        else if (!(await putJobs(deps, kind, context, email, served, wake))) return false;
      }
    } catch (error) {
      // Definitions have changed: whether the feature is still on has to be read again.
      if (!(error instanceof StampChanged) || round === rounds) throw error;
      round += 1;
      context = await deps.tenants.byId(known.tenant.id);
      continue;
    }
    if (accounts.length < portion) return true;
    after = accounts.at(-1)!.id;
  }
  return true;
}

/** False where too many wait. */
async function putJobs({ clock, defineMailJobs }: OneTimeDeps, kind: Kind, context: TenantContext, email: string, accounts: readonly Row[], wake: (tenantId: string) => void): Promise<boolean> {
  if (await isFull(context.store)) return false;
  const outcomes = await Promise.allSettled(accounts.map(({ id }) => putJob(context, defineMailJobs, kind, id, email, clock.now())));
  wake(context.tenant.id);
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return true;
}

async function replaceTokens({ clock }: OneTimeDeps, kind: Kind, { tenant, stamp, store }: TenantContext, email: string, accounts: readonly Row[]): Promise<void> {
  const operations = accounts.map(({ id }): Update => ({
    type: "update", table: usersTable, id,
    // Whoever has changed the address meanwhile gets nothing for the former one.
    where: is(text("email"), email),
    setHidden: { [kind.hashColumn]: newOneTimeToken(tenant.id, id).hash, [kind.expiresColumn]: clock.now() + lifetimeMs },
    optional: true,
  }));
  await store.write({ stamp, operations });
}
