// Outbox: the answers that become ready in one turn of the event loop leave together at its end. Each write wakes up
// whoever reads at the other end; one after the other with the work between, that costs as much as the work itself.
import type { ServerResponse } from "node:http";

/** Bytes or characters. A larger body leaves at once: held back, readers and the service would only wait for each other. */
const large = 65_536;

export interface Outbox {
  /** Ends the response, whose head is written, with this text: at the end of the turn, a large one at once. */
  put(res: ServerResponse, text: string | Buffer | undefined, encoding: BufferEncoding): void;
}

export function createOutbox(): Outbox {
  let waiting: { readonly res: ServerResponse; readonly text: string | Buffer | undefined; readonly encoding: BufferEncoding }[] = [];

  function send(): void {
    const ready = waiting;
    waiting = [];
    for (const { res, text, encoding } of ready) res.end(text, encoding);
  }

  return {
    put(res, text, encoding) {
      if (text !== undefined && text.length > large) {
        res.end(text, encoding);
        return;
      }
      if (waiting.length === 0) setImmediate(send);
      waiting.push({ res, text, encoding });
    },
  };
}
