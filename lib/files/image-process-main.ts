// The image process: reads images from standard input, writes their variants to standard output, one at a time. It
// ends with its input, so it never outlives the service, and ends itself where it needs more memory than it may.
import { setPriority } from "node:os";
import { createFrameDecoder, frameStart, type Frame } from "./frames.js";
import { scaleImage } from "./scale-image.js";

/** Bytes of resident memory that the process may use, given as its argument. */
const maxMemory = Number(process.argv[2]);
/** Milliseconds between two looks at the memory. */
const memoryInterval = 25;

try {
  // Requests come first.
  setPriority(10);
} catch {
  // Not everywhere allowed, and not needed.
}

setInterval(() => {
  if (process.memoryUsage.rss() > maxMemory) process.exit(3);
}, memoryInterval);

const queue: Frame[] = [];
let working = false;

process.stdin.on("data", createFrameDecoder((frame) => {
  // The decoder's bytes stay as they are: nothing writes into them.
  queue.push(frame);
  if (!working) void work();
}));
process.stdin.on("end", () => process.exit(0));
process.stdin.on("error", () => process.exit(0));
process.stdout.on("error", () => process.exit(0));

async function work(): Promise<void> {
  working = true;
  for (let frame = queue.shift(); frame !== undefined; frame = queue.shift()) {
    const { widths } = frame.header as { widths: number[] };
    try {
      await scaleImage(frame.body, widths, (width, bytes) => send({ width }, bytes));
      send({ done: true });
    } catch (error) {
      send({ done: true, error: error instanceof Error ? error.message.slice(0, 500) : "unknown error" });
    }
  }
  working = false;
}

function send(header: object, body: Buffer = Buffer.alloc(0)): void {
  process.stdout.write(frameStart(header, body.length));
  if (body.length > 0) process.stdout.write(body);
}
