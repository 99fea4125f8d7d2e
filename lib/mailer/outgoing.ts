// Outgoing mail: one attempt, bounded in time, best effort. A failure is logged and nobody else's matter.
import { describeError, type Logger } from "../core/logger.js";
import { isPlainAddress } from "./address.js";
import type { Mail, Mailer } from "./mailer.js";

/** Milliseconds. For mailers of a host, which may know no end. */
export const longestAttemptMs = 20_000;

export interface Outgoing {
  /** Whether there is a mailer. */
  readonly available: boolean;
  /** Resolves once the mail was handed over or given up. Never rejects. */
  send(mail: Mail): Promise<void>;
  /** Closes the mailer. */
  close(): Promise<void>;
}

/** @param mailer undefined: no mail goes out, and nothing is logged about it */
export function createOutgoing({ mailer, logger }: { readonly mailer: Mailer | undefined; readonly logger: Logger }): Outgoing {
  return {
    available: mailer !== undefined,
    async send(mail) {
      if (mailer === undefined || !isPlainAddress(mail.to)) return;
      try {
        await inTime(mailer.send(mail));
      } catch (error) {
        // Its message may repeat what the server said, and so the address: only the kind of failure is told.
        const { name, code } = describeError(error);
        const responseCode = (error as { responseCode?: unknown } | null | undefined)?.responseCode;
        logger.error({ error: { name, code, ...(typeof responseCode === "number" ? { responseCode } : {}) } }, "a mail could not be sent");
      }
    },
    async close() {
      await mailer?.close?.();
    },
  };
}

async function inTime(sending: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(Object.assign(new Error("the mailer took too long"), { code: "ETIMEDOUT" })), longestAttemptMs).unref();
  });
  try {
    await Promise.race([sending, late]);
  } finally {
    clearTimeout(timer);
  }
}
