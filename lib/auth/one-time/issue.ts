// Issuing: one token for each account of the tenant with an address, and the mail that carries it.
import type { JsonObject } from "../../core/record.js";
import { usersTable } from "../../collections/collection.js";
import { isPlainAddress } from "../../mailer/address.js";
import { is, text } from "../../storage/filter.js";
import { StampChanged, type Row, type Update } from "../../storage/storage.js";
import type { TenantContext } from "../../tenants/context.js";
import type { OneTimeDeps } from "./deps.js";
import { lifetimeMs, type Kind } from "./kinds.js";
import { composeMail, linkWith } from "./mail.js";
import { newOneTimeToken } from "./token.js";

/** Accounts served in one unit. */
const portion = 50;
const rounds = 100;

/**
 * Gives every active account with this address a token in place of its former one, and mails it where a link URL is
 * set. Does nothing where the feature is off, the address is none, or nobody has it.
 */
export async function issue(deps: OneTimeDeps, kind: Kind, known: TenantContext, address: JsonObject[string] | undefined): Promise<void> {
  const email = typeof address === "string" ? address.trim() : undefined;
  if (!isPlainAddress(email)) return;
  let context: TenantContext | undefined = known;
  let after: string | undefined;
  let round = 1;
  while (context !== undefined && kind.settings(context.settings).enabled) {
    const accounts: Row[] = await context.store.table(usersTable).list({
      filter: is(text("email"), email), limit: portion, after: after === undefined ? undefined : { value: after, id: after },
    });
    try {
      await serve(deps, kind, context, email, accounts);
    } catch (error) {
      // Definitions have changed: whether the feature is still on has to be read again.
      if (!(error instanceof StampChanged) || round === rounds) throw error;
      round += 1;
      context = await deps.tenants.byId(known.tenant.id);
      continue;
    }
    if (accounts.length < portion) return;
    after = accounts.at(-1)!.id;
  }
}

async function serve({ clock, mails }: OneTimeDeps, kind: Kind, context: TenantContext, email: string, accounts: readonly Row[]): Promise<void> {
  const served = accounts.filter((row) => row.hidden["active"] !== false && kind.serves(row));
  if (served.length === 0) return;
  const { tenant, settings, stamp, store } = context;
  const tokens = served.map((row) => newOneTimeToken(tenant.id, row.id));
  const operations = served.map((row, index): Update => ({
    type: "update", table: usersTable, id: row.id,
    // Whoever has changed the address meanwhile gets nothing for the former one.
    where: is(text("email"), email),
    setHidden: { [kind.hashColumn]: tokens[index]!.hash, [kind.expiresColumn]: clock.now() + lifetimeMs },
    optional: true,
  }));
  const { rows } = await store.write({ stamp, operations });
  const { linkUrl } = kind.settings(settings);
  if (linkUrl === "") return;
  rows.forEach((row, index) => {
    if (row === undefined) return;
    const link = linkWith(linkUrl, tokens[index]!.token);
    mails.send(composeMail(kind, { to: email, tenant: tenant.name, username: String(row.record["username"] ?? ""), link }));
  });
}
