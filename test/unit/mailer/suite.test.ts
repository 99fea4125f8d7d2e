// The conformance suite of mailers, run on the built-in one with a mail server behind it.
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import PostalMime from "postal-mime";
import { SMTPServer } from "smtp-server";
import type { Mail } from "../../../lib/mailer/mailer.js";
import { createSmtpMailer } from "../../../lib/mailer/smtp.js";
import { mailerSuite, type MailerUnderTest } from "../../../lib/testing/mailer.js";

const sender = { host: "127.0.0.1", from: "service@example.org", fromName: "Records" };

async function make(): Promise<MailerUnderTest> {
  const sources: { readonly to: string; readonly source: Buffer }[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData(stream, session, callback) {
      const parts: Buffer[] = [];
      stream.on("data", (part: Buffer) => parts.push(part)).on("end", () => {
        sources.push({ to: session.envelope.rcptTo.map(({ address }) => address).join(","), source: Buffer.concat(parts) });
        callback();
      });
    },
  });
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  const parsed = async ({ to, source }: { readonly to: string; readonly source: Buffer }): Promise<Mail> => {
    const { subject = "", text = "" } = await PostalMime.parse(source);
    return { to, subject, text };
  };
  return {
    mailer: createSmtpMailer({ ...sender, port: (server.server.address() as AddressInfo).port }),
    received: async () => await Promise.all(sources.map(parsed)),
    dispose: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

mailerSuite("SMTP", {
  make,
  async makeUnreachable() {
    const { mailer, dispose } = await make();
    await dispose!();
    return mailer;
  },
});
