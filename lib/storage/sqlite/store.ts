// A store: the tables, writes, changes and stamp of one database file.
import { stat } from "node:fs/promises";
import { timestamp, type Clock } from "../../core/clock.js";
import { StoredChange } from "../change.js";
import { StoredRow } from "../row.js";
import type { Change, LogEntry, Row, Store, Table, Unit, UnitResult } from "../storage.js";
import type { ChangeLogs } from "./change-log.js";
import { dropped, emptyStamp, readVersion, toStamp, type Connection } from "./connection.js";
import { toUnitMessage, type Done, type UnitMessage } from "./messages.js";
import type { Reader } from "./reader.js";
import { createTable } from "./table.js";
import type { Writer } from "./writer.js";

export interface StoreParts {
  readonly reader: Reader;
  readonly writer: Writer;
  readonly changeLogs: ChangeLogs;
  readonly clock: Clock;
}

const actions = { insert: "create", update: "update", remove: "delete" } as const;
const emptyStampPromise = Promise.resolve(emptyStamp);

export function createStore(path: string, { reader, writer, changeLogs, clock }: StoreParts): Store {
  const tables = new Map<string, Table>();

  function stampOf(connection: Connection): string | number {
    const version = readVersion(connection);
    return version === dropped ? dropped : toStamp(connection.logId, version);
  }

  return {
    table(name) {
      let table = tables.get(name);
      if (table === undefined) {
        table = createTable(reader, path, name);
        tables.set(name, table);
      }
      return table;
    },
    write(unit: Unit) {
      let message: UnitMessage;
      try {
        message = toUnitMessage(unit, timestamp(clock));
      } catch (error) {
        return Promise.reject(error);
      }
      return writer.run(path, { type: "write", unit: message }).then((done) => {
        const result = toResult(message, done);
        if (result.changes.length > 0) changeLogs.written(path, done.logId, done.firstChange, result.changes);
        return result;
      });
    },
    changes: changeLogs.of(path),
    stamp() {
      try {
        let stamp = reader.now(path, stampOf);
        if (stamp === dropped) stamp = reader.current(path, stampOf);
        return typeof stamp === "string" ? Promise.resolve(stamp) : emptyStampPromise;
      } catch (error) {
        return Promise.reject(error);
      }
    },
    async size() {
      const sizes = await Promise.all(["", "-wal", "-shm"].map((suffix) => stat(path + suffix).then(({ size }) => size, () => 0)));
      return sizes.reduce((sum, size) => sum + size, 0);
    },
  };
}

function toResult({ operations, at }: UnitMessage, { logId, rows: plainRows, firstChange }: Done): UnitResult {
  const rows: (Row | undefined)[] = [];
  const changes: Change[] = [];
  for (const [index, operation] of operations.entries()) {
    let row: Row | undefined;
    if (operation.type === "insert") {
      row = new StoredRow(operation.id, 1, operation.text, operation.hidden);
    } else if (operation.type === "update" || operation.type === "remove") {
      const plain = plainRows[index] ?? null;
      row = plain === null ? undefined : new StoredRow(operation.id, ...plain);
    }
    rows.push(row);
    if (row !== undefined && "log" in operation && operation.log !== undefined) {
      const { collection, content }: LogEntry = operation.log;
      changes.push(new StoredChange(`${logId}-${firstChange + changes.length}`, collection, actions[operation.type as keyof typeof actions], row.id, content === "record" ? row.text : null, at));
    }
  }
  return { rows, changes };
}
