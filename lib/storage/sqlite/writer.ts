// The main thread's end of the writer: collects what one turn of the event loop wants written, sends it as one
// message, and settles each promise when its commit is durable.
import type { Worker } from "node:worker_threads";
import { StorageUnavailable } from "../../core/errors.js";
import { fromPlainError } from "./errors.js";
import type { Done, Reply, Request, Task } from "./messages.js";
import { startThread } from "./thread.js";
import type { WriterData } from "./writer-thread.js";

export interface Writer {
  /** Runs the task after those before it. Rejects with the contract's errors. */
  run(path: string, task: Task): Promise<Done>;
  /** Finishes what was taken, then ends the thread. */
  close(): Promise<void>;
}

interface Waiting {
  readonly resolve: (done: Done) => void;
  readonly reject: (error: unknown) => void;
}

/** @param beforeAnswer called before promises of writes are settled */
export function createWriter(data: WriterData, beforeAnswer: () => void, startWorker = startThread): Writer {
  const waiting = new Map<number, Waiting>();
  let outbox: Request[] = [];
  let lastNumber = 0;
  let thread: Worker | undefined;
  let closing: Promise<void> | undefined;

  function send(): void {
    const requests = outbox;
    outbox = [];
    try {
      post(requests);
    } catch {
      // Something in one of them cannot be copied: it fails alone.
      for (const request of requests) {
        try {
          post([request]);
        } catch (error) {
          settle([{ number: request.number, failure: error }]);
        }
      }
    }
  }

  function post(requests: readonly Request[]): void {
    thread ??= start();
    thread.ref();
    thread.postMessage(requests);
  }

  function start(): Worker {
    const worker = startWorker("writer-thread", data);
    const fail = (cause: unknown): void => {
      if (thread !== worker) return;
      thread = undefined;
      const unsent = new Set(outbox.map(({ number }) => number));
      settle([...waiting.keys()].filter((number) => !unsent.has(number)).map((number) => ({ number, failure: new StorageUnavailable(cause) })));
    };
    worker.on("message", (replies: readonly Reply[]) => settle(replies));
    worker.on("error", fail);
    worker.on("exit", (code) => fail(new Error(`the writer's thread ended with code ${code}`)));
    return worker;
  }

  function settle(replies: readonly (Reply | { readonly number: number; readonly failure: unknown })[]): void {
    beforeAnswer();
    for (const reply of replies) {
      const entry = waiting.get(reply.number);
      if (entry === undefined) continue;
      waiting.delete(reply.number);
      if ("done" in reply) entry.resolve(reply.done);
      else entry.reject("error" in reply ? fromPlainError(reply.error) : reply.failure);
    }
    if (waiting.size === 0) thread?.unref();
  }

  async function finish(): Promise<void> {
    if (outbox.length > 0) send();
    const worker = thread;
    if (worker === undefined) return;
    worker.ref();
    await new Promise<void>((resolve) => {
      worker.once("exit", () => resolve());
      worker.postMessage("close");
    });
  }

  return {
    run(path, task) {
      if (closing !== undefined) return Promise.reject(new StorageUnavailable(new Error("the storage is closed")));
      return new Promise((resolve, reject) => {
        lastNumber += 1;
        waiting.set(lastNumber, { resolve, reject });
        outbox.push({ number: lastNumber, path, task });
        if (outbox.length === 1) setImmediate(send);
      });
    },
    close: () => (closing ??= finish()),
  };
}
