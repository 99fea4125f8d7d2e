// Signatures of deliveries: X-Service-Signature, the headers of the Standard Webhooks specification, and the check for receivers.
import { createHmac } from "node:crypto";
import { equalInConstantTime } from "../core/ids.js";

/** The value of `X-Service-Signature`: HMAC-SHA256 over exactly these bytes. */
export function signBody(body: string | Uint8Array, secret: string): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

/**
 * Whether a delivery was signed with this secret. Takes the same time wherever the signatures differ.
 *
 * @param rawBody the bytes as they were received; a body that was parsed and written again will not do
 * @param header the value of `X-Service-Signature`
 * @param secret the hook's secret
 */
export function verifyHookSignature(rawBody: string | Uint8Array, header: string | readonly string[] | null | undefined, secret: string): boolean {
  if (typeof header !== "string" || secret === "") return false;
  return equalInConstantTime(header.trim(), signBody(rawBody, secret));
}

/**
 * `webhook-id`, `webhook-timestamp` and `webhook-signature` (version 1). A secret in the specification's own form,
 * `whsec_` and base64, stands for the bytes in it; any other for its own text.
 *
 * @param now milliseconds since the epoch, of this attempt
 */
export function standardWebhookHeaders(deliveryId: string, now: number, body: string | Uint8Array, secret: string): Record<string, string> {
  const seconds = String(Math.floor(now / 1000));
  const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice("whsec_".length), "base64") : Buffer.from(secret);
  const signature = createHmac("sha256", key).update(`${deliveryId}.${seconds}.`).update(body).digest("base64");
  return { "webhook-id": deliveryId, "webhook-timestamp": seconds, "webhook-signature": `v1,${signature}` };
}
