// The main thread's end of the reader threads: few threads, started when they are first needed, a bounded queue.
import type { Worker } from "node:worker_threads";
import { StorageUnavailable } from "../../core/errors.js";
import { fromPlainError } from "./errors.js";
import type { ReaderData, ReadReply, ReadRequest } from "./reader-thread.js";
import { startThread } from "./thread.js";

const queueLimit = 1000;

export interface Readers {
  /** Rejects with StorageUnavailable where more reads wait than can be served. */
  run(request: ReadRequest): Promise<{ readonly rows: unknown[]; readonly took: number }>;
  close(): Promise<void>;
}

interface Job {
  readonly request: ReadRequest;
  readonly resolve: (result: { readonly rows: unknown[]; readonly took: number }) => void;
  readonly reject: (error: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  job: Job | undefined;
}

export function createReaders(size: number, data: ReaderData, startWorker = startThread): Readers {
  const threads = new Set<Thread>();
  const queue: Job[] = [];
  let closed = false;

  function dispatch(): void {
    while (queue.length > 0) {
      const thread = [...threads].find(({ job }) => job === undefined) ?? (threads.size < size ? start() : undefined);
      if (thread === undefined) return;
      thread.job = queue.shift()!;
      thread.worker.ref();
      thread.worker.postMessage(thread.job.request);
    }
  }

  function start(): Thread {
    const thread: Thread = { worker: startWorker("reader-thread", data), job: undefined };
    const fail = (cause: unknown): void => {
      if (!threads.delete(thread)) return;
      thread.job?.reject(new StorageUnavailable(cause));
      thread.job = undefined;
      if (!closed) dispatch();
    };
    thread.worker.on("message", (reply: ReadReply) => {
      const job = thread.job;
      thread.job = undefined;
      if ("rows" in reply) job?.resolve(reply);
      else job?.reject(fromPlainError(reply.error));
      if (queue.length > 0) dispatch();
      else thread.worker.unref();
    });
    thread.worker.on("error", fail);
    thread.worker.on("exit", (code) => fail(new Error(`a reader's thread ended with code ${code}`)));
    threads.add(thread);
    return thread;
  }

  return {
    run(request) {
      if (closed || queue.length >= queueLimit) {
        return Promise.reject(new StorageUnavailable(new Error(closed ? "the storage is closed" : "too many long reads wait")));
      }
      return new Promise((resolve, reject) => {
        queue.push({ request, resolve, reject });
        dispatch();
      });
    },
    async close() {
      closed = true;
      for (const job of queue.splice(0)) job.reject(new StorageUnavailable(new Error("the storage is closed")));
      await Promise.all([...threads].map(({ worker }) => new Promise<void>((resolve) => {
        worker.ref();
        worker.once("exit", () => resolve());
        worker.postMessage("close");
      })));
    },
  };
}
