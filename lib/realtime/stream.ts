// Stream: one open event stream, from its connect event to its end.
import { randomUUID } from "node:crypto";
import { connectFrame, heartbeatFrame, positionFrame, resyncFrame, type Batch, type Frame } from "./frame.js";
import type { Membership, Subscriber } from "./membership.js";
import type { Outbox } from "./outbox.js";
import type { RecordEvent } from "./record-event.js";
import type { Sink } from "./sink.js";

export interface StreamDeps {
  readonly sink: Sink;
  readonly outbox: Outbox;
  /** Bytes that may wait before the stream is cut off. */
  readonly maxBuffer: number;
  /** Called once, when the stream is over for whatever reason. */
  readonly closed: (stream: Stream, reason: "ended" | "gone" | "slow") => void;
}

export class Stream implements Subscriber {
  /** 122 random bits: knowing it is what lets a client subscribe on this stream. */
  readonly clientId = randomUUID();
  /** What waits for this turn's flush; the outbox keeps it. */
  pending: Batch | undefined;
  /** Whose stream this is, once it has subscribed. Replaced by each subscribe. */
  membership: Membership | undefined;
  /** In which part of the heartbeat's round it is served. */
  slot = 0;
  isClosed = false;
  readonly #deps: StreamDeps;
  #sentAtHeartbeat = -1;

  constructor(deps: StreamDeps) {
    this.#deps = deps;
    deps.sink.write(connectFrame(this.clientId));
  }

  get mountPath(): string {
    return this.#deps.sink.mountPath;
  }

  deliver(event: RecordEvent): void {
    this.#send(event.frame(this.mountPath));
  }

  resync(position: string): void {
    this.#send(resyncFrame(position));
  }

  position(position: string): void {
    if (position !== "") this.#send(positionFrame(position));
  }

  /** Waits until a consumer that reads has taken most of what it was sent. */
  async ready(): Promise<void> {
    await this.#deps.outbox.flushed();
    if (!this.isClosed) await this.#deps.sink.drained();
  }

  collectionGone(): void {
    // The stream may well have other subscriptions, now or later.
  }

  #send(frame: Frame): void {
    if (!this.isClosed) this.#deps.outbox.add(this, frame);
  }

  /** Writes what is pending. Called by the outbox. */
  flush(): void {
    const { pending } = this;
    this.pending = undefined;
    if (pending === undefined || this.isClosed) return;
    this.#deps.sink.write(pending);
    if (this.#deps.sink.waiting > this.#deps.maxBuffer) this.#cutOff();
  }

  /** Cuts the stream off where the consumer has read nothing since the heartbeat before. */
  heartbeat(): void {
    const { sink } = this.#deps;
    if (sink.waiting > 0 && sink.sent === this.#sentAtHeartbeat) {
      this.#cutOff();
      return;
    }
    this.#sentAtHeartbeat = sink.waiting > 0 ? sink.sent : -1;
    sink.write(heartbeatFrame);
  }

  end(): void {
    if (this.isClosed) return;
    this.flush();
    if (this.#close("ended")) this.#deps.sink.end();
  }

  /** The connection is gone. */
  gone(): void {
    this.#close("gone");
  }

  /** The stream can go on no longer; the client may come back with `since`. */
  abort(): void {
    if (this.#close("ended")) this.#deps.sink.destroy();
  }

  #cutOff(): void {
    if (this.#close("slow")) this.#deps.sink.destroy();
  }

  #close(reason: "ended" | "gone" | "slow"): boolean {
    if (this.isClosed) return false;
    this.isClosed = true;
    this.pending = undefined;
    this.#deps.closed(this, reason);
    return true;
  }
}
