// The connection to the servers: its settings, its start, and the deadline that every call of the contract has.
import type { Db, MongoClient, MongoClientOptions } from "mongodb";
import { StorageUnavailable } from "../../core/errors.js";
import { translate, unusable, urlFault } from "./errors.js";

/** Milliseconds that a call may take before it is answered with StorageUnavailable. */
const patience = 4_000;
/** Milliseconds that a list or count may run on the server. */
export const longestRead = 3_500;

/** Majority and journal, so that no acknowledged write is lost; every wait is bounded. */
const settings = {
  writeConcern: { w: "majority", journal: true },
  // Said once more, or the URL's own would count.
  journal: true,
  readPreference: "primary",
  // Below the three seconds in which /health must have its answer.
  serverSelectionTimeoutMS: 2_500,
  connectTimeoutMS: 2_500,
  socketTimeoutMS: 15_000,
  waitQueueTimeoutMS: 2_000,
  maxPoolSize: 50,
  heartbeatFrequencyMS: 5_000,
  retryReads: true,
  retryWrites: true,
  ignoreUndefined: false,
} as const satisfies MongoClientOptions;

export interface Connection {
  /** Rejects with TypeError where the driver does not take the URL, or the servers its user. */
  open(): Promise<void>;
  close(): Promise<void>;
  /** Throws StorageUnavailable while it is not open. */
  database(name: string): Db;
  /** Throws StorageUnavailable while it is not open. */
  demandOpen(): void;
  /** Whether an update re-checks its filter in the moment of the write. FerretDB 1 does not, and scans for it. */
  readonly fences: () => boolean;
  /** Runs the call; rejects with the contract's errors, and with StorageUnavailable where it takes too long. */
  call<Result>(run: () => Promise<Result>, milliseconds?: number): Promise<Result>;
}

export function createConnection(url: string): Connection {
  let client: MongoClient | undefined;
  let opening: Promise<void> | undefined;
  let closed = false;
  let fences = true;

  async function connect(): Promise<void> {
    // The driver takes a fifth of a second to load, which users of the embedded store shall not pay.
    const { MongoClient: Client } = await import("mongodb");
    const made = makeClient(() => new Client(url, { ...settings, appName: "records-service" }));
    try {
      await made.connect();
      const about = await made.db("admin").command({ buildInfo: 1 });
      fences = !("ferretdb" in about || "ferretdbVersion" in about);
    } catch (error) {
      await made.close().catch(() => undefined);
      throw urlFault(error) ?? translate(error);
    }
    client = made;
  }

  function makeClient(make: () => MongoClient): MongoClient {
    try {
      return make();
    } catch (error) {
      throw unusable(error);
    }
  }

  function openClient(): MongoClient {
    if (client === undefined || closed) throw new StorageUnavailable(new Error(closed ? "the storage is closed" : "the storage is not open"));
    return client;
  }

  return {
    open() {
      opening ??= connect().finally(() => {
        if (client === undefined) opening = undefined;
      });
      return opening;
    },
    async close() {
      if (closed) return;
      closed = true;
      await client?.close();
    },
    database: (name) => openClient().db(name),
    demandOpen: () => void openClient(),
    fences: () => fences,
    call: (run, milliseconds = patience) => withDeadline(run, milliseconds),
  };
}

async function withDeadline<Result>(run: () => Promise<Result>, milliseconds: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new StorageUnavailable(new Error(`no answer within ${milliseconds} ms`))), milliseconds);
    timer.unref();
  });
  try {
    return await Promise.race([run(), late]);
  } catch (error) {
    throw translate(error);
  } finally {
    clearTimeout(timer);
  }
}
