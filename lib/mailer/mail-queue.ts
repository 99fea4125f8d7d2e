// The mail queue: best effort, after the answer, bounded in number and time. A failure is logged and nobody else's matter.
import { createBoundedQueue } from "../core/bounded-queue.js";
import { describeError, type Logger } from "../core/logger.js";
import { isPlainAddress } from "./address.js";
import type { Mail, Mailer } from "./mailer.js";

const mostAtATime = 5;
const mostWaiting = 1000;
/** For mailers of a host, which may know no end. */
const longestAttemptMs = 20_000;

export interface MailQueue {
  /** Takes the mail and returns at once. */
  send(mail: Mail): void;
  /** Resolves when nothing waits and nothing is under way. */
  idle(): Promise<void>;
  /** Gives what waits up to these milliseconds, then closes the mailer. */
  close(ms: number): Promise<void>;
}

/** @param mailer undefined: no mail goes out, and nothing is logged about it */
export function createMailQueue({ mailer, logger }: { readonly mailer: Mailer | undefined; readonly logger: Logger }): MailQueue {
  const queue = createBoundedQueue({ concurrency: mostAtATime, capacity: mostWaiting });
  let refused = 0;

  async function attempt(mail: Mail, through: Mailer): Promise<void> {
    try {
      await inTime(through.send(mail));
      if (refused > 0) logger.warn({ mails: refused }, "mails were dropped: too many waited");
      refused = 0;
    } catch (error) {
      // Its message may repeat what the server said, and so the address: only the kind of failure is told.
      const { name, code } = describeError(error);
      const responseCode = (error as { responseCode?: unknown }).responseCode;
      logger.error({ error: { name, code, ...(typeof responseCode === "number" ? { responseCode } : {}) } }, "a mail could not be sent");
    }
  }

  return {
    send(mail) {
      if (mailer === undefined || !isPlainAddress(mail.to)) return;
      if (queue.offer(() => attempt(mail, mailer))) return;
      if (refused === 0) logger.error({}, "a mail was dropped: too many wait");
      refused += 1;
    },
    idle: queue.idle,
    async close(ms) {
      await queue.close(ms);
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
