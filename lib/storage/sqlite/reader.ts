// All reads of a storage: the short ones at once on this thread, the long ones in a reader thread.
import { StorageUnavailable } from "../../core/errors.js";
import { dropped, readVersion, type Connection } from "./connection.js";
import type { Connections } from "./connections.js";
import type { SqlValue, Statement } from "./driver.js";
import { isBroken, isNoTable, translate } from "./errors.js";
import { isLong, isSmall } from "./plan.js";
import type { Readers } from "./readers.js";
import type { Snapshots } from "./snapshots.js";

/** A statement that took longer than this, in milliseconds, so many times in a row goes to a reader thread from then on. */
const tooLong = 5;
/** Once may be the machine's fault: the process did not have the processor. */
const slowRuns = 3;
/** And comes back after so many runs in a row that took less than one millisecond. */
const calmRuns = 20;

export interface ScanRequest {
  readonly path: string;
  readonly table: string;
  readonly sql: string;
  readonly values: readonly SqlValue[];
  /** Whether the statement's condition can leave rows out. */
  readonly filtered: boolean;
  /** Never on this thread, unless the table is small. */
  readonly long: boolean;
}

export interface Reader {
  /** The result of `read`; undefined where the file or the table is not there. Throws the contract's errors. */
  now<Result>(path: string, read: (connection: Connection) => Result): Result | undefined;
  /** The same, on the file that the path names now: it may have been dropped by another process. */
  current<Result>(path: string, read: (connection: Connection) => Result): Result | undefined;
  /** The rows of a statement that may take long; none where the file or the table is not there. */
  scan(request: ScanRequest): Promise<unknown[]>;
  /** Lets go of the file. */
  release(path: string): void;
  close(): Promise<void>;
}

const gone = Symbol("dropped");

interface Plan {
  readonly long: boolean;
  /** Runs in a row that took too long, on this thread. */
  slow: number;
  /** Runs in a row below one millisecond, while the statement is in a reader thread because it was seen to be slow. */
  calm: number | undefined;
}

export function createReader(connectionsOf: (path: string) => Connections, readers: Readers, snapshots: Snapshots): Reader {
  const plans = new WeakMap<Statement, Plan>();
  let closed = false;

  function attempt<Result>(path: string, read: (connection: Connection) => Result, again: boolean): Result | undefined {
    if (closed) throw new StorageUnavailable(new Error("the storage is closed"));
    const connections = connectionsOf(path);
    let connection: Connection | undefined;
    try {
      connection = connections.get(path);
      if (connection === undefined) return undefined;
    } catch (error) {
      throw translate(error);
    }
    try {
      snapshots.join(connection);
      return read(connection);
    } catch (error) {
      if (isNoTable(error)) {
        if (!again || readVersion(connection) !== dropped) return undefined;
        connections.close(path);
        return attempt(path, read, false);
      }
      if (isBroken(error)) connections.close(path);
      throw translate(error);
    }
  }

  function current<Result>(path: string, read: (connection: Connection) => Result): Result | undefined {
    snapshots.end();
    for (;;) {
      const found = attempt(path, (connection) => (readVersion(connection) === dropped ? gone : { result: read(connection) }), true);
      if (found !== gone) return found?.result;
      connectionsOf(path).close(path);
    }
  }

  function planOf(connection: Connection, { table, sql, values, filtered, long }: ScanRequest): Plan {
    const statement = connection.statement(sql);
    let plan = plans.get(statement);
    // A long plan is looked at again each time: a new index makes it short, and looking costs little beside the scan.
    if (plan === undefined || plan.long) {
      plan = { long: (long || isLong(connection, sql, values, filtered)) && !isSmall(connection, table), slow: 0, calm: plan?.calm };
      plans.set(statement, plan);
    }
    return plan;
  }

  return {
    current,
    now: (path, read) => attempt(path, read, true),
    scan(request) {
      try {
        let plan: Plan | undefined;
        const rows = attempt(request.path, (connection) => {
          plan = planOf(connection, request);
          if (plan.long || plan.calm !== undefined) return "elsewhere";
          const start = performance.now();
          const found = connection.statement(request.sql).all(...request.values);
          plan.slow = performance.now() - start > tooLong ? plan.slow + 1 : 0;
          if (plan.slow === slowRuns) plan.calm = plan.slow = 0;
          return found;
        }, true);
        if (rows !== "elsewhere") return Promise.resolve(rows ?? []);
        return readers.run({ path: request.path, sql: request.sql, values: request.values }).then(({ rows: found, took }) => {
          if (plan?.calm !== undefined) {
            plan.calm = took < 1 ? plan.calm + 1 : 0;
            if (plan.calm > calmRuns) plan.calm = undefined;
          }
          return found;
        });
      } catch (error) {
        return Promise.reject(error);
      }
    },
    release: (path) => connectionsOf(path).close(path),
    close() {
      closed = true;
      return readers.close();
    },
  };
}
