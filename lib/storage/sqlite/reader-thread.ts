// A reader's thread: runs the long reads, one after another, on connections of its own.
import { parentPort, workerData } from "node:worker_threads";
import { isCurrent } from "./connection.js";
import { createConnections } from "./connections.js";
import type { SqlValue } from "./driver.js";
import { isBroken, isNoTable, toPlainError, type PlainError } from "./errors.js";

export interface ReaderData {
  readonly maxOpen: number;
  readonly busyTimeout: number;
}

export interface ReadRequest {
  readonly path: string;
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

export type ReadReply =
  /** The rows, and the milliseconds that they took. */
  | { readonly rows: unknown[]; readonly took: number }
  | { readonly error: PlainError };

const { maxOpen, busyTimeout } = workerData as ReaderData;
const port = parentPort!;
const connections = createConnections(maxOpen, { mode: "read", busyTimeout });

port.on("message", (request: ReadRequest | "close") => {
  if (request === "close") {
    connections.closeAll();
    port.close();
  } else {
    port.postMessage(read(request));
  }
});

function read({ path, sql, values }: ReadRequest): ReadReply {
  const start = performance.now();
  try {
    let connection = connections.get(path);
    if (connection !== undefined && !isCurrent(connection)) {
      connections.close(path);
      connection = connections.get(path);
    }
    const rows = connection?.statement(sql).all(...values) ?? [];
    return { rows, took: performance.now() - start };
  } catch (error) {
    if (isNoTable(error)) return { rows: [], took: performance.now() - start };
    if (isBroken(error)) connections.close(path);
    return { error: toPlainError(error) };
  }
}
