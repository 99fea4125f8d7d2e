// Mailer over SMTP. The only user of nodemailer, which is loaded with the first mail.
import type { createTransport } from "nodemailer";
import type { Mail, Mailer, SmtpOptions } from "./mailer.js";

export interface SmtpTuning {
  /** Certificates to trust beside the system's, PEM. */
  readonly ca?: string | undefined;
  /** Milliseconds for a whole attempt. @default 15000 */
  readonly attemptMs?: number | undefined;
  /** Milliseconds to connect, and then to be greeted. @default 5000 */
  readonly greetingMs?: number | undefined;
  /** Milliseconds of silence. @default 10000 */
  readonly silenceMs?: number | undefined;
}

/** Each mail takes a connection of its own: none is left open. Rejects within the time of an attempt, whatever the server does. */
export function createSmtpMailer(options: SmtpOptions, tuning: SmtpTuning = {}): Mailer {
  const { host, username = "", password = "", protocol = "smtp", from, fromName = "" } = options;
  const { attemptMs = 15_000, greetingMs = 5000, silenceMs = 10_000 } = tuning;
  const secure = protocol === "smtps";
  const authenticates = options.authentication ?? username !== "";
  const transportOf = (create: typeof createTransport) => create({
    host,
    port: options.port ?? (secure ? 465 : 587),
    secure,
    ...(authenticates ? { auth: { user: username, pass: password } } : {}),
    // Whoever can tamper with an smtp connection can hide that it offers TLS: a check of the certificate would only
    // keep mail from servers with one of their own making. smtps is checked.
    tls: { rejectUnauthorized: secure, ...(tuning.ca === undefined ? {} : { ca: tuning.ca }) },
    connectionTimeout: greetingMs,
    dnsTimeout: greetingMs,
    greetingTimeout: greetingMs,
    socketTimeout: silenceMs,
    socketCloseTimeout: 1000,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  let loading: Promise<ReturnType<typeof transportOf>> | undefined;

  return {
    async send({ to, subject, text }: Mail) {
      const attempt = new AbortController();
      const timer = setTimeout(() => attempt.abort(new Error("the mail server took too long")), attemptMs).unref();
      try {
        // An address as an object is taken as it stands: text would be parsed, and could name others.
        loading ??= import("nodemailer").then((library) => transportOf(library.createTransport));
        const transport = await loading;
        await transport.sendMail({ from: { name: fromName, address: from }, to: { name: "", address: to }, subject, text, signal: attempt.signal });
      } finally {
        clearTimeout(timer);
      }
    },
    async close() {
      (await loading)?.close();
    },
  };
}
