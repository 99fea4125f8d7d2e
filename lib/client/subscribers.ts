// Subscribers: who listens to what in this program. Several may listen to the same; the server is told each entry once.
import type { Change, Fields } from "./collection.js";
import type { RecordsError } from "./errors.js";

export type Listener = (change: Change<Fields>) => void;

export interface SubscriptionOptions {
  /** Only this record. */
  readonly id?: string;
  /** The service refuses the subscription, now or later (unknown collection, no realtime): it is over. */
  readonly onError?: (error: RecordsError) => void;
}

export interface Subscription {
  /** Resolves once changes are told. Rejects with RecordsError where the service refuses. */
  readonly ready: Promise<void>;
  close(): void;
}

interface Entry {
  readonly name: string;
  readonly listener: Listener;
  readonly onError: ((error: RecordsError) => void) | undefined;
  readonly resolve: () => void;
  readonly reject: (error: RecordsError) => void;
}

export interface Subscribers {
  /** `closed` is called when the subscriber has closed it. */
  add(collection: string, listener: Listener, options: SubscriptionOptions | undefined, closed: () => void): Subscription;
  /** Each entry once, in order. */
  wanted(): string[];
  /** Tells those who listen to one of these entries. */
  tell(change: Change<Fields>, names: readonly string[]): void;
  /** Tells everybody that changes were missed. */
  resync(): void;
  /** These entries are in force. */
  ready(names: readonly string[]): void;
  /** Ends the subscriptions of this entry. */
  refuse(name: string, error: RecordsError): void;
  clear(): void;
  readonly isEmpty: boolean;
}

export function createSubscribers(): Subscribers {
  const entries = new Set<Entry>();

  /** A listener's own error is its own: it must not end the stream for others. */
  function call(run: () => void): void {
    try {
      run();
    } catch (error) {
      setTimeout(() => {
        throw error;
      });
    }
  }

  function tellWhere(change: Change<Fields>, isMeant: (entry: Entry) => boolean): void {
    for (const entry of [...entries]) {
      // One that an earlier listener has just closed hears nothing more.
      if (entries.has(entry) && isMeant(entry)) call(() => entry.listener(change));
    }
  }

  return {
    add(collection, listener, { id, onError } = {}, closed) {
      let resolve = (): void => undefined;
      let reject = (_error: RecordsError): void => undefined;
      const ready = new Promise<void>((yes, no) => {
        resolve = yes;
        reject = no;
      });
      // Whoever does not wait for it must not fall over it.
      ready.catch(() => undefined);
      const entry: Entry = { name: id === undefined ? collection : `${collection}/${id}`, listener, onError, resolve, reject };
      entries.add(entry);
      return {
        ready,
        close() {
          if (entries.delete(entry)) closed();
        },
      };
    },
    wanted: () => [...new Set([...entries].map((entry) => entry.name))].sort(),
    tell: (change, names) => tellWhere(change, (entry) => names.includes(entry.name)),
    resync: () => tellWhere({ action: "resync", id: null, record: null }, () => true),
    ready(names) {
      for (const entry of entries) if (names.includes(entry.name)) entry.resolve();
    },
    refuse(name, error) {
      for (const entry of [...entries]) {
        if (entry.name !== name) continue;
        entries.delete(entry);
        entry.reject(error);
        if (entry.onError !== undefined) call(() => entry.onError!(error));
      }
    },
    clear: () => entries.clear(),
    get isEmpty() {
      return entries.size === 0;
    },
  };
}
