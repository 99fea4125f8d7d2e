// Time-based one-time passwords (RFC 6238: SHA-1, six digits, 30 seconds), as every authenticator app speaks them. The
// only user of otpauth, which is loaded with the first of them.
import { createRequire } from "node:module";
import type * as otpauth from "otpauth";

const load = createRequire(import.meta.url);
const library = () => load("otpauth") as typeof otpauth;
const stepMs = 30_000;
const issuer = "records-service";

/** A fresh secret of 160 bits, base32. */
export function newTotpSecret(): string {
  const { Secret } = library();
  return new Secret({ size: 20 }).base32;
}

/** The `otpauth://` address that an authenticator app reads from a QR code. */
export function totpUri(secret: string, username: string): string {
  return authenticator(secret, username).toString();
}

/**
 * The time step that the code belongs to: the current one, the one before or the one after. undefined where it is
 * wrong. The caller remembers the step, so that a code works once.
 */
export function totpStep(secret: string, code: string, now: number): number | undefined {
  if (!/^[0-9]{6}$/.test(code)) return undefined;
  const delta = authenticator(secret, "").validate({ token: code, timestamp: now, window: 1 });
  return delta === null ? undefined : Math.floor(now / stepMs) + delta;
}

function authenticator(secret: string, label: string): otpauth.TOTP {
  const { Secret, TOTP } = library();
  return new TOTP({ issuer, label, secret: Secret.fromBase32(secret), algorithm: "SHA1", digits: 6, period: stepMs / 1000 });
}
