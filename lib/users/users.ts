// The front door of users/: accounts looked up, passwords checked and set, and the policy of the record pipeline.
import type { UserPolicy } from "../auth/auth.js";
import type { FieldError } from "../core/errors.js";
import type { PasswordHasher } from "../hasher/hasher.js";
import type { Row } from "../storage/storage.js";
import type { TenantContext } from "../tenants/context.js";
import { createCredentials, type Credentials } from "./credentials.js";
import { findActive, findByUsername, generationOf } from "./find.js";
import { passwordErrors } from "./password.js";
import { createUserPolicy, type UserPolicyDeps } from "./policy.js";

export interface Users {
  readonly policy: UserPolicy;
  readonly credentials: Credentials;
  /** The active account with this id; an inactive one is not found. */
  find(context: TenantContext, userId: string): Promise<Row | undefined>;
  /** The active account with exactly this username. */
  findByUsername(context: TenantContext, username: unknown): Promise<Row | undefined>;
  /** The number that every token of the account must carry. */
  generationOf(row: Row): number;
  /** What is wrong with a new password, as entries. */
  passwordErrors(value: unknown): FieldError[];
}

export interface UsersDeps {
  /** The one behind the slots. */
  readonly hasher: PasswordHasher;
  readonly follow: UserPolicyDeps["follow"];
}

export function createUsers({ hasher, follow }: UsersDeps): Users {
  const credentials = createCredentials({ hasher });
  return {
    policy: createUserPolicy({ credentials, follow }),
    credentials,
    find: findActive,
    findByUsername,
    generationOf: (row) => generationOf(row.hidden),
    passwordErrors,
  };
}
