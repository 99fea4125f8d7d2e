// A promise with a time limit, and a signal that ends it sooner.
import { setMaxListeners } from "node:events";

/** What ends everything under way. Any number of calls may hang on it, without a warning on the host's process. */
export function createGiveUp(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/** The promise, or a rejection named TimeoutError when the time is over, AbortError when the signal fires. What was begun goes on unheard. */
export function within<Value>(promise: Promise<Value>, timeoutMs: number, signal?: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => reject(Object.assign(new Error("given up"), { name: "AbortError" }));
    const timer = setTimeout(() => reject(Object.assign(new Error(`not done within ${timeoutMs} ms`), { name: "TimeoutError" })), timeoutMs);
    timer.unref();
    signal?.addEventListener("abort", aborted, { once: true });
    if (signal?.aborted === true) aborted();
    promise.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", aborted);
    });
  });
}
