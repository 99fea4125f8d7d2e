// One connection of the event stream, from its opening until it is lost; with a watch over its silence.
import { readEvents, type StreamEvent } from "./event-stream.js";
import { ConnectionError } from "./errors.js";
import type { Transport } from "./transport.js";

export interface ConnectionHandlers {
  /** The first event: under this id the stream is subscribed. */
  readonly opened: (clientId: string) => void;
  readonly event: (event: StreamEvent) => void;
  readonly comment: (text: string) => void;
}

/** Milliseconds between two looks at the silence. */
const lookInterval = 5_000;

/**
 * Resolves or rejects when the connection is over, however that came. `silence`: milliseconds without any sign of the
 * server after which it counts as lost.
 */
export async function holdConnection(transport: Transport, abort: AbortController, silence: number, handlers: ConnectionHandlers): Promise<void> {
  let lastSign = Date.now();
  let isOpen = false;
  const watch = setInterval(() => {
    if (Date.now() - lastSign > silence) abort.abort(new ConnectionError(undefined));
  }, Math.min(silence / 2, lookInterval));
  try {
    const { body } = await transport.send("GET", "/api/realtime", { anonymous: true, signal: abort.signal });
    if (body === null) throw new ConnectionError(undefined);
    await readEvents(body, {
      event(event) {
        lastSign = Date.now();
        if (isOpen) {
          handlers.event(event);
          return;
        }
        const { clientId } = JSON.parse(event.data) as { clientId?: string };
        if (event.event !== "connect" || clientId === undefined) throw new ConnectionError(undefined);
        isOpen = true;
        handlers.opened(clientId);
      },
      comment(text) {
        lastSign = Date.now();
        handlers.comment(text);
      },
    });
  } finally {
    clearInterval(watch);
    abort.abort();
  }
}

/** POST /api/realtime/subscribe. Throws RecordsError. */
export async function tellSubscriptions(transport: Transport, clientId: string, subscriptions: readonly string[], since: string | null, signal: AbortSignal): Promise<void> {
  await transport.send("POST", "/api/realtime/subscribe", { body: { clientId, subscriptions, ...(since === null ? {} : { since }) }, signal });
}

/** Tries each entry on a stream of its own, and gives those that the service refuses with its error. */
export async function findRefused<E>(transport: Transport, entries: readonly string[], silence: number, isRefusal: (error: unknown) => error is E): Promise<ReadonlyMap<string, E>> {
  const refused = new Map<string, E>();
  const abort = new AbortController();
  try {
    const clientId = await new Promise<string>((opened, lost) => {
      holdConnection(transport, abort, silence, { opened, event: () => undefined, comment: () => undefined })
        .then(() => lost(new ConnectionError(undefined)), lost);
    });
    for (const entry of entries) {
      try {
        await tellSubscriptions(transport, clientId, [entry], null, abort.signal);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        refused.set(entry, error);
      }
    }
  } finally {
    abort.abort();
  }
  return refused;
}
