// The mailer contract: one method.

export interface Mail {
  /** One address, validated before: never a list, never a header. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface Mailer {
  /** Resolves once the mail was handed over; rejects where it was not. The service logs a failure and goes on. */
  send(mail: Mail): Promise<void>;
  /** Releases connections. */
  close?(): Promise<void>;
}

/** The option `mailer`, where it is no mailer of the host's own. */
export interface SmtpOptions {
  /** Empty: no mail goes out. */
  readonly host: string;
  readonly port?: number | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** @default true where a username is given */
  readonly authentication?: boolean | undefined;
  /** `smtps`: TLS from the first byte, with a certificate that is checked. `smtp`: TLS where the server offers it. @default "smtp" */
  readonly protocol?: "smtp" | "smtps" | undefined;
  readonly from: string;
  readonly fromName?: string | undefined;
}
