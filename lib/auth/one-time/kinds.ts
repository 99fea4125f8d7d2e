// The two kinds of one-time tokens: their hidden columns, their settings, the texts of their mails.
import type { Settings } from "../../core/tenant.js";
import type { Row } from "../../storage/storage.js";

export interface Kind {
  readonly name: "reset" | "verification";
  readonly hashColumn: string;
  /** Milliseconds since the epoch. */
  readonly expiresColumn: string;
  settings(settings: Settings): { readonly enabled: boolean; readonly linkUrl: string };
  /** Whether a token would be of use to the account. */
  serves(row: Row): boolean;
  readonly subject: (tenant: string) => string;
  /** What happened, and what the link does. */
  readonly opening: (tenant: string, account: string) => string;
}

export const lifetimeMs = 30 * 60_000;

export const reset: Kind = {
  name: "reset",
  hashColumn: "resetHash",
  expiresColumn: "resetExpires",
  settings: ({ passwordReset }) => passwordReset,
  serves: () => true,
  subject: (tenant) => `Choose a new password for ${tenant}`,
  opening: (tenant, account) => `Somebody asked for a new password for your account${account} at ${tenant}.\nOpen this link to choose one:`,
};

export const verification: Kind = {
  name: "verification",
  hashColumn: "verifyHash",
  expiresColumn: "verifyExpires",
  settings: ({ emailVerification }) => emailVerification,
  serves: ({ record }) => record["emailVerified"] !== true,
  subject: (tenant) => `Confirm your e-mail address for ${tenant}`,
  opening: (tenant, account) => `Please confirm that this is the e-mail address of your account${account} at ${tenant}.\nOpen this link:`,
};

/** By name. */
export const kinds: Readonly<Record<string, Kind>> = { reset, verification };
