// The front door of one-time/: password reset and e-mail verification by mailed tokens (interface, "Tenant auth
// endpoints"; contract 6). Requests are answered before anything is looked up, so that time and answer tell nothing.
import { createBoundedQueue } from "../../core/bounded-queue.js";
import { timestamp } from "../../core/clock.js";
import { ValidationFailed } from "../../core/errors.js";
import { describeError } from "../../core/logger.js";
import type { JsonObject } from "../../core/record.js";
import type { Hidden } from "../../storage/storage.js";
import { is, text } from "../../storage/filter.js";
import type { TenantContext } from "../../tenants/context.js";
import type { Origin } from "../origin.js";
import type { OneTimeDeps } from "./deps.js";
import { issue } from "./issue.js";
import { reset, verification, type Kind } from "./kinds.js";
import { createMailWorker } from "./mail-worker.js";
import { redeem, runHooks } from "./redeem.js";

export interface OneTime {
  /**
   * `{ email }`: has a reset token issued and mailed to every account with the address, after it has resolved. Unknown
   * tenant, feature off, unknown address: nothing, and no difference. Throws HookRejected, HookFailed.
   */
  forgotPassword(context: TenantContext | undefined, origin: Origin, input: JsonObject): Promise<void>;
  /** The same for verification. Accounts that are verified get nothing. */
  requestVerification(context: TenantContext | undefined, origin: Origin, input: JsonObject): Promise<void>;
  /**
   * `{ token, password }`: sets the password and ends every session. Throws ValidationFailed for `password` and
   * TooManyRequests (the token stays usable), BadRequest("Invalid or expired token"), HookRejected, HookFailed.
   */
  resetPassword(origin: Origin, input: JsonObject): Promise<void>;
  /** `{ token }`: the address is verified. Throws BadRequest("Invalid or expired token"), HookRejected, HookFailed. */
  confirmVerification(origin: Origin, input: JsonObject): Promise<void>;
  /** Begins to send what earlier processes left. The storage is open by then. */
  start(): void;
  /** Resolves when every request that was taken is served, and every mail that is due was handed over or given up. */
  idle(): Promise<void>;
  /**
   * Takes no more requests, and gives requests and mails up to these milliseconds. Mails that are left stay in the
   * store. Before the mailer's own end.
   */
  close(ms: number): Promise<void>;
}

const mostAtATime = 4;
const mostWaiting = 1000;

export function createOneTime(deps: OneTimeDeps): OneTime {
  const { users, families, clock, logger } = deps;
  const queue = createBoundedQueue({ concurrency: mostAtATime, capacity: mostWaiting });
  const worker = createMailWorker(deps);
  let full = false;
  /** Tenants with more mails than may wait, once they are told of. */
  const fullTenants = new Set<string>();

  async function request(kind: Kind, context: TenantContext | undefined, origin: Origin, input: JsonObject): Promise<void> {
    if (context === undefined) return;
    const { email } = await runHooks(deps, context, origin, input);
    const taken = queue.offer(async () => {
      try {
        tellIfFull(context.tenant.id, !(await issue(deps, kind, context, email, worker.wake)));
      } catch (error) {
        logger.error({ tenantId: context.tenant.id, error: describeError(error) }, "one-time tokens could not be issued");
      }
    });
    if (!taken && !full) logger.error({}, "a request for a one-time token was dropped: too many wait");
    full = !taken;
  }

  function tellIfFull(tenantId: string, isFull: boolean): void {
    if (!isFull) fullTenants.delete(tenantId);
    else if (!fullTenants.has(tenantId)) {
      fullTenants.add(tenantId);
      logger.error({ tenantId }, "a mail was dropped: too many wait");
    }
  }

  return {
    forgotPassword: (context, origin, input) => request(reset, context, origin, input),
    requestVerification: (context, origin, input) => request(verification, context, origin, input),

    async resetPassword(origin, input) {
      const { password } = input;
      const missing = password === undefined || password === null || password === "";
      const faults = missing ? [{ field: "password", message: "is required" }] : users.passwordErrors(password);
      if (faults.length > 0) throw new ValidationFailed(faults);
      let columns: Promise<Hidden> | undefined;
      await redeem(deps, reset, origin, input, async (context, row) => {
        columns ??= users.credentials.columns(password as string);
        return {
          update: { set: { updatedAt: timestamp(clock) }, setHidden: { ...(await columns), revokedFamilies: null }, increment: { generation: 1 } },
          operations: await families.removeOperations(context, row.id),
        };
      });
    },

    async confirmVerification(origin, input) {
      await redeem(deps, verification, origin, input, async (_context, row) => ({
        update: { where: is(text("email"), String(row.record["email"])), set: { emailVerified: true, updatedAt: timestamp(clock) } },
        operations: [],
      }));
    },

    start: worker.start,
    async idle() {
      await queue.idle();
      await worker.idle();
    },
    async close(ms) {
      const end = performance.now() + ms;
      await queue.close(ms);
      await worker.close(Math.max(0, end - performance.now()));
    },
  };
}
