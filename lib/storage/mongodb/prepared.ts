// A unit as the writer takes it: its values fixed in the moment of the call, as they come back from JSON.
import type { Json, RecordValue } from "../../core/record.js";
import type { Absent, Conditions, Define, Drop, Exists, Hidden, LogEntry, Unit } from "../storage.js";
import { toJsonText } from "../well-formed.js";
import { tooLarge } from "./errors.js";
import { rowsOf } from "./names.js";

/** Bytes of what a unit brings; what it makes of the stored rows is measured by its draft. */
export const longestUnit = 12 * 1024 * 1024;

export interface PreparedInsert {
  readonly type: "insert";
  readonly table: string;
  readonly text: string;
  readonly record: RecordValue;
  readonly hidden: string | null;
  readonly log: LogEntry | undefined;
}

export interface PreparedUpdate extends Conditions {
  readonly type: "update";
  readonly table: string;
  readonly id: string;
  readonly set: Readonly<Record<string, Json>> | undefined;
  readonly setHidden: Hidden | undefined;
  readonly increment: Readonly<Record<string, number>> | undefined;
  readonly log: LogEntry | undefined;
}

export interface PreparedRemove extends Conditions {
  readonly type: "remove";
  readonly table: string;
  readonly id: string;
  readonly log: LogEntry | undefined;
}

export type Prepared = PreparedInsert | PreparedUpdate | PreparedRemove | Exists | Absent | Define | Drop;

export interface PreparedUnit {
  readonly operations: readonly Prepared[];
  readonly stamp: string | undefined;
  readonly head: string | undefined;
  readonly bump: boolean;
  /** ISO 8601, of the changes that it logs. */
  readonly at: string;
  /** Bytes, about. */
  readonly size: number;
}

/** Throws TypeError on a name that is none, and BadRequest where the unit is too large. */
export function prepare(unit: Unit, at: string): PreparedUnit {
  let size = 0;
  const sized = (text: string, log: LogEntry | undefined): string => {
    size += Buffer.byteLength(text) * (log?.content === "record" ? 2 : 1) + 300;
    return text;
  };
  const plain = <Value extends object>(value: Value | undefined, log: LogEntry | undefined): Value | undefined =>
    value === undefined ? undefined : (JSON.parse(sized(toJsonText(value), log)) as Value);
  const operations = unit.operations.map((operation): Prepared => {
    rowsOf(operation.table);
    switch (operation.type) {
      case "insert": {
        const { table, hidden, log } = operation;
        const text = sized(toJsonText(operation.record), log);
        return { type: "insert", table, text, record: JSON.parse(text) as RecordValue, hidden: hidden === undefined ? null : sized(toJsonText(hidden), undefined), log };
      }
      case "update":
        return { ...operation, set: plain(operation.set, operation.log), setHidden: plain(operation.setHidden, undefined), increment: operation.increment, log: operation.log };
      case "remove":
        return { ...operation, log: operation.log };
      default:
        return operation;
    }
  });
  if (size > longestUnit) throw tooLarge();
  return { operations, stamp: unit.stamp, head: unit.head, bump: unit.bump === true, at, size };
}
