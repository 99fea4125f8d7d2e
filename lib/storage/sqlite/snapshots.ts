// Snapshots: the reads of one turn of the event loop share a read transaction, since beginning and ending one costs as
// much as a read. It ends with the turn, and before any write of this process is answered, so that reads see it.
import type { Connection } from "./connection.js";

export interface Snapshots {
  /** Puts the connection into the turn's snapshot. */
  join(connection: Connection): void;
  /** Ends every snapshot: what is read next is what is stored now. */
  end(): void;
}

export function createSnapshots(): Snapshots {
  const joined = new Set<Connection>();
  let scheduled = false;

  function end(): void {
    for (const connection of joined) connection.leaveSnapshot();
    joined.clear();
  }

  function turn(): void {
    scheduled = false;
    end();
  }

  return {
    join(connection) {
      if (!connection.enterSnapshot()) return;
      joined.add(connection);
      if (scheduled) return;
      scheduled = true;
      setImmediate(turn);
    },
    end,
  };
}
