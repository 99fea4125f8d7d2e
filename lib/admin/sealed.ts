// Sealed text: encrypted and authenticated with AES-256-GCM, for cookies and for the stored TOTP secret.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const nonceBytes = 12;
const tagBytes = 16;

export interface Seal {
  /** base64url text that only the same seal opens. */
  seal(plain: string): string;
  /** undefined where the text was not sealed by this seal, or was changed since. Never throws. */
  open(sealed: string): string | undefined;
}

/**
 * A seal whose key is derived (HKDF, SHA-256) from a secret and bound to a purpose: what was sealed for one purpose
 * never opens for another. Sealed text that is longer than `longestText` is not looked at.
 */
export function createSeal(secret: string, purpose: string, longestText = 4096): Seal {
  const key = Buffer.from(hkdfSync("sha256", Buffer.from(secret, "utf8"), Buffer.alloc(0), `records-service ${purpose}`, 32));
  const bound = Buffer.from(purpose, "utf8");
  return {
    seal(plain) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(bound);
      const content = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
      return Buffer.concat([nonce, content, cipher.getAuthTag()]).toString("base64url");
    },
    open(sealed) {
      if (sealed.length > longestText) return undefined;
      const bytes = Buffer.from(sealed, "base64url");
      if (bytes.length <= nonceBytes + tagBytes) return undefined;
      try {
        const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
          .setAAD(bound)
          .setAuthTag(bytes.subarray(bytes.length - tagBytes));
        const content = decipher.update(bytes.subarray(nonceBytes, bytes.length - tagBytes));
        return Buffer.concat([content, decipher.final()]).toString("utf8");
      } catch {
        return undefined;
      }
    },
  };
}
