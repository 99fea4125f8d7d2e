// Heartbeat: one timer for all streams. A round is divided into slots, and each stream is served once in a round, so
// that many streams never beat at the same moment.
import type { Stream } from "./stream.js";

/** Milliseconds; finer slots serve nobody. */
const shortestSlot = 25;
const mostSlots = 120;

export interface Heartbeat {
  add(stream: Stream): void;
  remove(stream: Stream): void;
  stop(): void;
}

/** `interval`: milliseconds between two heartbeats of a stream. The timer runs only while there are streams, and keeps no process alive. */
export function createHeartbeat(interval: number): Heartbeat {
  const count = Math.max(1, Math.min(mostSlots, Math.floor(interval / shortestSlot)));
  const slots = Array.from({ length: count }, () => new Set<Stream>());
  let current = 0;
  let streams = 0;
  let timer: NodeJS.Timeout | undefined;

  function tick(): void {
    current = (current + 1) % count;
    for (const stream of slots[current]!) stream.heartbeat();
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }

  /** The emptiest of the slots that end the round: the first heartbeat comes after 85 to 100 % of the interval. */
  function chooseSlot(): number {
    let chosen = current;
    for (let back = 0; back < count * 0.15; back += 1) {
      const slot = (current + count - back) % count;
      if (slots[slot]!.size < slots[chosen]!.size) chosen = slot;
    }
    return chosen;
  }

  return {
    add(stream) {
      stream.slot = chooseSlot();
      slots[stream.slot]!.add(stream);
      streams += 1;
      timer ??= setInterval(tick, interval / count).unref();
    },
    remove(stream) {
      if (!slots[stream.slot]!.delete(stream)) return;
      streams -= 1;
      if (streams === 0) stop();
    },
    stop,
  };
}
