// The front door of rules/: a rule parsed and type-checked once, then bound to a caller for each use.
import type { JsonObject, RecordValue } from "../core/record.js";
import type { Filter } from "../storage/filter.js";
import type { Expression } from "./expression.js";

/** What a rule may look at beside the record. */
export interface RuleContext {
  /** The caller's user record, null for a guest: every `@auth.x` is null then. */
  readonly auth: RecordValue | null;
  /** The incoming body; only create and update have one. */
  readonly body?: JsonObject | undefined;
  /** Names of the fields that an update changes. */
  readonly changed?: ReadonlySet<string> | undefined;
  /** ISO 8601, UTC milliseconds. */
  readonly now: string;
  /** HTTP method in upper case; in code the method that the operation has over HTTP. */
  readonly method: string;
}

export interface Rule {
  readonly source: string;
  readonly expression: Expression;
  /** Members of `@auth` that the rule reads, for grouping callers by what matters. */
  readonly authFields: readonly string[];
  readonly readsBody: boolean;
  /** Reads `@changed`. */
  readonly readsChanged: boolean;
  /** Reads `@now`: the answer may change by itself. */
  readonly readsNow: boolean;
  readonly readsMethod: boolean;
  /** The rule with everything but the record filled in, constants folded: `always` and `never` are decided without a record. */
  bind(context: RuleContext): Filter;
  /**
   * The same, as far as it is decided before the body is: every comparison with `@body` or `@changed` is taken as one
   * that could hold. `never` is a flat denial, whatever a hook may still put into the body. Never narrower than `bind`.
   */
  bindEarly(context: RuleContext): Filter;
  /**
   * Where the rule is `… && field = @auth.member && …`: that pair, so that a fan-out may look subscribers up by the
   * record's value instead of asking each. Whoever uses it still evaluates the whole rule. null otherwise.
   */
  readonly ownerLookup: { readonly field: string; readonly authField: string } | null;
}
