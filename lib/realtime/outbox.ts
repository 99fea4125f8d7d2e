// Outbox: gathers what streams are to be sent in one turn of the event loop, so that each stream is written once in it.
import { Batch, type Frame } from "./frame.js";
import type { Stream } from "./stream.js";

/** Streams written before other work gets its turn. */
const streamsPerTurn = 500;

export interface Outbox {
  add(stream: Stream, frame: Frame): void;
  /** Resolves once everything added so far is written. */
  flushed(): Promise<void>;
}

export function createOutbox(): Outbox {
  let empty = new Batch();
  const waiting: Stream[] = [];
  let flushing = false;
  let listeners: (() => void)[] = [];

  function flush(): void {
    const turn = waiting.splice(0, streamsPerTurn);
    // A new tree for each turn, so that what was written can be forgotten.
    empty = new Batch();
    for (const stream of turn) stream.flush();
    if (waiting.length > 0) {
      setImmediate(flush);
      return;
    }
    flushing = false;
    const done = listeners;
    listeners = [];
    for (const resolve of done) resolve();
  }

  return {
    add(stream, frame) {
      if (stream.pending === undefined) waiting.push(stream);
      stream.pending = (stream.pending ?? empty).with(frame);
      if (flushing) return;
      flushing = true;
      setImmediate(flush);
    },
    async flushed() {
      if (flushing) await new Promise<void>((resolve) => listeners.push(resolve));
    },
  };
}
