// What the recipes of one-time/ are built from.
import type { Clock } from "../../core/clock.js";
import type { Logger } from "../../core/logger.js";
import type { Hooks } from "../../hooks/hooks.js";
import type { MailQueue } from "../../mailer/mail-queue.js";
import type { TenantRegistry } from "../../tenants/context.js";
import type { Users } from "../../users/users.js";
import type { Families } from "../families.js";

export interface OneTimeDeps {
  readonly tenants: Pick<TenantRegistry, "byId">;
  readonly users: Pick<Users, "find" | "credentials" | "passwordErrors">;
  /** What removes a user's sessions. */
  readonly families: Pick<Families, "removeOperations">;
  readonly hooks: Pick<Hooks, "beforeRequest">;
  readonly mails: Pick<MailQueue, "send">;
  readonly clock: Clock;
  readonly logger: Logger;
}
