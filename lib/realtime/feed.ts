// Feed: one tenant's change log as a line of batches and tasks, strictly one after another, with a known position. The
// listener brings changes for nothing; `catchUp` reads those that are durable but not yet brought, and each counts once.
import { StorageUnavailable } from "../core/errors.js";
import { describeError, type Logger } from "../core/logger.js";
import type { Change, ChangeLog } from "../storage/storage.js";

const page = 200;
/** Milliseconds between attempts while the storage cannot be reached. */
const retryDelay = 500;

export interface FeedDeps {
  readonly log: ChangeLog;
  readonly logger: Logger;
  /** Works through changes, in order. Where it rejects with StorageUnavailable it is called again with the same. */
  readonly take: (changes: readonly Change[]) => Promise<void>;
  /** These changes could not be told, and will not be. */
  readonly lost: () => void;
}

export class Feed {
  readonly #deps: FeedDeps;
  #line: Promise<unknown> = Promise.resolve();
  #inbox: Change[] = [];
  /** Read by `catchUp` and still to be brought by the listener. */
  readonly #ahead = new Set<string>();
  #stop: (() => void) | undefined;
  #isOver = false;
  #position = "";

  constructor(deps: FeedDeps) {
    this.#deps = deps;
  }

  /** The newest change that has been worked through; "" where there never was one. */
  get position(): string {
    return this.#position;
  }

  async start(): Promise<void> {
    // The position first: what is written until the listener listens is found by the first catchUp.
    this.#position = await this.#deps.log.head();
    const stop = await this.#deps.log.listen((changes) => this.#bring(changes));
    if (this.#isOver) stop();
    else this.#stop = stop;
  }

  stop(): void {
    this.#isOver = true;
    this.#inbox = [];
    this.#stop?.();
    this.#stop = undefined;
  }

  /** Runs the task when everything before it is done, and nothing beside it. */
  run<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#line.then(task);
    this.#line = result.catch(() => undefined);
    return result;
  }

  /** Within `run`: works through every change that is durable by now. */
  async catchUp(): Promise<void> {
    for (;;) {
      const changes = await this.#deps.log.since(this.#position, page);
      if (changes === undefined) {
        // Trimmed away while it waited: the listener still brings it.
        return;
      }
      for (const change of changes) this.#ahead.add(change.id);
      await this.#take(changes);
      if (changes.length < page) return;
    }
  }

  #bring(changes: readonly Change[]): void {
    if (this.#isOver) return;
    this.#inbox.push(...changes);
    if (this.#inbox.length === changes.length) this.run(() => this.#empty()).catch(() => this.#deps.lost());
  }

  async #empty(): Promise<void> {
    const brought = this.#inbox;
    this.#inbox = [];
    const fresh = brought.filter((change) => !this.#ahead.delete(change.id));
    // The listener keeps the order: with the first that was not read ahead, nothing read ahead is still to come.
    if (fresh.length > 0) this.#ahead.clear();
    await this.#take(fresh);
  }

  async #take(changes: readonly Change[]): Promise<void> {
    if (changes.length === 0 || this.#isOver) return;
    for (let attempt = 0; !this.#isOver; attempt += 1) {
      try {
        await this.#deps.take(changes);
        break;
      } catch (error) {
        if (!(error instanceof StorageUnavailable)) {
          this.#deps.logger.error({ error: describeError(error) }, "realtime could not tell a change");
          this.#deps.lost();
          break;
        }
        if (attempt === 0) this.#deps.logger.warn({}, "realtime waits for the storage");
        await new Promise((resolve) => setTimeout(resolve, retryDelay).unref());
      }
    }
    this.#position = changes.at(-1)!.id;
  }
}
