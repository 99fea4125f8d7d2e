// Watcher: the subscription of host code, read as an async iterator.
import type { RecordValue } from "../core/record.js";
import { ServiceError } from "../core/errors.js";
import type { RecordEvent } from "./record-event.js";
import type { Subscriber } from "./membership.js";

/** What an iterator yields. `resync`: the history does not reach back to `since`; read again what you keep. */
export type WatchEvent =
  | { readonly id: string; readonly action: "create" | "update" | "delete"; readonly record: RecordValue }
  | { readonly id: string; readonly action: "resync"; readonly record: null };

/** The iterator's reader took too long: more than `maxBuffer` bytes waited. It may subscribe again with `since`. */
export class SubscriberTooSlow extends ServiceError {
  constructor() {
    super(503, "The subscription was ended because its events were not read; subscribe again with since");
  }
}

export class Watcher implements Subscriber, AsyncIterableIterator<WatchEvent> {
  readonly mountPath: string;
  readonly #maxBuffer: number;
  readonly #closed: () => void;
  readonly #queue: { readonly event: WatchEvent; readonly size: number }[] = [];
  #waiting = 0;
  #readers: { readonly resolve: (result: IteratorResult<WatchEvent>) => void; readonly reject: (error: unknown) => void }[] = [];
  #room: (() => void)[] = [];
  #isOver = false;
  #failure: Error | undefined;

  /** `closed` is called once, when nothing more will come. */
  constructor(mountPath: string, maxBuffer: number, closed: () => void) {
    this.mountPath = mountPath;
    this.#maxBuffer = maxBuffer;
    this.#closed = closed;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  deliver(event: RecordEvent): void {
    const { id, action, text } = event.change;
    this.#push({ id, action, record: event.record(this.mountPath) }, text?.length ?? 1024);
  }

  resync(position: string): void {
    this.#push({ id: position, action: "resync", record: null }, 64);
  }

  position(): void {
    // Host code that wants to resume keeps the id of the last event it has worked through.
  }

  /** Waits until half of the buffer is free. */
  async ready(): Promise<void> {
    while (!this.#isOver && this.#waiting > this.#maxBuffer / 2) await new Promise<void>((resolve) => this.#room.push(resolve));
  }

  collectionGone(): void {
    this.end();
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#wake();
    for (const { resolve } of this.#readers.splice(0)) resolve({ done: true, value: undefined });
    this.#closed();
  }

  abort(): void {
    this.fail(new SubscriberTooSlow());
  }

  /** Ends the iteration with an error, once what waits has been read. */
  fail(error: Error): void {
    if (this.#isOver) return;
    this.#failure = error;
    const reader = this.#readers.shift();
    if (reader !== undefined) {
      this.#failure = undefined;
      reader.reject(error);
    }
    this.end();
  }

  async next(): Promise<IteratorResult<WatchEvent>> {
    const first = this.#queue.shift();
    if (first !== undefined) {
      this.#waiting -= first.size;
      this.#wake();
      return { done: false, value: first.event };
    }
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
    if (this.#isOver) return { done: true, value: undefined };
    return await new Promise((resolve, reject) => this.#readers.push({ resolve, reject }));
  }

  async return(): Promise<IteratorResult<WatchEvent>> {
    this.#queue.length = 0;
    this.#failure = undefined;
    this.end();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #push(event: WatchEvent, size: number): void {
    if (this.#isOver) return;
    const reader = this.#readers.shift();
    if (reader !== undefined) {
      reader.resolve({ done: false, value: event });
      return;
    }
    this.#queue.push({ event, size });
    this.#waiting += size;
    if (this.#waiting > this.#maxBuffer) this.abort();
  }

  #wake(): void {
    for (const resolve of this.#room.splice(0)) resolve();
  }
}
