// Sink: where a stream's bytes go. http/ makes one from a response; nothing in realtime/ knows of HTTP.
import type { EventBytes } from "./frame.js";

export interface Sink {
  /** Below which path the service is mounted for this client, for links to files. */
  readonly mountPath: string;
  /** Takes the bytes; never waits, never throws. */
  write(bytes: EventBytes): void;
  /** Bytes that still wait in this process. */
  readonly waiting: number;
  /** Bytes that have left this process so far: a consumer that reads makes it grow. */
  readonly sent: number;
  /** Resolves once enough has left, or the connection is gone. */
  drained(): Promise<void>;
  /** Ends the stream in good order. */
  end(): void;
  /** Cuts the connection off at once. */
  destroy(): void;
}
