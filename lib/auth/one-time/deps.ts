// What the recipes of one-time/ are built from.
import type { Clock } from "../../core/clock.js";
import type { Logger } from "../../core/logger.js";
import type { Hooks } from "../../hooks/hooks.js";
import type { Outgoing } from "../../mailer/outgoing.js";
import type { Define, Storage } from "../../storage/storage.js";
import type { TenantRegistry } from "../../tenants/context.js";
import type { Users } from "../../users/users.js";
import type { Families } from "../families.js";

export interface OneTimeDeps {
  readonly storage: Pick<Storage, "tenant">;
  readonly tenants: Pick<TenantRegistry, "byId" | "list">;
  readonly users: Pick<Users, "find" | "credentials" | "passwordErrors">;
  /** What removes a user's sessions. */
  readonly families: Pick<Families, "removeOperations">;
  readonly hooks: Pick<Hooks, "beforeRequest">;
  readonly outgoing: Pick<Outgoing, "available" | "send">;
  /** What makes sure of the table of mail jobs: tenants that are older than it have none. */
  readonly defineMailJobs: readonly Define[];
  readonly clock: Clock;
  readonly logger: Logger;
}
