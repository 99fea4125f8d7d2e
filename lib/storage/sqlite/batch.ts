// Runs what waits for one database in one transaction with one commit; a unit that fails is undone alone.
import { dropped, readVersion, type Connection } from "./connection.js";
import { toPlainError } from "./errors.js";
import type { Done, Reply, Request, Task } from "./messages.js";
import { runUnit, type Progress } from "./unit.js";

/** The sequence number of the newest change that there ever was, and of the newest that was trimmed away. */
export const headSql = `SELECT coalesce((SELECT max(seq) FROM "#changes"),t.value),t.value FROM "#meta" AS t WHERE t.key='trimmed'`;

/** The database was dropped by another process: open it anew and run the batch again. Nothing was written. */
export class DatabaseDropped extends Error {}

/** Replies are to be sent after this returns: the commit is durable then. */
export function runBatch(connection: Connection, requests: readonly Request[]): Reply[] {
  const { database } = connection;
  try {
    connection.statement("BEGIN IMMEDIATE").run();
    const version = readVersion(connection);
    if (version === dropped) throw new DatabaseDropped();
    const [head] = connection.statement(headSql).get() as [number, number];
    const progress: Progress = { head, version };
    const replies = requests.map(({ number, task }): Reply => {
      const start = { ...progress };
      // A lone insert, update or removal undoes itself: its first write either fails or is not followed by a failure.
      const savepoint = !isSimple(task);
      if (savepoint) connection.statement("SAVEPOINT unit").run();
      try {
        const done = runTask(connection, task, progress);
        if (savepoint) connection.statement("RELEASE unit").run();
        return { number, done };
      } catch (error) {
        if (!database.inTransaction) throw error;
        if (savepoint) {
          connection.statement("ROLLBACK TO unit").run();
          connection.statement("RELEASE unit").run();
        }
        Object.assign(progress, start);
        return { number, error: toPlainError(error) };
      }
    });
    connection.statement("COMMIT").run();
    return replies;
  } catch (error) {
    if (database.open && database.inTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

function isSimple(task: Task): boolean {
  if (task.type !== "write" || task.unit.operations.length !== 1 || task.unit.bump) return false;
  const type = task.unit.operations[0]!.type;
  return type === "insert" || type === "update" || type === "remove";
}

function runTask(connection: Connection, task: Task, progress: Progress): Done {
  if (task.type === "write") return runUnit(connection, task.unit, progress);
  if (task.type === "trim") {
    const last = progress.head - Math.max(0, Math.floor(task.keep));
    if (last > 0) {
      connection.statement(`DELETE FROM "#changes" WHERE seq<=?`).run(last);
      connection.statement(`UPDATE "#meta" SET value=max(value,?) WHERE key='trimmed'`).run(last);
    }
  }
  return { logId: connection.logId, rows: [], firstChange: 0 };
}
