// Members: the memberships of one tenant, found by whatever may end them: user, API key, refresh family.
import { Unauthorized } from "../core/errors.js";
import { usersTable } from "../collections/collection.js";
import type { Row, Store } from "../storage/storage.js";
import { Membership, type Credential, type Person, type Subscriber } from "./membership.js";
import type { Wanted } from "./subscriptions.js";

/** A user with at least one membership. */
interface KnownUser {
  readonly person: Person;
  generation: number;
  readonly members: Set<Membership>;
}

const bypassing: Person = { auth: null, bypasses: true };
const guest: Person = { auth: null, bypasses: false };

export interface NewMembership {
  readonly subscriber: Subscriber;
  readonly credential: Credential;
  readonly wanted: Wanted;
  readonly isCurrent: (membership: Membership) => boolean;
}

export class Members {
  readonly all = new Set<Membership>();
  readonly #tenantId: string;
  readonly #users = new Map<string, KnownUser>();
  readonly #byKey = new Map<string, Set<Membership>>();
  readonly #byFamily = new Map<string, Set<Membership>>();

  constructor(tenantId: string) {
    this.#tenantId = tenantId;
  }

  /** Reads the user as it is now where nobody knows it yet. Throws Unauthorized where it is gone or inactive. */
  async add(store: Store, { subscriber, credential, wanted, isCurrent }: NewMembership): Promise<Membership> {
    const { userId, keyId, familyId, bypasses } = credential;
    let user: KnownUser | undefined;
    if (userId !== null) {
      user = this.#users.get(userId);
      if (user === undefined) {
        const row = await store.table(usersTable).find(userId);
        if (!isActive(row)) throw new Unauthorized();
        user = { person: { auth: row.record, bypasses: false }, generation: generationOf(row), members: new Set() };
        this.#users.set(userId, user);
      }
    }
    const person = bypasses ? bypassing : (user?.person ?? guest);
    const membership = new Membership(this.#tenantId, subscriber, credential, wanted, person, isCurrent);
    membership.generation = user?.generation ?? null;
    this.all.add(membership);
    user?.members.add(membership);
    if (keyId !== null) index(this.#byKey, keyId, membership);
    if (familyId !== null) index(this.#byFamily, familyId, membership);
    return membership;
  }

  remove(membership: Membership): void {
    const { userId, keyId, familyId } = membership.credential;
    this.all.delete(membership);
    if (userId !== null) {
      const user = this.#users.get(userId);
      user?.members.delete(membership);
      if (user?.members.size === 0) this.#users.delete(userId);
    }
    if (keyId !== null) drop(this.#byKey, keyId, membership);
    if (familyId !== null) drop(this.#byFamily, familyId, membership);
  }

  ofKey(keyId: string): readonly Membership[] {
    return [...(this.#byKey.get(keyId) ?? [])];
  }

  ofFamily(familyId: string): readonly Membership[] {
    return [...(this.#byFamily.get(familyId) ?? [])];
  }

  /** What ended with this user's change, and the person whose record is another one now. */
  async refresh(store: Store, userId: string): Promise<{ readonly ended: readonly Membership[]; readonly changed: Person | undefined }> {
    const user = this.#users.get(userId);
    if (user === undefined) return { ended: [], changed: undefined };
    const row = await store.table(usersTable).find(userId);
    if (!isActive(row)) return { ended: [...user.members], changed: undefined };
    user.generation = generationOf(row);
    user.person.auth = row.record;
    const ended = [...user.members].filter((member) => member.credential.revocable && member.generation !== user.generation);
    return { ended, changed: user.person };
  }

  get isEmpty(): boolean {
    return this.all.size === 0;
  }
}

function isActive(row: Row | undefined): row is Row {
  return row !== undefined && row.hidden["active"] !== false;
}

function generationOf(row: Row): number {
  const generation = row.hidden["generation"];
  return typeof generation === "number" ? generation : 0;
}

function index(by: Map<string, Set<Membership>>, key: string, membership: Membership): void {
  const members = by.get(key);
  if (members === undefined) by.set(key, new Set([membership]));
  else members.add(membership);
}

function drop(by: Map<string, Set<Membership>>, key: string, membership: Membership): void {
  const members = by.get(key);
  members?.delete(membership);
  if (members?.size === 0) by.delete(key);
}
