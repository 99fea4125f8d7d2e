// A mail server that takes what is sent and says nothing to it until it is told to: whether a mail has arrived is
// unknown to the sender.
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";

export interface SilentSmtp {
  readonly port: number;
  /** The texts of what has come so far. */
  readonly mails: readonly string[];
  /** Resolves once so many mails have come. */
  arrived(count: number): Promise<void>;
  /** From now on mails are answered. */
  answer(): void;
  close(): Promise<void>;
}

export async function openSilentSmtp(): Promise<SilentSmtp> {
  const mails: string[] = [];
  const waiting = new Set<() => void>();
  let answers = false;
  const smtp = new SMTPServer({
    authOptional: true, disabledCommands: ["STARTTLS"],
    onData(stream, _session, callback) {
      let source = "";
      stream.setEncoding("utf8").on("data", (part: string) => { source += part; }).on("end", () => {
        mails.push(source.replaceAll("=\r\n", "").replaceAll("=3D", "="));
        for (const look of waiting) look();
        if (answers) callback();
      });
    },
  });
  smtp.on("error", () => undefined);
  await new Promise<void>((resolve) => smtp.listen(0, "127.0.0.1", resolve));
  return {
    port: (smtp.server.address() as AddressInfo).port,
    mails,
    arrived: (count) => new Promise((resolve) => {
      const look = (): void => {
        if (mails.length < count) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    }),
    answer: () => { answers = true; },
    close: () => new Promise((resolve) => smtp.close(() => resolve())),
  };
}
