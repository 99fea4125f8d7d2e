// Defines a table in place: creates it, drops and creates indexes until they are as listed, transforms its rows.
import type { Json } from "../../core/record.js";
import type { Define, IndexDefinition, Transform } from "../storage.js";
import { compileTransform } from "../transform.js";
import { toJsonText } from "../well-formed.js";
import type { Connection } from "./connection.js";
import { indexToName, indexToSql } from "./names.js";

const rowsAtOnce = 500;

/** Runs inside the unit's transaction. An index that existing rows violate throws the driver's constraint error. */
export function defineTable(connection: Connection, table: string, { indexes, transform }: Define): void {
  const { database } = connection;
  database.exec(`CREATE TABLE IF NOT EXISTS "${table}"(id TEXT PRIMARY KEY NOT NULL, revision INTEGER NOT NULL, doc TEXT NOT NULL, hidden TEXT)`);
  const wanted = new Map(withSortable(indexes).map((index) => [indexToName(table, index), index]));
  const present = connection
    .statement("SELECT name FROM sqlite_schema WHERE type='index' AND tbl_name=? AND sql IS NOT NULL")
    .all(table)
    .map((row) => (row as [string])[0]);
  for (const name of present) if (!wanted.has(name)) database.exec(`DROP INDEX "${name}"`);
  if (transform !== undefined) transformRows(connection, table, transform);
  for (const [name, index] of wanted) if (!present.includes(name)) database.exec(indexToSql(table, index));
}

/**
 * A unique index cannot end with the id, which breaks the ties of a sorted list: so the field of a unique index gets
 * an ordinary one too.
 */
function withSortable(indexes: readonly IndexDefinition[]): IndexDefinition[] {
  return indexes.flatMap((index) =>
    index.unique && index.fields.length === 1 ? [index, { fields: index.fields, unique: false }] : [index]);
}

function transformRows(connection: Connection, table: string, transform: Transform): void {
  const apply = compileTransform(transform);
  const select = connection.statement(`SELECT rowid,doc FROM "${table}" WHERE rowid>? ORDER BY rowid LIMIT ${rowsAtOnce}`);
  const update = connection.statement(`UPDATE "${table}" SET doc=?,revision=revision+1 WHERE rowid=?`);
  let last = -1;
  for (;;) {
    const rows = select.all(last) as [number, string][];
    for (const [rowid, doc] of rows) {
      last = rowid;
      const changed = apply(JSON.parse(doc) as Record<string, Json>);
      if (changed !== undefined) update.run(toJsonText(changed), rowid);
    }
    if (rows.length < rowsAtOnce) return;
  }
}
