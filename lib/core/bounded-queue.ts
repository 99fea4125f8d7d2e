// BoundedQueue: work that follows an answer. Bounded in how much waits and how much runs at a time; work never rejects.

export interface BoundedQueue {
  /** Takes the work, to begin in a later turn of the event loop; false where the queue is full or closed. */
  offer(work: () => Promise<void>): boolean;
  /** Work that waits or runs. */
  readonly size: number;
  /** Resolves when nothing waits and nothing runs. */
  idle(): Promise<void>;
  /** Takes no more work, and resolves when it is idle or the time is up; what then still waits is given up. @param ms milliseconds */
  close(ms: number): Promise<void>;
}

/**
 * @param concurrency how many run at a time
 * @param capacity how many may wait
 */
export function createBoundedQueue({ concurrency, capacity }: { readonly concurrency: number; readonly capacity: number }): BoundedQueue {
  const waiting: (() => Promise<void>)[] = [];
  const listeners: (() => void)[] = [];
  let running = 0;
  let closed = false;

  function start(): void {
    while (running < concurrency) {
      const work = waiting.shift();
      if (work === undefined) break;
      running += 1;
      // One that throws at once is like one that rejects: it has told whom it wanted to.
      void Promise.resolve().then(work).catch(() => undefined).then(() => {
        running -= 1;
        start();
      });
    }
    if (running === 0 && waiting.length === 0) for (const listener of listeners.splice(0)) listener();
  }

  const idle = (): Promise<void> => (running === 0 && waiting.length === 0 ? Promise.resolve() : new Promise((resolve) => listeners.push(resolve)));

  return {
    offer(work) {
      if (closed || waiting.length >= capacity) return false;
      waiting.push(work);
      setImmediate(start);
      return true;
    },
    get size() {
      return waiting.length + running;
    },
    idle,
    async close(ms) {
      closed = true;
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([idle(), new Promise<void>((resolve) => { timer = setTimeout(resolve, ms); })]);
      clearTimeout(timer);
      waiting.length = 0;
    },
  };
}
