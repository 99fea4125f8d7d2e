// Audience: who listens to one collection, grouped by what the viewRule can tell apart, so that the rule is answered once
// for each group and, where it names an owner, only for the groups of that owner.
import type { Json, RecordValue } from "../core/record.js";
import type { Collection } from "../collections/collection.js";
import type { Rule } from "../rules/rule.js";
import type { Membership, Person } from "./membership.js";
import type { RecordEvent } from "./record-event.js";
import { createView, type View } from "./view.js";

/** Persons whom the rule always gives the same answer. */
interface Group {
  readonly key: string;
  readonly view: View;
  /** The value that a record's owner field must have; undefined where the rule names no owner. */
  readonly owner: Json | undefined;
  readonly seats: Set<Seat>;
}

/** One person's memberships here. */
interface Seat {
  group: Group;
  /** Those that want the whole collection. */
  readonly whole: Set<Membership>;
  /** Those that want single records. */
  readonly parts: Set<Membership>;
}

export class Audience {
  readonly collectionId: string;
  #rule: Rule | null;
  readonly #seats = new Map<Person, Seat>();
  readonly #groups = new Map<string, Group>();
  readonly #byOwner = new Map<Json, Set<Group>>();
  readonly #byRecord = new Map<string, Set<Membership>>();

  constructor(collection: Collection) {
    this.collectionId = collection.definition.id;
    this.#rule = collection.rules.viewRule;
  }

  get isEmpty(): boolean {
    return this.#seats.size === 0;
  }

  add(membership: Membership, records: "all" | ReadonlySet<string>): void {
    const { person } = membership;
    let seat = this.#seats.get(person);
    if (seat === undefined) {
      seat = { group: this.#groupOf(person), whole: new Set(), parts: new Set() };
      this.#seats.set(person, seat);
      seat.group.seats.add(seat);
    }
    if (records === "all") {
      seat.whole.add(membership);
      return;
    }
    seat.parts.add(membership);
    for (const id of records) {
      const members = this.#byRecord.get(id);
      if (members === undefined) this.#byRecord.set(id, new Set([membership]));
      else members.add(membership);
    }
  }

  remove(membership: Membership, records: "all" | ReadonlySet<string>): void {
    const seat = this.#seats.get(membership.person);
    if (seat === undefined) return;
    if (records === "all") seat.whole.delete(membership);
    else {
      seat.parts.delete(membership);
      for (const id of records) {
        const members = this.#byRecord.get(id);
        members?.delete(membership);
        if (members?.size === 0) this.#byRecord.delete(id);
      }
    }
    if (seat.whole.size > 0 || seat.parts.size > 0) return;
    this.#seats.delete(membership.person);
    this.#leaveGroup(seat);
  }

  /** Every membership here. */
  members(): Set<Membership> {
    return new Set([...this.#seats.values()].flatMap((seat) => [...seat.whole, ...seat.parts]));
  }

  /** Takes the rule as it is now. */
  useRule(collection: Collection): void {
    if (this.#rule === collection.rules.viewRule) return;
    this.#rule = collection.rules.viewRule;
    this.#groups.clear();
    this.#byOwner.clear();
    for (const [person, seat] of this.#seats) this.#join(person, seat);
  }

  /** The person's record has changed: it may belong to another group now. */
  refresh(person: Person): void {
    const seat = this.#seats.get(person);
    if (seat === undefined) return;
    this.#leaveGroup(seat);
    this.#join(person, seat);
  }

  /** Hands the event to everybody who may see its record, each once. */
  deliver(event: RecordEvent, now: string): void {
    const { record } = event.change;
    for (const group of this.#candidates(record)) {
      if (!group.view(record, now)) continue;
      for (const seat of group.seats) for (const member of seat.whole) member.subscriber.deliver(event);
    }
    const single = this.#byRecord.get(record.id);
    if (single === undefined) return;
    const answers = new Map<Group, boolean>();
    for (const member of single) {
      const group = this.#seats.get(member.person)!.group;
      let answer = answers.get(group);
      if (answer === undefined) answers.set(group, (answer = group.view(record, now)));
      if (answer) member.subscriber.deliver(event);
    }
  }

  *#candidates(record: RecordValue): Iterable<Group> {
    const lookup = this.#rule?.ownerLookup ?? null;
    if (lookup === null) {
      yield* this.#groups.values();
      return;
    }
    const bypassing = this.#groups.get(bypassKey);
    if (bypassing !== undefined) yield bypassing;
    const owner = record[lookup.field] ?? null;
    if (owner !== null) yield* this.#byOwner.get(owner) ?? [];
  }

  #join(person: Person, seat: Seat): void {
    seat.group = this.#groupOf(person);
    seat.group.seats.add(seat);
  }

  #leaveGroup(seat: Seat): void {
    const { group } = seat;
    group.seats.delete(seat);
    if (group.seats.size > 0 || this.#groups.get(group.key) !== group) return;
    this.#groups.delete(group.key);
    if (group.owner === undefined) return;
    const owners = this.#byOwner.get(group.owner);
    owners?.delete(group);
    if (owners?.size === 0) this.#byOwner.delete(group.owner);
  }

  #groupOf(person: Person): Group {
    const key = keyOf(this.#rule, person);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const lookup = this.#rule?.ownerLookup ?? null;
    const owner = lookup === null || person.bypasses ? undefined : (person.auth?.[lookup.authField] ?? null);
    // The view keeps the record it was made with: another person of the group may change without this one.
    const group: Group = { key, view: createView(this.#rule, { ...person }), owner, seats: new Set() };
    this.#groups.set(key, group);
    if (owner !== undefined) {
      const owners = this.#byOwner.get(owner);
      if (owners === undefined) this.#byOwner.set(owner, new Set([group]));
      else owners.add(group);
    }
    return group;
  }
}

const bypassKey = "bypass";

/** What of the person the rule reads. Types count: "1" and 1 are two persons. */
function keyOf(rule: Rule | null, { auth, bypasses }: Person): string {
  if (bypasses) return bypassKey;
  if (auth === null) return "guest";
  return `user${JSON.stringify((rule?.authFields ?? []).map((field) => auth[field] ?? null))}`;
}
