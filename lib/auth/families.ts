// Refresh families: one row per signed-in session, holding the hash of its one valid refresh token. Rotation is one
// conditional update, so of two requests with the same token one wins; a spent token that comes back late ends all.
import type { Clock } from "../core/clock.js";
import { Unauthorized } from "../core/errors.js";
import { newId } from "../core/ids.js";
import { usersTable } from "../collections/collection.js";
import { all, is, number, text, type Filter } from "../storage/filter.js";
import { ConditionMissed, type Operation, type Row } from "../storage/storage.js";
import type { TenantContext } from "../tenants/context.js";
import type { Users } from "../users/users.js";
import type { TokenPair } from "./auth.js";
import type { RefreshTokens } from "./refresh-token.js";
import type { Tokens } from "./tokens.js";

/** Members: `userId`, `expiresAt` (ms). Hidden: `generation`, `currentHash`, `spent` (JSON text of [hash, ms][]). */
export const familiesTable = "refresh_families";
/** Families that are revoked are logged under this name. */
export const familyChanges = "$refresh_families";

/** Milliseconds after its rotation in which a spent token is only refused: two tabs may refresh at once. */
const grace = 10_000;
/** Sessions that a user may have at a time; the oldest ends. */
const mostFamilies = 100;
/** Rotations within the grace that are remembered. */
const mostSpent = 20;
/** Families revoked within an access token's life, beyond which all of the user's tokens are. */
const mostRevoked = 50;

export interface FamiliesDeps {
  readonly clock: Clock;
  readonly tokens: Tokens;
  readonly refreshTokens: RefreshTokens;
  readonly users: Pick<Users, "find" | "generationOf">;
  /** Seconds. */
  readonly accessTokenTtl: number;
  /** Seconds. */
  readonly refreshTokenTtl: number;
}

/** A refresh token that may be exchanged, with what it stands for. */
export interface Presented {
  readonly family: Row;
  readonly user: Row;
  readonly hash: string;
}

export interface Families {
  /** A new session of the user: its tokens, and the operations that they are valid with. A unit with these fails with ConditionMissed where the user is gone. */
  begin(context: TenantContext, user: Row): Promise<{ readonly pair: TokenPair; readonly operations: readonly Operation[] }>;
  /** Checks a token that the service issued. Revokes its family where it comes back spent. Throws Unauthorized. */
  check(context: TenantContext, token: { readonly familyId: string; readonly hash: string }): Promise<Presented>;
  /** The next tokens of the session; the unit with this operation fails where another request was first. */
  rotate(context: TenantContext, presented: Presented): { readonly pair: TokenPair; readonly operation: Operation };
  /** Ends one session, its access tokens too. */
  revoke(context: TenantContext, userId: string, familyId: string): Promise<void>;
  /** What removes all sessions of a user. */
  removeOperations(context: TenantContext, userId: string): Promise<Operation[]>;
}

export function createFamilies({ clock, tokens, refreshTokens, users, accessTokenTtl, refreshTokenTtl }: FamiliesDeps): Families {
  const now = (): string => new Date(clock.now()).toISOString();

  function pairOf(context: TenantContext, user: Row, familyId: string, refreshToken: string): TokenPair {
    const claims = { subject: user.id, tenantId: context.tenant.id, generation: users.generationOf(user), familyId };
    return { accessToken: tokens.sign("access", claims, accessTokenTtl), refreshToken, tokenType: "Bearer", expiresIn: accessTokenTtl };
  }

  function ofUser(context: TenantContext, userId: string): Promise<Row[]> {
    return context.store.table(familiesTable).list({ filter: is(text("userId"), userId), limit: mostFamilies * 2 });
  }

  /** The sessions that end with one more: where there are too many, those that have expired, then the oldest. */
  async function surplus(context: TenantContext, userId: string): Promise<readonly Row[]> {
    const table = context.store.table(familiesTable);
    const own = is(text("userId"), userId);
    const count = await table.count(own);
    if (count < mostFamilies) return [];
    const expired: Filter = { op: "less", left: number("expiresAt"), right: { value: clock.now() }, orEqual: true };
    const ended = await table.list({ filter: all(own, expired), limit: count });
    const more = count - ended.length - (mostFamilies - 1);
    return more <= 0 ? ended : [...ended, ...(await table.list({ filter: all(own, { op: "not", filter: expired }), limit: more }))];
  }

  const families: Families = {
    async begin(context, user) {
      const familyId = newId(clock.now());
      const refreshToken = refreshTokens.issue(context.tenant.id, familyId);
      const generation = users.generationOf(user);
      const at = now();
      return {
        pair: pairOf(context, user, familyId, refreshToken),
        operations: [
          { type: "exists", table: usersTable, id: user.id },
          {
            type: "insert",
            table: familiesTable,
            record: { id: familyId, createdAt: at, updatedAt: at, userId: user.id, expiresAt: clock.now() + refreshTokenTtl * 1000 },
            hidden: { generation, currentHash: refreshTokens.hash(refreshToken), spent: null },
          },
          ...(await surplus(context, user.id)).map(removal),
        ],
      };
    },

    async check(context, { familyId, hash }) {
      const family = await context.store.table(familiesTable).find(familyId);
      if (family === undefined) throw new Unauthorized();
      const userId = String(family.record["userId"]);
      if (family.hidden["currentHash"] !== hash) {
        const spentAt = spentOf(family).find(([spent]) => spent === hash)?.[1];
        // What is not remembered any more was spent longer ago.
        if (spentAt === undefined || clock.now() - spentAt > grace) await families.revoke(context, userId, familyId);
        throw new Unauthorized();
      }
      const user = await users.find(context, userId);
      const expired = Number(family.record["expiresAt"]) <= clock.now();
      if (expired || user === undefined || users.generationOf(user) !== family.hidden["generation"]) throw new Unauthorized();
      return { family, user, hash };
    },

    rotate(context, { family, user, hash }) {
      const refreshToken = refreshTokens.issue(context.tenant.id, family.id);
      const spent = [...spentOf(family).filter(([, at]) => clock.now() - at <= grace), [hash, clock.now()] as const].slice(-mostSpent);
      return {
        pair: pairOf(context, user, family.id, refreshToken),
        operation: {
          type: "update",
          table: familiesTable,
          id: family.id,
          set: { updatedAt: now(), expiresAt: clock.now() + refreshTokenTtl * 1000 },
          setHidden: { currentHash: refreshTokens.hash(refreshToken), spent: JSON.stringify(spent) },
          hiddenIs: { currentHash: hash },
        },
      };
    },

    async revoke(context, userId, familyId) {
      const until = clock.now() + accessTokenTtl * 1000;
      for (;;) {
        const user = await context.store.table(usersTable).find(userId);
        const operations: Operation[] = [{ ...removal({ id: familyId }), log: { collection: familyChanges, content: "id" } }];
        if (user !== undefined) operations.push(revocation(user, familyId, until));
        try {
          await context.store.write({ operations });
          return;
        } catch (error) {
          // The list has changed meanwhile: read it again.
          if (!(error instanceof ConditionMissed)) throw error;
        }
      }
    },

    async removeOperations(context, userId) {
      return (await ofUser(context, userId)).map(removal);
    },
  };
  return families;

  function revocation(user: Row, familyId: string, until: number): Operation {
    const stored = user.hidden["revokedFamilies"] ?? null;
    const list = typeof stored === "string" ? (JSON.parse(stored) as [string, number][]) : [];
    const live = [...list.filter(([id, end]) => id !== familyId && end > clock.now()), [familyId, until]];
    const common = { type: "update", table: usersTable, id: user.id, log: { collection: "users", content: "id" } } as const;
    return live.length > mostRevoked
      ? { ...common, setHidden: { revokedFamilies: null }, increment: { generation: 1 } }
      : { ...common, setHidden: { revokedFamilies: JSON.stringify(live) }, hiddenIs: { revokedFamilies: stored } };
  }
}

function removal(family: { readonly id: string }): Extract<Operation, { type: "remove" }> {
  return { type: "remove", table: familiesTable, id: family.id, optional: true };
}

function spentOf(family: Row): readonly (readonly [string, number])[] {
  const stored = family.hidden["spent"];
  return typeof stored === "string" ? (JSON.parse(stored) as [string, number][]) : [];
}
