// What the recipes of auth/ are built from.
import type { Call } from "../core/call.js";
import type { Clock } from "../core/clock.js";
import type { RecordValue } from "../core/record.js";
import type { Collection } from "../collections/collection.js";
import type { mergeFiles } from "../files/merge.js";
import type { Hooks } from "../hooks/hooks.js";
import type { TenantRegistry } from "../tenants/context.js";
import type { Users } from "../users/users.js";
import type { Families } from "./families.js";
import type { RefreshTokens } from "./refresh-token.js";

export interface AuthDeps {
  readonly tenants: TenantRegistry;
  readonly users: Users;
  readonly hooks: Hooks;
  readonly clock: Clock;
  readonly families: Families;
  readonly refreshTokens: RefreshTokens;
  /** What FILE fields of a new account hold. */
  readonly mergeFiles: typeof mergeFiles;
  /** The outgoing shape of a record with FILE fields. */
  readonly present: (call: Call, collection: Collection, record: RecordValue) => RecordValue;
}
