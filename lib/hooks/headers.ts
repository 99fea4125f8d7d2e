// Header names of hooks: which of the request's may never be forwarded, which of the delivery's may not be set by hand.
import { signBody, standardWebhookHeaders } from "./signature.js";

/** Lower case. */
export const forbiddenForwardHeaders: readonly string[] = ["authorization", "cookie", "set-cookie", "proxy-authorization"];

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const ownedByTransport: readonly string[] = [
  "content-type", "content-length", "content-encoding", "host", "transfer-encoding", "connection", "keep-alive", "proxy-connection",
  "upgrade", "te", "trailer", "expect", "accept-encoding", "webhook-id", "webhook-timestamp", "webhook-signature",
];

/** Whether the text is a header's name by RFC 9110: visible ASCII only, so that nothing can look like another name. */
export function isHeaderName(name: string): boolean {
  return token.test(name) && name.length <= 256;
}

/** Whether a static header of this name would take the place of one that the service sets. Any case. */
export function isReservedHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return lower.startsWith("x-service-") || lower.startsWith(":") || ownedByTransport.includes(lower);
}

/** Whether the text can be sent as a header's value: Latin-1 without control characters. */
export function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

export interface DeliveryFacts {
  readonly event: string;
  readonly collection: string;
  readonly deliveryId: string;
  readonly body: Uint8Array;
  readonly secret: string;
  /** The hook's own. */
  readonly static: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch, where the Standard Webhooks headers are wanted; else null. */
  readonly standardAt: number | null;
}

/** The headers of one delivery. What the service sets wins over the hook's own. */
export function deliveryHeaders(facts: DeliveryFacts): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(facts.static)) {
    if (isHeaderName(name) && isHeaderValue(value) && !isReservedHeader(name)) headers[name.toLowerCase()] = value;
  }
  return {
    ...headers,
    "content-type": "application/json",
    "x-service-event": facts.event,
    "x-service-collection": facts.collection,
    "x-service-delivery-id": facts.deliveryId,
    "x-service-signature": signBody(facts.body, facts.secret),
    ...(facts.standardAt === null ? {} : standardWebhookHeaders(facts.deliveryId, facts.standardAt, facts.body, facts.secret)),
  };
}
