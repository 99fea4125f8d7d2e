// Audience against the plain truth: everybody asked one by one. Whoever joins, leaves or changes, and whatever the rule.
import { expect } from "chai";
import fastCheck from "fast-check";
import type { RecordValue } from "../../../lib/core/record.js";
import { compileCollections } from "../../../lib/collections/compile.js";
import type { Collection } from "../../../lib/collections/collection.js";
import { initialUserRules } from "../../../lib/rules/presets.js";
import { initialUsers } from "../../../lib/schema/definition.js";
import { Audience } from "../../../lib/realtime/audience.js";
import { Batch, Frame } from "../../../lib/realtime/frame.js";
import { credentialOf, Membership, type Person, type Subscriber } from "../../../lib/realtime/membership.js";
import { RecordEvent, type RecordChange } from "../../../lib/realtime/record-event.js";
import { createView } from "../../../lib/realtime/view.js";
import { parseCollection } from "../../../lib/schema/definition.js";
import { StoredChange } from "../../../lib/storage/change.js";

const at = "2026-01-31T10:00:00.000Z";
const rules = [
  null, "true", "false", "@auth.id != null", "owner = @auth.id", "group = @auth.group", "owner != @auth.id",
  "owner = @auth.id && rank > 1", "rank = @auth.level", "owner = @auth.id || group = @auth.group", "!(owner = @auth.id)",
  "group = @auth.group && owner = @auth.id", "@auth.level > rank", "group in ['a', @auth.group]", "owner = null", "createdAt < @now",
];

function collectionWith(viewRule: string | null): Collection {
  const fields = [{ name: "owner", type: "TEXT" }, { name: "group", type: "TEXT" }, { name: "rank", type: "NUMBER" }];
  const definition = { id: "tasks", system: false, createdAt: at, updatedAt: at, ...parseCollection({ name: "tasks", fields, viewRule }) };
  const more = [{ name: "group", type: "TEXT" as const }, { name: "level", type: "NUMBER" as const }];
  const userFields = parseCollection({ name: "extra", fields: more }).fields;
  const users = { id: "users", system: true, createdAt: at, updatedAt: at, ...initialUsers, ...initialUserRules, fields: [...initialUsers.fields, ...userFields] };
  return compileCollections([users, definition]).get("tasks")!;
}

const value = fastCheck.constantFrom(null, "a", "b", "1");
const number = fastCheck.constantFrom(null, 1, 2);
const auth = fastCheck.record({ id: fastCheck.constantFrom("a", "b", "c", "1"), group: value, level: number })
  .map((members): RecordValue => ({ createdAt: at, updatedAt: at, ...members }));
const record = fastCheck.record({ id: fastCheck.constantFrom("r1", "r2"), owner: value, group: value, rank: number })
  .map((members): RecordValue => ({ createdAt: at, updatedAt: at, ...members }));
const wanted = fastCheck.oneof(fastCheck.constant("all" as const), fastCheck.uniqueArray(fastCheck.constantFrom("r1", "r2"), { minLength: 1 }).map((ids) => new Set(ids)));
const step = fastCheck.oneof(
  fastCheck.record({ do: fastCheck.constant("join" as const), person: fastCheck.nat(5), wanted }),
  fastCheck.record({ do: fastCheck.constant("leave" as const), member: fastCheck.nat(20) }),
  fastCheck.record({ do: fastCheck.constant("change" as const), person: fastCheck.nat(3), auth }),
  fastCheck.record({ do: fastCheck.constant("rule" as const), rule: fastCheck.constantFrom(...rules) }),
  fastCheck.record({ do: fastCheck.constant("event" as const), record }),
);

describe("realtime: audience", () => {
  it("tells exactly those who may see, each once, whatever happened before", () => {
    fastCheck.assert(fastCheck.property(fastCheck.array(auth, { minLength: 4, maxLength: 4 }), fastCheck.array(step, { maxLength: 40 }), (auths, steps) => {
      const people: Person[] = [...auths.map((one) => ({ auth: one, bypasses: false })), { auth: null, bypasses: false }, { auth: null, bypasses: true }];
      let collection = collectionWith("owner = @auth.id");
      const audience = new Audience(collection);
      const members: { membership: Membership; records: "all" | ReadonlySet<string>; got: number }[] = [];
      for (const one of steps) {
        if (one.do === "join") {
          const member = { membership: undefined as unknown as Membership, records: one.wanted, got: 0 };
          const subscriber: Subscriber = {
            mountPath: "", deliver: () => { member.got += 1; },
            resync() {}, position() {}, ready: async () => undefined, collectionGone() {}, end() {}, abort() {},
          };
          member.membership = new Membership("t", subscriber, credentialOf({ type: "guest" }, true), new Map(), people[one.person]!, () => true);
          members.push(member);
          audience.add(member.membership, one.wanted);
        } else if (one.do === "leave") {
          const [gone] = members.splice(one.member, 1);
          if (gone !== undefined) audience.remove(gone.membership, gone.records);
        } else if (one.do === "change") {
          people[one.person]!.auth = one.auth;
          audience.refresh(people[one.person]!);
        } else if (one.do === "rule") {
          collection = collectionWith(one.rule);
          audience.useRule(collection);
        } else {
          const change = new StoredChange("1", "tasks", "update", one.record.id, JSON.stringify(one.record), at) as unknown as RecordChange;
          audience.deliver(new RecordEvent(change, collection, (_path, _collection, presented) => presented), "2026-02-01T00:00:00.000Z");
          for (const member of members) {
            const asked = member.records === "all" || member.records.has(one.record.id);
            const sees = createView(collection.rules.viewRule, member.membership.person)(one.record, "2026-02-01T00:00:00.000Z");
            expect(member.got).to.equal(asked && sees ? 1 : 0);
            member.got = 0;
          }
        }
      }
      for (const member of members) audience.remove(member.membership, member.records);
      expect(audience.isEmpty).to.equal(true);
    }), { numRuns: 300 });
  });
});

describe("realtime: batches", () => {
  it("streams that wait for the same frames share their bytes, in order", () => {
    const frames = Array.from({ length: 4 }, (_, index) => new Frame(`event: ${index}\ndata: ü\n\n`));
    fastCheck.assert(fastCheck.property(fastCheck.array(fastCheck.array(fastCheck.nat(3), { minLength: 1, maxLength: 6 })), (sequences) => {
      const empty = new Batch();
      const batches = sequences.map((sequence) => sequence.reduce((batch, index) => batch.with(frames[index]!), empty));
      for (const [index, sequence] of sequences.entries()) {
        const batch = batches[index]!;
        expect(batch.plain.toString()).to.equal(sequence.map((frame) => `event: ${frame}\ndata: ü\n\n`).join(""));
        expect(batch.chunked.toString()).to.equal(sequence.map((frame) => `13\r\nevent: ${frame}\ndata: ü\n\n\r\n`).join(""));
        const same = sequences.findIndex((other) => other.join() === sequence.join());
        expect(batches[same]).to.equal(batch);
      }
    }));
  });
});
