// The wire between the service and its image process: frames of a small JSON header and bytes, over plain pipes.
// A pipe ends when either side dies, so neither can wait for the other in vain.

/** Larger headers or bodies than any image work has mean that the other side is out of step. */
const maxHeader = 65_536;
const maxBody = 536_870_912;

export interface Frame {
  readonly header: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

/** The frame's start; the body's bytes follow it as they are. */
export function frameStart(header: object, bodyLength: number): Buffer {
  const text = Buffer.from(JSON.stringify(header));
  const start = Buffer.alloc(8 + text.length);
  start.writeUInt32BE(text.length, 0);
  start.writeUInt32BE(bodyLength, 4);
  text.copy(start, 8);
  return start;
}

/** A decoder: feed it what arrives, it calls back with each whole frame. Throws where the bytes are no frames. */
export function createFrameDecoder(onFrame: (frame: Frame) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = [];
  let buffered = 0;
  let needed = 8;

  return (chunk) => {
    chunks.push(chunk);
    buffered += chunk.length;
    while (buffered >= needed) {
      const all = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
      chunks = [all];
      const headerLength = all.readUInt32BE(0);
      const bodyLength = all.readUInt32BE(4);
      if (headerLength > maxHeader || bodyLength > maxBody) throw new Error("the image process is out of step");
      needed = 8 + headerLength + bodyLength;
      if (buffered < needed) return;
      const header = JSON.parse(all.toString("utf8", 8, 8 + headerLength)) as Record<string, unknown>;
      const body = all.subarray(8 + headerLength, needed);
      const rest = all.subarray(needed);
      chunks = rest.length === 0 ? [] : [rest];
      buffered = rest.length;
      needed = 8;
      onFrame({ header, body });
    }
  };
}
