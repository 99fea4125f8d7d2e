// Frame: the bytes of one server-sent event, made once for everybody who gets it; Batch: the bytes of several of them.

/** Bytes in the two forms a connection may need. */
export interface EventBytes {
  /** Framed for HTTP/1.1's chunked coding: each event is a chunk of its own. */
  readonly chunked: Buffer;
  /** The event stream as it stands. */
  readonly plain: Buffer;
}

export class Frame implements EventBytes {
  readonly chunked: Buffer;
  readonly plain: Buffer;

  /** `text` is a whole block of the event stream, its empty line included. */
  constructor(text: string) {
    const size = `${Buffer.byteLength(text).toString(16)}\r\n`;
    this.chunked = Buffer.from(`${size}${text}\r\n`);
    this.plain = this.chunked.subarray(size.length, -2);
  }
}

export const heartbeatFrame = new Frame(": heartbeat\n\n");

/** The first event of every stream. */
export function connectFrame(clientId: string): Frame {
  return new Frame(`event: connect\ndata: ${JSON.stringify({ clientId })}\n\n`);
}

/** Tells that the history does not reach back to the given `since`: read again what you show. */
export function resyncFrame(position: string): Frame {
  return new Frame(`event: resync\n${position === "" ? "" : `id: ${position}\n`}data: {}\n\n`);
}

/** A comment with the position of the stream, so that a client that never saw an event can still resume. */
export function positionFrame(position: string): Frame {
  return new Frame(`: position ${position}\n\n`);
}

/**
 * A sequence of frames that wait for the same turn of the event loop. Streams that wait for the same sequence share one
 * node, so their bytes are joined once: the sequences form a tree whose root is the empty one.
 */
export class Batch implements EventBytes {
  readonly #before: Batch | undefined;
  readonly #frame: Frame | undefined;
  #latest: Batch | undefined;
  #others: Map<Frame, Batch> | undefined;
  #chunked: Buffer | undefined;
  #plain: Buffer | undefined;

  constructor(before?: Batch, frame?: Frame) {
    this.#before = before;
    this.#frame = frame;
  }

  /** The sequence with this frame at its end. */
  with(frame: Frame): Batch {
    const latest = this.#latest;
    if (latest !== undefined && latest.#frame === frame) return latest;
    const next = this.#others?.get(frame) ?? new Batch(this, frame);
    if (latest !== undefined) (this.#others ??= new Map<Frame, Batch>()).set(latest.#frame!, latest);
    this.#latest = next;
    return next;
  }

  get chunked(): Buffer {
    return (this.#chunked ??= this.#join((frame) => frame.chunked));
  }

  get plain(): Buffer {
    return (this.#plain ??= this.#join((frame) => frame.plain));
  }

  #join(bytesOf: (frame: Frame) => Buffer): Buffer {
    const parts: Buffer[] = [];
    for (let node: Batch | undefined = this; node !== undefined; node = node.#before) {
      if (node.#frame !== undefined) parts.push(bytesOf(node.#frame));
    }
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts.reverse());
  }
}
