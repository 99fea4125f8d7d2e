// Loader: finds by id that are asked for while others are under way share one command.
import type { Row } from "../storage.js";
import { toRow, type FetchedRow } from "./documents.js";

/** Reads under way at a time; what is asked for meanwhile waits for the next. */
const readsAtOnce = 2;
/** Milliseconds after which a read that hangs holds back no others. */
const longestHold = 50;
/** Longer ids are no record's; they are read apart, so that no command grows without bound. */
const longestId = 256;

interface Asked {
  readonly promise: Promise<Row | undefined>;
  readonly resolve: (row: Row | undefined) => void;
  readonly reject: (error: unknown) => void;
}

export interface LoaderDeps {
  /** The rows that are there, in any order. Has a deadline of its own. */
  readonly read: (ids: readonly string[]) => Promise<readonly FetchedRow[]>;
  /** Ids in one command. */
  readonly idsAtOnce: () => number;
}

/** Gives the function that finds a row. What it gives was read after it was asked for, as with a read of one's own. */
export function createLoader({ read, idsAtOnce }: LoaderDeps): (id: string) => Promise<Row | undefined> {
  let waiting = new Map<string, Asked>();
  let underWay = 0;
  let isPlanned = false;

  function plan(): void {
    if (isPlanned || waiting.size === 0 || underWay >= readsAtOnce) return;
    isPlanned = true;
    // After the promises that resolve now: those who waited for one thing together go on to ask for the next together.
    process.nextTick(start);
  }

  function start(): void {
    isPlanned = false;
    while (waiting.size > 0 && underWay < readsAtOnce) void run(next());
  }

  function next(): ReadonlyMap<string, Asked> {
    const most = idsAtOnce();
    let batch = waiting;
    if (batch.size <= most) {
      waiting = new Map();
    } else {
      batch = new Map([...waiting].slice(0, most));
      for (const id of batch.keys()) waiting.delete(id);
    }
    return batch;
  }

  async function run(batch: ReadonlyMap<string, Asked>): Promise<void> {
    let holds = true;
    underWay += 1;
    const release = (): void => {
      if (!holds) return;
      holds = false;
      underWay -= 1;
      plan();
    };
    const timer = setTimeout(release, longestHold);
    timer.unref();
    try {
      for (const found of await read([...batch.keys()])) batch.get(found._id)?.resolve(toRow(found));
      // Those that were found are settled already.
      for (const { resolve } of batch.values()) resolve(undefined);
    } catch (error) {
      for (const { reject } of batch.values()) reject(error);
    } finally {
      clearTimeout(timer);
      release();
    }
  }

  return (id) => {
    if (id.length > longestId) return read([id]).then((rows) => rows.map(toRow).find((row) => row.id === id));
    let asked = waiting.get(id);
    if (asked === undefined) {
      asked = ask();
      waiting.set(id, asked);
      plan();
    }
    return asked.promise;
  };
}

function ask(): Asked {
  let resolve!: Asked["resolve"];
  let reject!: Asked["reject"];
  const promise = new Promise<Row | undefined>((whenFound, whenFailed) => {
    resolve = whenFound;
    reject = whenFailed;
  });
  return { promise, resolve, reject };
}
