// Hashing slots: how many hash computations run at a time, and how long one waits for its turn before 429.
import { TooManyRequests } from "../core/errors.js";

export interface Slots {
  /** Runs the work in a slot. Throws TooManyRequests where none got free within the wait; the work was not begun then. */
  run<T>(work: () => Promise<T>): Promise<T>;
  stats(): { readonly size: number; readonly busy: number; readonly waiting: number };
}

export interface SlotsOptions {
  readonly size: number;
  /** Milliseconds from arrival. */
  readonly wait: number;
}

/** One semaphore, shared by all who hash; first come, first served. */
export function createSlots({ size, wait }: SlotsOptions): Slots {
  let busy = 0;
  const waiting = new Set<() => void>();

  const leave = (): void => {
    const [next] = waiting;
    if (next === undefined) busy -= 1;
    else next();
  };

  const enter = (): Promise<void> => {
    if (busy < size) {
      busy += 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const take = (): void => {
        clearTimeout(timer);
        waiting.delete(take);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.delete(take);
        reject(new TooManyRequests());
      }, wait);
      timer.unref();
      waiting.add(take);
    });
  };

  return {
    async run(work) {
      await enter();
      try {
        return await work();
      } finally {
        leave();
      }
    },
    stats: () => ({ size, busy, waiting: waiting.size }),
  };
}

export interface SlotCountOptions {
  /** The option `authentication.hashing.concurrency`: taken as it is. */
  readonly concurrency?: number | undefined;
  /** Bytes that the heap may grow to (`v8.getHeapStatistics().heap_size_limit`). */
  readonly heapLimit: number;
  /** KiB of one computation. */
  readonly memory: number;
  /** Threads of libuv's pool, which hashing shares with file access and name look-ups. @default 4, libuv's own */
  readonly threadPool?: number | undefined;
}

/**
 * The number of slots: half the heap divided by the cost of one hash and 20 percent, between 2 and 8 (interface,
 * Limits); and never so many that fewer than two threads of the pool are left for everything else.
 */
export function slotCount({ concurrency, heapLimit, memory, threadPool = 4 }: SlotCountOptions): number {
  if (concurrency !== undefined) return concurrency;
  const byHeap = Math.floor(heapLimit / 2 / (memory * 1024 * 1.2));
  const clamped = Math.min(8, Math.max(2, byHeap));
  return Math.max(1, Math.min(clamped, threadPool - 2));
}
