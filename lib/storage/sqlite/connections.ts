// A bounded set of open connections: the one that was used longest ago is closed where another must be opened.
import { statSync } from "node:fs";
import { Connection, dropped, readVersion, type ConnectionOptions } from "./connection.js";

export interface Connections {
  /** The connection to this file, undefined where there is no file. */
  get(path: string): Connection | undefined;
  /** Whether the file is open now. */
  has(path: string): boolean;
  /** Closes the connection, where there is one. */
  close(path: string): void;
  closeAll(): void;
}

export function createConnections(limit: number, options: ConnectionOptions): Connections {
  const open = new Map<string, Connection>();
  let last: Connection | undefined;

  function close(path: string): void {
    const connection = open.get(path);
    if (connection === undefined) return;
    open.delete(path);
    if (last === connection) last = undefined;
    connection.close();
  }

  return {
    get(path) {
      if (last?.path === path) return last;
      let connection = open.get(path);
      if (connection === undefined) {
        if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
        connection = new Connection(path, options);
        // Marked, and not yet removed: for readers it is gone.
        if (options.mode === "read" && readVersion(connection) === dropped) {
          connection.close();
          return undefined;
        }
        if (open.size >= limit) close(open.keys().next().value!);
      } else {
        open.delete(path);
      }
      open.set(path, connection);
      last = connection;
      return connection;
    },
    has: (path) => open.has(path),
    close,
    closeAll() {
      for (const path of [...open.keys()]) close(path);
    },
  };
}
