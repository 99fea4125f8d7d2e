// A store: the tables, writes, changes and stamp of one database.
import { timestamp, type Clock } from "../../core/clock.js";
import { StorageUnavailable } from "../../core/errors.js";
import type { Store, Table } from "../storage.js";
import { createStoreChanges } from "./change-log.js";
import { collectionsOf, type Collections } from "./collections.js";
import type { Connection } from "./connection.js";
import type { StateDocument } from "./documents.js";
import { createJournal } from "./journal.js";
import { prepare } from "./prepared.js";
import { createTable } from "./table.js";
import { emptyStamp, toStamp } from "./unit.js";
import { createWriter } from "./writer.js";

export interface MongoStore extends Store {
  /** Removes the database, after the writes that were taken before. */
  drop(): Promise<void>;
  /** Finishes the writes that were taken, and listens no more. */
  finish(): Promise<void>;
}

export interface StoreParts {
  readonly connection: Connection;
  readonly clock: Clock;
  /** Names this process. */
  readonly me: string;
  readonly isClosing: () => boolean;
}

export function createStore(databaseName: string, { connection, clock, me, isClosing }: StoreParts): MongoStore {
  let known: Collections | undefined;
  const collections = (): Collections => {
    connection.demandOpen();
    return (known ??= collectionsOf(connection.database(databaseName), connection.fences()));
  };
  const journal = createJournal(collections, me);
  const changes = createStoreChanges({ connection, collections, finish: () => writer.alone(journal.catchUp) });
  const writer = createWriter(collections, journal, changes.written);
  const tables = new Map<string, Table>();
  const readStamp = shared(async () => {
    const state = await collections().state.findOne<Pick<StateDocument, "log" | "stamp">>({ _id: "state" });
    return state === null ? emptyStamp : toStamp(state.log, state.stamp);
  });

  return {
    table(name) {
      let table = tables.get(name);
      if (table === undefined) tables.set(name, (table = createTable(connection, collections, name)));
      return table;
    },
    async write(unit) {
      if (isClosing()) throw new StorageUnavailable(new Error("the storage is closed"));
      connection.demandOpen();
      return writer.write(prepare(unit, timestamp(clock)));
    },
    changes: changes.log,
    stamp: () => connection.call(readStamp),
    size: () => connection.call(async () => {
      const { dataSize, indexSize } = (await collections().database.command({ dbStats: 1 })) as { dataSize?: unknown; indexSize?: unknown };
      return Number(dataSize ?? 0) + Number(indexSize ?? 0);
    }),
    drop: () => writer.alone(async () => {
      await journal.settled();
      await collections().database.dropDatabase();
      journal.forget();
    }),
    async finish() {
      changes.close();
      await writer.idle();
    },
  };
}

/** One read at a time: who asks while one is under way shares the next, which begins after the question. */
function shared<Result>(read: () => Promise<Result>): () => Promise<Result> {
  let underWay: Promise<Result> | undefined;
  let next: Promise<Result> | undefined;

  function start(): Promise<Result> {
    next = undefined;
    const started = read();
    underWay = started;
    const end = (): void => {
      if (underWay === started) underWay = undefined;
    };
    started.then(end, end);
    return started;
  }

  return () => {
    if (underWay === undefined) return start();
    return (next ??= underWay.then(start, start));
  };
}
