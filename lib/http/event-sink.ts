// openEventSink: a response turned into an event stream. Where it can, it writes ready-made chunks straight to the
// socket, below whatever a host has put in front of `res.write` (compression, buffering, logging of bodies).
import { ServerResponse, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { RequestFacts } from "../core/call.js";
import type { EventBytes } from "../realtime/frame.js";
import type { Sink } from "../realtime/sink.js";

/** The headers of every event stream. */
export function eventStreamHeaders(requestId: string): Record<string, string> {
  return {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    // nginx and those who follow it: pass each event on as it comes.
    "X-Accel-Buffering": "no",
    "X-Content-Type-Options": "nosniff",
    "X-Request-Id": requestId,
  };
}

/** Milliseconds of silence before the system probes whether the peer is still there. */
const keepAliveDelay = 30_000;

/** Milliseconds that a stream which was ended may take to deliver what waits. */
const endTime = 10_000;

/** Answers 200 with the headers at once. `gone` is called once, when the connection is over for whatever reason. */
export function openEventSink(req: IncomingMessage, res: ServerResponse, { mountPath, requestId }: RequestFacts, gone: () => void): Sink {
  if (res.closed || req.socket.destroyed) setImmediate(gone);
  else res.once("close", gone);
  const headers = eventStreamHeaders(requestId);
  const { socket } = res;
  // HTTP/2, or a response that waits for another one on its connection, has no socket to write to.
  if (socket === null || req.httpVersionMajor !== 1 || !(res instanceof ServerResponse)) return new ResponseSink(res, mountPath, headers);
  // The class's own writeHead: a host's middleware that turns the body into something else must not get hold of it.
  ServerResponse.prototype.writeHead.call(res, 200, headers);
  res.flushHeaders();
  // A host's idle timeout is for requests; heartbeats and probes find dead peers.
  socket.setTimeout(0);
  socket.setKeepAlive(true, keepAliveDelay);
  socket.setNoDelay(true);
  return new SocketSink(res, socket, mountPath);
}

class SocketSink implements Sink {
  readonly mountPath: string;
  readonly #res: ServerResponse;
  readonly #socket: Socket;
  readonly #form: keyof EventBytes;

  constructor(res: ServerResponse, socket: Socket, mountPath: string) {
    this.mountPath = mountPath;
    this.#res = res;
    this.#socket = socket;
    this.#form = res.chunkedEncoding ? "chunked" : "plain";
  }

  write(bytes: EventBytes): void {
    if (this.#socket.writable) this.#socket.write(bytes[this.#form]);
  }

  get waiting(): number {
    return this.#socket.writableLength;
  }

  get sent(): number {
    return this.#socket.bytesWritten - this.#socket.writableLength;
  }

  drained(): Promise<void> {
    return drained(this.#socket);
  }

  end(): void {
    endSoon(this.#res, this.#socket);
  }

  destroy(): void {
    this.#socket.destroy();
  }
}

class ResponseSink implements Sink {
  readonly mountPath: string;
  readonly #res: ServerResponse;
  #written = 0;

  constructor(res: ServerResponse, mountPath: string, headers: Record<string, string>) {
    this.mountPath = mountPath;
    this.#res = res;
    res.writeHead(200, { ...headers, "Cache-Control": "no-store, no-transform" });
    res.flushHeaders();
  }

  write({ plain }: EventBytes): void {
    if (!this.#res.writable) return;
    this.#res.write(plain);
    this.#written += plain.length;
    // compression() gathers bytes until it is told to pass them on.
    (this.#res as { flush?: () => void }).flush?.();
  }

  get waiting(): number {
    return this.#res.writableLength;
  }

  get sent(): number {
    return this.#written - this.#res.writableLength;
  }

  drained(): Promise<void> {
    return drained(this.#res);
  }

  end(): void {
    endSoon(this.#res, this.#res);
  }

  destroy(): void {
    this.#res.destroy();
  }
}

/** Whoever does not read must not keep the connection of a stream that is over. */
function endSoon(res: ServerResponse, connection: Socket | ServerResponse): void {
  res.end();
  if (res.writableFinished || connection.writableLength === 0) return;
  setTimeout(() => {
    if (!res.writableFinished) connection.destroy();
  }, endTime).unref();
}

function drained(stream: Socket | ServerResponse): Promise<void> {
  if (!stream.writableNeedDrain || stream.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off("drain", done);
      stream.off("close", done);
      resolve();
    };
    stream.on("drain", done);
    stream.on("close", done);
  });
}
