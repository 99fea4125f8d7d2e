// From a presented API key to its caller: the key, its state, the peer's address and the bound user, read on every
// request. Only where a key's row lies is remembered, which never changes.
import { timestamp, type Clock } from "../core/clock.js";
import type { KeyCaller } from "../core/call.js";
import { CredentialRejected } from "../core/errors.js";
import { sha256 } from "../core/ids.js";
import { describeError, type Logger } from "../core/logger.js";
import { usersTable } from "../collections/collection.js";
import { any, is, text } from "../storage/filter.js";
import { createRecordReader } from "../storage/record-reader.js";
import type { Row, Storage } from "../storage/storage.js";
import type { TenantContext, TenantRegistry } from "../tenants/context.js";
import { isInside, parseRanges, type Range } from "./cidr.js";
import { keyIndexTable, keysTable, presentKey, type ApiKey } from "./key.js";

export interface KeyAuthenticatorDeps {
  readonly storage: Storage;
  readonly tenants: TenantRegistry;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Keys remembered. @default 10000 */
  readonly cacheSize?: number;
}

export interface KeyAuthenticator {
  /** Throws CredentialRejected with the reason, for the request log only. */
  authenticate(key: string, peer: string | undefined): Promise<{ readonly caller: KeyCaller; readonly context: TenantContext }>;
  /** Resolves once the notes of last use under way are written. */
  idle(): Promise<void>;
}

interface Place {
  readonly tenantId: string;
  readonly keyId: string;
}

interface Parsed {
  readonly text: string;
  readonly key: ApiKey;
  readonly ranges: readonly Range[];
  /** Milliseconds since the epoch. */
  readonly expiresAt: number | null;
}

const shape = /^pk_[A-Za-z0-9_-]{43}$/;
/** Milliseconds between two notes of a key's use (interface, Limits). */
const noteInterval = 60_000;

export function createKeyAuthenticator({ storage, tenants, clock, logger, cacheSize = 10_000 }: KeyAuthenticatorDeps): KeyAuthenticator {
  const read = createRecordReader(cacheSize);
  const places = new Map<string, Place>();
  const parsed = new Map<string, Parsed>();
  const noted = new Map<string, number>();
  const underWay = new Set<Promise<void>>();

  async function placeOf(hash: string): Promise<Place> {
    const known = places.get(hash);
    if (known !== undefined) return known;
    const row = await storage.system.table(keyIndexTable).find(hash);
    if (row === undefined) throw new CredentialRejected("unknown");
    const place = { tenantId: String(row.record["tenantId"]), keyId: String(row.record["keyId"]) };
    keep(places, hash, place, cacheSize);
    return place;
  }

  function parse(row: Row): Parsed {
    const known = parsed.get(row.id);
    if (known !== undefined && known.text === row.text) return known;
    const key = presentKey(row.record);
    const fresh = { text: row.text, key, ranges: parseRanges(key.allowedCidrs), expiresAt: key.expiresAt === null ? null : Date.parse(key.expiresAt) };
    keep(parsed, row.id, fresh, cacheSize);
    return fresh;
  }

  /** At most once a minute over all processes, beside the request. */
  function note(context: TenantContext, key: ApiKey): void {
    const now = clock.now();
    const last = Math.max(noted.get(key.id) ?? 0, key.lastUsedAt === null ? 0 : Date.parse(key.lastUsedAt));
    if (now - last < noteInterval) return;
    keep(noted, key.id, now, cacheSize);
    const before = new Date(now - noteInterval).toISOString();
    const work = context.store
      .write({
        operations: [{
          type: "update", table: keysTable, id: key.id, optional: true, set: { lastUsedAt: timestamp(clock) },
          where: any(is(text("lastUsedAt"), null), { op: "less", left: text("lastUsedAt"), right: { value: before }, orEqual: true }),
        }],
      })
      .then(() => undefined, (error: unknown) => logger.warn({ error: describeError(error) }, "the last use of an API key could not be noted"))
      .finally(() => underWay.delete(work));
    underWay.add(work);
  }

  return {
    async authenticate(secret, peer) {
      if (!shape.test(secret)) throw new CredentialRejected("unknown");
      const hash = sha256(secret);
      const { tenantId, keyId } = await placeOf(hash);
      const context = await tenants.byId(tenantId);
      const row = await context?.store.table(keysTable).find(keyId);
      if (context === undefined || row === undefined || row.hidden["hash"] !== hash) {
        places.delete(hash);
        throw new CredentialRejected("unknown");
      }
      const { key, ranges, expiresAt } = parse(row);
      const told = { id: key.id, name: key.name, tenantId };
      if (key.status === "revoked") throw new CredentialRejected("revoked", told);
      if (expiresAt !== null && expiresAt <= clock.now()) throw new CredentialRejected("expired", told);
      if (key.allowedCidrs.length > 0 && !isInside(ranges, peer)) throw new CredentialRejected("source", told);
      const user = await context.store.table(usersTable).find(key.userId);
      if (user === undefined || user.hidden["active"] === false) throw new CredentialRejected("revoked", told);
      note(context, key);
      const caller: KeyCaller = {
        type: "apiKey",
        user: read(user),
        keyId: key.id,
        keyName: key.name,
        bypassRules: key.bypassRules,
        bypassHooks: key.bypassHooks,
        expiresAt,
      };
      return { caller, context };
    },

    async idle() {
      await Promise.all(underWay);
    },
  };
}

/** Puts an entry into a bounded map; the oldest goes first. */
function keep<T>(map: Map<string, T>, key: string, value: T, size: number): void {
  if (!map.has(key) && map.size >= size) map.delete(map.keys().next().value!);
  map.set(key, value);
}
