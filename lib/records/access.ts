// Decisions about who may do what, and the status that says so (contract 1 and 11, "Status choice on a denied rule").
import { bypassesRules, callerUser, type Call } from "../core/call.js";
import { timestamp, type Clock } from "../core/clock.js";
import { Forbidden, NotFound, Unauthorized } from "../core/errors.js";
import type { JsonObject, RecordValue } from "../core/record.js";
import type { Collection } from "../collections/collection.js";
import type { RuleContext } from "../rules/rule.js";
import type { RuleName } from "../schema/collection.js";
import { always, isAlways, isNever, never, type Filter } from "../storage/filter.js";
import { matches } from "../storage/matches.js";
import type { Row } from "../storage/storage.js";

/** What of a write a rule may look at. */
export interface Incoming {
  readonly body: JsonObject;
  readonly changed?: ReadonlySet<string>;
}

const methods: Record<RuleName, string> = { listRule: "GET", viewRule: "GET", createRule: "POST", updateRule: "PATCH", deleteRule: "DELETE" };

export interface Access {
  /** The rule as a filter on records, for this caller. `early`: what the body decides is taken as allowed. */
  filter(call: Call, collection: Collection, rule: RuleName, incoming?: Incoming | "early"): Filter;
  /**
   * Denies what is decided without a record: No access (401 for a guest, 403 else), a rule that no guest can satisfy
   * (401), and a create that can never be allowed (403). Reaches no hook.
   */
  demandPossible(call: Call, collection: Collection, rule: RuleName): void;
  /** Whether the caller may view the record. */
  canView(call: Call, collection: Collection, record: RecordValue): boolean;
  /** The row, where the caller may view it. Throws Unauthorized, Forbidden, NotFound. */
  demandView(call: Call, collection: Collection, row: Row | undefined): Row;
  /** The row, where the rule of an update or a removal holds on it: 404 where the caller may not even view it, else 403 (401 for a guest). */
  demandChange(call: Call, collection: Collection, rule: "updateRule" | "deleteRule", row: Row | undefined, incoming?: Incoming | "early"): Row;
  /** The denial of a caller that may know of the thing but not do this to it. */
  denied(call: Call): Unauthorized | Forbidden;
}

export function createAccess(clock: Clock): Access {
  function contextOf(call: Call, rule: RuleName, incoming: Incoming | undefined): RuleContext {
    let now: string | undefined;
    return {
      auth: callerUser(call.caller),
      body: incoming?.body,
      changed: incoming?.changed,
      // Made where a rule asks for it, and then once.
      get now() {
        return (now ??= timestamp(clock));
      },
      method: methods[rule],
    };
  }

  function filter(call: Call, collection: Collection, name: RuleName, incoming?: Incoming | "early"): Filter {
    if (bypassesRules(call.caller)) return always;
    const rule = collection.rules[name];
    if (rule === null) return never;
    return incoming === "early" ? rule.bindEarly(contextOf(call, name, undefined)) : rule.bind(contextOf(call, name, incoming));
  }

  function denied(call: Call): Unauthorized | Forbidden {
    return call.caller.type === "guest" ? new Unauthorized() : new Forbidden();
  }

  function holds(bound: Filter, record: RecordValue): boolean {
    return isAlways(bound) || (!isNever(bound) && matches(bound, record));
  }

  function canView(call: Call, collection: Collection, record: RecordValue): boolean {
    return holds(filter(call, collection, "viewRule"), record);
  }

  return {
    filter,
    denied,
    canView,

    demandPossible(call, collection, name) {
      if (bypassesRules(call.caller)) return;
      const rule = collection.rules[name];
      if (rule === null) throw denied(call);
      const guest = call.caller.type === "guest";
      if (!guest && name !== "createRule") return;
      if (isNever(rule.bindEarly(contextOf(call, name, undefined)))) throw denied(call);
    },

    demandView(call, collection, row) {
      if (row === undefined || !canView(call, collection, row.record)) throw new NotFound();
      return row;
    },

    demandChange(call, collection, name, row, incoming) {
      if (row === undefined) throw new NotFound();
      if (holds(filter(call, collection, name, incoming), row.record)) return row;
      throw canView(call, collection, row.record) ? denied(call) : new NotFound();
    },
  };
}
