// Live: all subscriptions of a client over one stream, which is opened with the first, renewed before its token ends,
// and opened again where it is lost, from where it stood.
import type { Change, Fields } from "./collection.js";
import { findRefused, holdConnection, tellSubscriptions } from "./connection.js";
import { RecordsError } from "./errors.js";
import type { StreamEvent } from "./event-stream.js";
import type { Session } from "./session.js";
import { createSubscribers, type Listener, type Subscription, type SubscriptionOptions } from "./subscribers.js";
import type { Transport } from "./transport.js";

/** `waiting`: not connected, and about to try again. `signedOut`: nobody is signed in, and nothing can be told. */
export type LiveState = "idle" | "connecting" | "live" | "waiting" | "signedOut";

export interface Live {
  subscribe(collection: string, listener: Listener, options?: SubscriptionOptions): Subscription;
  readonly state: LiveState;
  onState(listener: (state: LiveState) => void): () => void;
  close(): void;
}

export interface LiveOptions {
  /** Milliseconds without any sign of the server, heartbeats included, after which a connection counts as lost. @default 75000 */
  readonly silence?: number | undefined;
  /** Milliseconds before the first new attempt; it doubles up to `maxDelay`. @default 500 */
  readonly minDelay?: number | undefined;
  /** @default 30000 */
  readonly maxDelay?: number | undefined;
}

interface Connection {
  readonly abort: AbortController;
  /** undefined until the server has given it. */
  clientId: string | undefined;
  /** What the server was last told. */
  told: readonly string[] | undefined;
  telling: boolean;
  renewal: ReturnType<typeof setTimeout> | undefined;
}

/** Milliseconds before its token ends at which a stream is renewed. */
const renewalMargin = 30_000;
const longestTimer = 2_147_483_647;

/** `session`: null where the credential is a fixed one. */
export function createLive(transport: Transport, session: Session | null, { silence = 75_000, minDelay = 500, maxDelay = 30_000 }: LiveOptions = {}): Live {
  const subscribers = createSubscribers();
  const stateListeners = new Set<(state: LiveState) => void>();
  let state: LiveState = "idle";
  /** Up to where in the history everybody has been told; null where that is unknown. */
  let position: string | null = null;
  /** Somebody has been told something, so that a gap is one. */
  let wasLive = false;
  let connection: Connection | undefined;
  let isRunning = false;
  let isClosed = false;
  let failures = 0;
  let wake = (): void => undefined;

  function enter(next: LiveState): void {
    if (state === next) return;
    state = next;
    for (const listener of [...stateListeners]) listener(next);
  }

  function receive({ event, data, id }: StreamEvent): void {
    const body = JSON.parse(data) as { action?: "create" | "update" | "delete"; record?: { id: string } };
    if (id !== undefined) position = id;
    if (body.action !== undefined && body.record !== undefined) {
      subscribers.tell({ action: body.action, id: id ?? "", record: body.record } as Change<Fields>, [event, `${event}/${body.record.id}`]);
    } else if (event === "resync") {
      subscribers.resync();
    }
  }

  /** Tells the server what is wanted, one request after another, until it knows. */
  async function update(current: Connection): Promise<void> {
    if (current.telling) return;
    current.telling = true;
    try {
      while (connection === current && current.clientId !== undefined && !subscribers.isEmpty && !isSame(current.told, subscribers.wanted())) {
        await tell(current, current.clientId, subscribers.wanted());
      }
    } catch (error) {
      current.abort.abort(error);
    } finally {
      current.telling = false;
    }
  }

  async function tell(current: Connection, clientId: string, names: readonly string[]): Promise<void> {
    const isFirst = state !== "live";
    const since = isFirst && wasLive ? position : null;
    try {
      await tellSubscriptions(transport, clientId, names, since, current.abort.signal);
    } catch (error) {
      await letGo(error, names);
      return;
    }
    current.told = names;
    failures = 0;
    // Nobody knows what was missed: there was no position yet, or another user is signed in.
    if (isFirst && wasLive && since === null) subscribers.resync();
    wasLive = true;
    enter("live");
    subscribers.ready(names);
    scheduleRenewal(current);
  }

  /** Lets go of what the service refuses for good; throws the error where it is not about that. */
  async function letGo(error: unknown, names: readonly string[]): Promise<void> {
    if (error instanceof RecordsError && error.status === 401 && session === null) {
      for (const name of names) subscribers.refuse(name, error);
    } else if (isRefusal(error)) {
      const refused = await findRefused(transport, names, silence, isRefusal);
      if (refused.size === 0) throw error;
      for (const [name, reason] of refused) subscribers.refuse(name, reason);
    } else {
      // The stream is another user's by now: this one begins anew.
      if (error instanceof RecordsError && error.status === 403) position = null;
      throw error;
    }
    if (subscribers.isEmpty) leave();
  }

  function scheduleRenewal(current: Connection): void {
    clearTimeout(current.renewal);
    const expiresAt = session?.expiresAt() ?? null;
    if (session === null || expiresAt === null) return;
    const left = expiresAt - Date.now();
    current.renewal = setTimeout(() => void renew(current, session, expiresAt), Math.min(longestTimer, Math.max(left - renewalMargin, left / 2, 50)));
  }

  /** The stream lives as long as its token: subscribes with a fresh one in time. */
  async function renew(current: Connection, from: Session, expiresAt: number): Promise<void> {
    try {
      const token = await from.token();
      if (token !== undefined && from.expiresAt() === expiresAt) await from.renew(token);
      current.told = undefined;
      await update(current);
    } catch (error) {
      current.abort.abort(error);
    }
  }

  /** Nobody listens any more. */
  function leave(): void {
    position = null;
    wasLive = false;
    connection?.abort.abort();
    wake();
  }

  /** Keeps a connection while anybody listens. */
  async function run(): Promise<void> {
    isRunning = true;
    while (!subscribers.isEmpty && !isClosed) {
      if (session !== null && !session.isSignedIn) {
        enter("signedOut");
        await pause(null);
        continue;
      }
      enter("connecting");
      await connect();
      if (subscribers.isEmpty || isClosed || (session !== null && !session.isSignedIn)) continue;
      enter("waiting");
      const delay = Math.min(maxDelay, minDelay * 2 ** failures);
      failures += 1;
      // Spread, so that all clients of a server that comes back do not come at once.
      await pause(delay / 2 + (Math.random() * delay) / 2);
    }
    isRunning = false;
    failures = 0;
    enter("idle");
  }

  async function connect(): Promise<void> {
    const current: Connection = { abort: new AbortController(), clientId: undefined, told: undefined, telling: false, renewal: undefined };
    connection = current;
    try {
      await holdConnection(transport, current.abort, silence, {
        opened(clientId) {
          current.clientId = clientId;
          void update(current);
        },
        event: receive,
        comment(text) {
          if (text.startsWith("position ")) position = text.slice("position ".length);
        },
      });
    } catch {
      // Whatever it was, the next attempt shows whether it still is.
    } finally {
      clearTimeout(current.renewal);
      connection = undefined;
    }
  }

  /** Waits this many milliseconds, or until something has happened that makes an attempt worth while. */
  function pause(delay: number | null): Promise<void> {
    return new Promise((resolve) => {
      const timer = delay === null ? undefined : setTimeout(resolve, delay);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  const stopListening = session?.onChange(() => {
    // Another user, or none: where the former one stood means nothing for the next.
    position = null;
    connection?.abort.abort();
    wake();
  });
  const network = globalThis as { addEventListener?: (type: string, listener: () => void) => void; removeEventListener?: (type: string, listener: () => void) => void };
  const online = (): void => wake();
  network.addEventListener?.("online", online);

  return {
    subscribe(collection, listener, options) {
      if (isClosed) throw new Error("The client is closed");
      const subscription = subscribers.add(collection, listener, options, () => {
        if (subscribers.isEmpty) leave();
        else if (connection !== undefined) void update(connection);
      });
      if (!isRunning) void run();
      else if (connection !== undefined && state === "live") {
        if (connection.told !== undefined) subscribers.ready(connection.told);
        void update(connection);
      }
      return subscription;
    },
    get state() {
      return state;
    },
    onState(listener) {
      stateListeners.add(listener);
      return () => stateListeners.delete(listener);
    },
    close() {
      isClosed = true;
      subscribers.clear();
      stopListening?.();
      network.removeEventListener?.("online", online);
      leave();
    },
  };
}

/** The service refuses an entry, whoever asks and however often. */
function isRefusal(error: unknown): error is RecordsError {
  return error instanceof RecordsError && (error.status === 400 || (error.status === 404 && error.message !== "Unknown clientId"));
}

function isSame(told: readonly string[] | undefined, wanted: readonly string[]): boolean {
  return told !== undefined && told.length === wanted.length && told.every((name, index) => name === wanted[index]);
}
