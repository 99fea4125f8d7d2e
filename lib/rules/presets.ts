// Presets: names for the rules that most collections want. A preset is just an expression.
import type { RuleName } from "../schema/collection.js";

export interface Preset {
  readonly name: "No access" | "Public" | "Signed in" | "Own records" | "Group peers";
  /** What it means, for people. */
  readonly description: string;
  /** null: No access. */
  readonly rule: string | null;
}

/** The presets for one rule of a collection. Own records needs a field `owner`, Group peers a field `group` on both sides. */
export function presetsFor(rule: RuleName, isUsers: boolean): readonly Preset[] {
  return [
    { name: "No access", description: "Nobody but superadmins and keys that bypass rules.", rule: null },
    { name: "Public", description: "Everybody, guests too.", rule: "true" },
    { name: "Signed in", description: "Every user of the tenant.", rule: "@auth.id != null" },
    { name: "Own records", description: isUsers ? "Users, their own account." : "The user whose id stands in the field owner.", rule: ownRecords(rule, isUsers) },
    { name: "Group peers", description: "Users whose field group equals that of the record.", rule: "group = @auth.group" },
  ];
}

/** The rules that `users` starts with. */
export const initialUserRules: Readonly<Record<RuleName, string | null>> = {
  listRule: "id = @auth.id",
  viewRule: "id = @auth.id",
  createRule: null,
  updateRule: "id = @auth.id",
  deleteRule: null,
};

function ownRecords(rule: RuleName, isUsers: boolean): string {
  if (isUsers) return "id = @auth.id";
  return rule === "updateRule" ? "owner = @auth.id && !@changed.owner" : "owner = @auth.id";
}
