// Collection: a definition with everything that follows from it compiled once.
import type { Call } from "../core/call.js";
import type { CollectionDefinition, Field, FileField, RelationField, RuleName } from "../schema/collection.js";
import type { Rule } from "../rules/rule.js";

export interface Collection {
  readonly definition: CollectionDefinition;
  readonly name: string;
  /** The store's table: `c_` and the id without dashes, so a collection's name never reaches the engine. */
  readonly table: string;
  readonly fields: ReadonlyMap<string, Field>;
  readonly files: readonly FileField[];
  readonly relations: readonly RelationField[];
  /** null: No access. */
  readonly rules: Readonly<Record<RuleName, Rule | null>>;
  /** The stored text is what clients get: there is no FILE field. */
  readonly passthrough: boolean;
  /** The built-in `users`. */
  readonly isUsers: boolean;
}

/** The table of the built-in collection `users`, the same in every tenant. */
export const usersTable = "c_users";

/** Which call and collection an operation is about, for the features that take part in it. */
export interface CollectionCall {
  readonly call: Call;
  readonly collection: Collection;
}
