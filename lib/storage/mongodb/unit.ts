// Runs one unit on a draft: its conditions, its operations in order, its changes.
import type { Json, RecordValue, Scalar } from "../../core/record.js";
import { matcher } from "../matches.js";
import { StoredChange } from "../change.js";
import { StoredRow } from "../row.js";
import { ConditionMissed, HeadMoved, StampChanged, UniqueViolation, type Change, type Conditions, type Define, type Hidden, type LogEntry, type Row, type UnitResult } from "../storage.js";
import { compileTransform } from "../transform.js";
import { toJsonText } from "../well-formed.js";
import type { LoggedStep, Step } from "./documents.js";
import { fieldsOf, uniqueKey, type Draft, type DraftRow, type Known } from "./draft.js";
import { indexName } from "./names.js";
import type { Prepared, PreparedInsert, PreparedRemove, PreparedUnit, PreparedUpdate } from "./prepared.js";

export const emptyStamp = "0";

export function toStamp(log: string, stamp: number): string {
  return stamp === 0 ? emptyStamp : `${log}-${stamp}`;
}

export function toHead(log: string, changes: number): string {
  return changes === 0 ? "" : `${log}-${changes}`;
}

/** Throws the contract's errors; the draft is then to be taken back. */
export async function runUnit(draft: Draft, unit: PreparedUnit, known: Known): Promise<UnitResult> {
  if (unit.stamp !== undefined && unit.stamp !== toStamp(known.log, draft.stamp)) throw new StampChanged();
  if (unit.head !== undefined && unit.head !== toHead(known.log, draft.changes)) throw new HeadMoved();
  const rows: (Row | undefined)[] = [];
  const changes: Change[] = [];
  const log = (entry: LogEntry | undefined, action: Change["action"], id: string, text: string): LoggedStep["change"] => {
    if (entry === undefined) return null;
    draft.changes += 1;
    const kept = entry.content === "record" ? text : null;
    changes.push(new StoredChange(toHead(known.log, draft.changes), entry.collection, action, id, kept, unit.at));
    return { collection: entry.collection, action, at: unit.at, text: kept };
  };
  for (const [index, operation] of unit.operations.entries()) rows.push(await runOperation(draft, operation, index, log));
  if (unit.bump) draft.stamp = known.last + 1;
  return { rows, changes };
}

type Log = (entry: LogEntry | undefined, action: Change["action"], id: string, text: string) => LoggedStep["change"];

async function runOperation(draft: Draft, operation: Prepared, index: number, log: Log): Promise<Row | undefined> {
  switch (operation.type) {
    case "insert":
      return insert(draft, operation, index, log);
    case "update":
      return update(draft, operation, index, log);
    case "remove":
      return remove(draft, operation, index, log);
    case "exists":
      if ((await draft.find(operation.table, operation.id)) === undefined) throw new ConditionMissed(index);
      return undefined;
    case "absent":
      if (await draft.any(operation.table, operation.filter)) throw new ConditionMissed(index);
      return undefined;
    case "define":
      await define(draft, operation, index);
      return undefined;
    case "drop":
      if (!draft.tables.has(operation.table)) return undefined;
      draft.setTable(operation.table, undefined);
      draft.add({ type: "drop", table: operation.table });
      return undefined;
  }
}

async function insert(draft: Draft, { table, text, record, hidden, log }: PreparedInsert, index: number, tell: Log): Promise<Row> {
  if (!draft.tables.has(table)) throw new Error(`The table ${table} is not defined: write a define operation first`);
  const { id } = record;
  if ((await draft.find(table, id)) !== undefined) throw new UniqueViolation(index, ["id"]);
  await draft.demandUnique(table, id, record, index, () => true);
  draft.put(table, id, { revision: 1, text, hidden, record });
  draft.add({ type: "put", table, id, known: false, revision: 1, text, hidden, change: tell(log, "create", id, text) });
  return new StoredRow(id, 1, text, hidden);
}

async function update(draft: Draft, operation: PreparedUpdate, index: number, tell: Log): Promise<Row | undefined> {
  const { table, id, set, setHidden, increment, log } = operation;
  const row = await conditionalRow(draft, operation, index);
  if (row === undefined) return undefined;
  const record = set === undefined ? row.record : ({ ...row.record, ...set, id } as RecordValue);
  const text = set === undefined ? row.text : JSON.stringify(record);
  let hidden = row.hidden;
  if (setHidden !== undefined || increment !== undefined) {
    const members = { ...parseHidden(row.hidden), ...setHidden } as Record<string, Scalar>;
    for (const [name, step] of Object.entries(increment ?? {})) {
      const value = members[name];
      members[name] = (typeof value === "number" ? value : 0) + step;
    }
    hidden = JSON.stringify(members);
  }
  if (set !== undefined) await draft.demandUnique(table, id, record, index, (each) => each.fields.some(({ field }) => Object.hasOwn(set, field)));
  const revision = row.revision + 1;
  draft.put(table, id, { revision, text, hidden, record });
  draft.add({ type: "put", table, id, known: true, revision, text, hidden, change: tell(log, "update", id, text) });
  return new StoredRow(id, revision, text, hidden);
}

async function remove(draft: Draft, operation: PreparedRemove, index: number, tell: Log): Promise<Row | undefined> {
  const { table, id, log } = operation;
  const row = await conditionalRow(draft, operation, index);
  if (row === undefined) return undefined;
  draft.put(table, id, null);
  draft.add({ type: "remove", table, id, change: tell(log, "delete", id, row.text) });
  return new StoredRow(id, row.revision, row.text, row.hidden);
}

/** The row where every condition holds; undefined where the operation is optional, and ConditionMissed where not. */
async function conditionalRow(draft: Draft, operation: PreparedUpdate | PreparedRemove, index: number): Promise<DraftRow | undefined> {
  const row = await draft.find(operation.table, operation.id);
  if (row !== undefined && holds(row, operation)) return row;
  if (operation.optional === true) return undefined;
  throw new ConditionMissed(index);
}

function holds(row: DraftRow, { where, revision, hiddenIs }: Conditions): boolean {
  if (revision !== undefined && revision !== row.revision) return false;
  if (hiddenIs !== undefined) {
    const members = parseHidden(row.hidden);
    for (const [name, value] of Object.entries(hiddenIs)) {
      if ((Object.hasOwn(members, name) ? members[name]! : null) !== value) return false;
    }
  }
  return where === undefined || matcher(where)(row.record);
}

function parseHidden(text: string | null): Hidden {
  return text === null ? {} : (JSON.parse(text) as Hidden);
}

async function define(draft: Draft, { table, indexes, transform }: Define, index: number): Promise<void> {
  const before = draft.tables.get(table);
  const names = (list: readonly { readonly unique: boolean; readonly fields: readonly { readonly field: string }[] }[]): string =>
    list.map((each) => `${each.unique ? "u" : "i"}${indexName({ unique: each.unique, fields: each.fields as Define["indexes"][number]["fields"] })}`).sort().join(" ");
  if (before !== undefined && transform === undefined && names(before) === names(indexes)) return;
  const old = new Set((before ?? []).filter((each) => each.unique).map(indexName));
  const rewritten: Step[] = [];
  const unique = indexes.filter((each) => each.unique && (transform !== undefined || !old.has(indexName(each))));
  if (before !== undefined && (transform !== undefined || unique.length > 0)) {
    const apply = transform === undefined ? undefined : compileTransform(transform);
    const seen = unique.map(() => new Set<string>());
    for await (const [id, row] of draft.all(table)) {
      const changed = apply?.(row.record as Readonly<Record<string, Json>>);
      const text = changed === undefined ? row.text : toJsonText(changed);
      const record = changed === undefined ? row.record : (JSON.parse(text) as RecordValue);
      for (const [position, each] of unique.entries()) {
        const key = uniqueKey(each, record);
        if (key === undefined) continue;
        if (seen[position]!.has(key)) throw new UniqueViolation(index, fieldsOf(each));
        seen[position]!.add(key);
      }
      if (changed === undefined) continue;
      const revision = row.revision + 1;
      // The transform passes by rows that this very entry writes: they are written again as they are after it.
      if (draft.isOwn(table, id)) rewritten.push({ type: "put", table, id, known: true, revision, text, hidden: row.hidden, change: null });
      draft.put(table, id, { revision, text, hidden: row.hidden, record });
    }
  }
  draft.setTable(table, indexes);
  draft.add({ type: "define", table, indexes: JSON.stringify(indexes), transform: transform === undefined ? null : JSON.stringify(transform) }, ...rewritten);
}
