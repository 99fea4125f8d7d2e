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
