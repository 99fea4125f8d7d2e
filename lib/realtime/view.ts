// View: what one caller may see of a collection, its viewRule bound to him and run in memory on a record.
import type { RecordValue } from "../core/record.js";
import type { Rule } from "../rules/rule.js";
import { isAlways, isNever } from "../storage/filter.js";
import { matcher } from "../storage/matches.js";
import type { Person } from "./membership.js";

/** Whether the record may be seen at this time (ISO 8601, for `@now`). */
export type View = (record: RecordValue, now: string) => boolean;

const everything: View = () => true;
const nothing: View = () => false;

/** Binds the rule as GET by id would be decided. Constant answers cost nothing. */
export function createView(rule: Rule | null, { auth, bypasses }: Person): View {
  if (bypasses) return everything;
  if (rule === null) return nothing;
  if (rule.readsNow) return (record, now) => matcher(rule.bind({ auth, now, method: "GET" }))(record);
  const filter = rule.bind({ auth, now: "", method: "GET" });
  if (isAlways(filter)) return everything;
  return isNever(filter) ? nothing : matcher(filter);
}
