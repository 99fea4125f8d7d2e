// Runs one unit inside an open write transaction: its conditions, its operations in order, its changes in the log.
import type { JsonObject, Scalar } from "../../core/record.js";
import { matcher } from "../matches.js";
import { ConditionMissed, HeadMoved, StampChanged, UniqueViolation, type Conditions, type Hidden } from "../storage.js";
import { toStamp, type Connection } from "./connection.js";
import { defineTable } from "./define.js";
import { isNoTable, violatedFields } from "./errors.js";
import type { Done, InsertMessage, OperationMessage, PlainRow, RemoveMessage, UnitMessage, UpdateMessage } from "./messages.js";
import { tableToSql } from "./names.js";
import { existsToSql } from "./query-to-sql.js";

/** What the units of one transaction hand on to each other. */
export interface Progress {
  /** Sequence number of the newest change. */
  head: number;
  /** The database's user_version. */
  version: number;
}

/** Throws the contract's errors or the driver's; what was written until then is for the caller to undo. */
export function runUnit(connection: Connection, unit: UnitMessage, progress: Progress): Done {
  const stamp = toStamp(connection.logId, progress.version);
  if (unit.stamp !== undefined && unit.stamp !== stamp) throw new StampChanged();
  if (unit.head !== undefined && unit.head !== (progress.head === 0 ? "" : `${connection.logId}-${progress.head}`)) throw new HeadMoved();
  const before = progress.head;
  const rows = unit.operations.map((operation, index) => runOperation(connection, operation, index, unit.at, progress));
  if (unit.bump) {
    progress.version += 1;
    connection.database.pragma(`user_version=${progress.version}`);
  }
  return { logId: connection.logId, rows, firstChange: progress.head > before ? before + 1 : 0 };
}

function runOperation(connection: Connection, operation: OperationMessage, index: number, at: string, progress: Progress): PlainRow | null {
  try {
    const table = tableToSql(operation.table);
    switch (operation.type) {
      case "insert":
        insert(connection, table, operation, at, progress);
        return null;
      case "update":
        return update(connection, table, operation, index, at, progress);
      case "remove":
        return remove(connection, table, operation, index, at, progress);
      case "exists":
        if (findRow(connection, table, operation.id) === undefined) throw new ConditionMissed(index);
        return null;
      case "absent": {
        const { text, values } = existsToSql(table, operation.filter);
        if (orNoTable(() => connection.statement(text).get(...values)) !== undefined) throw new ConditionMissed(index);
        return null;
      }
      case "define":
        defineTable(connection, table, operation);
        return null;
      case "drop":
        connection.database.exec(`DROP TABLE IF EXISTS "${table}"`);
        return null;
    }
  } catch (error) {
    const fields = violatedFields(error);
    throw fields === undefined ? error : new UniqueViolation(index, fields);
  }
}

function insert(connection: Connection, table: string, operation: InsertMessage, at: string, progress: Progress): void {
  const { id, text, hidden, log } = operation;
  try {
    connection.statement(`INSERT INTO "${table}"(id,revision,doc,hidden) VALUES (?,1,?,?)`).run(id, text, hidden);
  } catch (error) {
    if (isNoTable(error)) throw new Error(`The table ${operation.table} is not defined: write a define operation first`, { cause: error });
    throw error;
  }
  if (log !== undefined) logChange(connection, log.collection, "create", id, log.content === "record" ? text : null, at, progress);
}

function update(connection: Connection, table: string, operation: UpdateMessage, index: number, at: string, progress: Progress): PlainRow | null {
  const { id, set, setHidden, increment, log } = operation;
  const row = conditionalRow(connection, table, operation, index);
  if (row === null) return null;
  const [revision, doc, hiddenText] = row;
  const text = set === undefined ? doc : JSON.stringify({ ...(JSON.parse(doc) as object), ...(JSON.parse(set) as object), id });
  let hidden = hiddenText;
  if (setHidden !== undefined || increment !== undefined) {
    const members = { ...parseHidden(hiddenText), ...(setHidden === undefined ? {} : (JSON.parse(setHidden) as Hidden)) } as Record<string, Scalar>;
    for (const [name, step] of Object.entries(increment ?? {})) {
      const value = members[name];
      members[name] = (typeof value === "number" ? value : 0) + step;
    }
    hidden = JSON.stringify(members);
  }
  connection.statement(`UPDATE "${table}" SET revision=?,doc=?,hidden=? WHERE id=?`).run(revision + 1, text, hidden, id);
  if (log !== undefined) logChange(connection, log.collection, "update", id, log.content === "record" ? text : null, at, progress);
  return [revision + 1, text, hidden];
}

function remove(connection: Connection, table: string, operation: RemoveMessage, index: number, at: string, progress: Progress): PlainRow | null {
  const { id, log } = operation;
  const row = conditionalRow(connection, table, operation, index);
  if (row === null) return null;
  connection.statement(`DELETE FROM "${table}" WHERE id=?`).run(id);
  if (log !== undefined) logChange(connection, log.collection, "delete", id, log.content === "record" ? row[1] : null, at, progress);
  return row;
}

/** The row where every condition holds; else null where the operation is optional, and ConditionMissed where not. */
function conditionalRow(connection: Connection, table: string, operation: Conditions & { readonly id: string }, index: number): PlainRow | null {
  const row = findRow(connection, table, operation.id);
  if (row !== undefined && holds(row, operation)) return row;
  if (operation.optional === true) return null;
  throw new ConditionMissed(index);
}

function holds([revision, doc, hidden]: PlainRow, { where, revision: wanted, hiddenIs }: Conditions): boolean {
  if (wanted !== undefined && wanted !== revision) return false;
  if (hiddenIs !== undefined) {
    const members = parseHidden(hidden);
    for (const [name, value] of Object.entries(hiddenIs)) {
      if ((Object.hasOwn(members, name) ? members[name]! : null) !== value) return false;
    }
  }
  return where === undefined || matcher(where)(JSON.parse(doc) as JsonObject);
}

function findRow(connection: Connection, table: string, id: string): PlainRow | undefined {
  return orNoTable(() => connection.statement(`SELECT revision,doc,hidden FROM "${table}" WHERE id=?`).get(id)) as PlainRow | undefined;
}

function orNoTable(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (isNoTable(error)) return undefined;
    throw error;
  }
}

function parseHidden(text: string | null): Hidden {
  return text === null ? {} : (JSON.parse(text) as Hidden);
}

function logChange(
  connection: Connection, collection: string, action: string, id: string, text: string | null, at: string, progress: Progress,
): void {
  progress.head += 1;
  connection.statement(`INSERT INTO "#changes" VALUES (?,?,?,?,?,?)`).run(progress.head, at, collection, action, id, text);
}
