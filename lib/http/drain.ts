// Bodies that nobody reads: taken in and forgotten, within bounds, so that the connection can be used again.
import type { IncomingMessage } from "node:http";

/** Bytes that are still read of a refused body. */
const most = 64 * 1024 * 1024;
/** Milliseconds that a client has to send them. */
const patience = 10_000;
/** Milliseconds that an answer waits for the end of the body: most clients only read it, and keep the connection, once they have sent all. */
const courtesy = 1_000;

const draining = new WeakSet<IncomingMessage>();

/** Reads on and forgets. Past the bounds the connection is cut. A second call is harmless. */
export function drain(req: IncomingMessage): void {
  if (req.readableEnded || req.destroyed || draining.has(req)) return;
  draining.add(req);
  let left = most;
  const timer = setTimeout(() => req.destroy(), patience);
  timer.unref();
  const done = (): void => clearTimeout(timer);
  req.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) req.destroy();
  });
  req.once("close", done);
  req.once("end", done);
  req.on("error", done);
  req.resume();
}

/** Drains, and resolves at the end of the body, or a second later where it is slow in coming. */
export async function drained(req: IncomingMessage): Promise<void> {
  drain(req);
  if (req.complete || req.destroyed) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, courtesy);
    timer.unref();
    function done(): void {
      clearTimeout(timer);
      req.off("end", done);
      req.off("close", done);
      resolve();
    }
    req.once("end", done);
    req.once("close", done);
  });
}
