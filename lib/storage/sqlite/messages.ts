// What the main thread and the writer's thread say to each other: units with their JSON already as text.
import type { Absent, Conditions, Define, Drop, Exists, LogEntry, Unit } from "../storage.js";
import { toJsonText } from "../well-formed.js";
import type { PlainError } from "./errors.js";

export interface InsertMessage {
  readonly type: "insert";
  readonly table: string;
  readonly id: string;
  readonly text: string;
  readonly hidden: string | null;
  readonly log: LogEntry | undefined;
}

export interface UpdateMessage extends Conditions {
  readonly type: "update";
  readonly table: string;
  readonly id: string;
  readonly set: string | undefined;
  readonly setHidden: string | undefined;
  readonly increment: Readonly<Record<string, number>> | undefined;
  readonly log: LogEntry | undefined;
}

export interface RemoveMessage extends Conditions {
  readonly type: "remove";
  readonly table: string;
  readonly id: string;
  readonly log: LogEntry | undefined;
}

export type OperationMessage = InsertMessage | UpdateMessage | RemoveMessage | Exists | Absent | Define | Drop;

export interface UnitMessage {
  readonly operations: readonly OperationMessage[];
  /** ISO 8601; the time of the changes that the unit logs. */
  readonly at: string;
  readonly stamp: string | undefined;
  readonly bump: boolean;
  readonly head: string | undefined;
}

export type Task =
  | { readonly type: "write"; readonly unit: UnitMessage }
  | { readonly type: "trim"; readonly keep: number }
  | { readonly type: "dropDatabase" };

export interface Request {
  readonly number: number;
  readonly path: string;
  readonly task: Task;
}

/** A row as plain data: revision, text, hidden text. */
export type PlainRow = readonly [revision: number, text: string, hidden: string | null];

export interface Done {
  readonly logId: string;
  /** By operation; null for inserts, whose row the sender knows, and for what has no row. */
  readonly rows: readonly (PlainRow | null)[];
  /** The sequence number of the unit's first change; they follow one another. 0 where it has none. */
  readonly firstChange: number;
}

export type Reply =
  | { readonly number: number; readonly done: Done }
  | { readonly number: number; readonly error: PlainError };

/** A unit as the writer takes it. */
export function toUnitMessage(unit: Unit, at: string): UnitMessage {
  return {
    operations: unit.operations.map((operation): OperationMessage => {
      switch (operation.type) {
        case "insert": {
          const { table, record, hidden, log } = operation;
          return { type: "insert", table, id: record.id, text: toJsonText(record), hidden: hidden === undefined ? null : toJsonText(hidden), log };
        }
        case "update": {
          const { type, table, id, set, setHidden, increment, log, where, revision, hiddenIs, optional } = operation;
          return {
            type, table, id, increment, log, where, revision, hiddenIs, optional,
            set: set === undefined ? undefined : toJsonText(set),
            setHidden: setHidden === undefined ? undefined : toJsonText(setHidden),
          };
        }
        case "remove": {
          const { type, table, id, log, where, revision, hiddenIs, optional } = operation;
          return { type, table, id, log, where, revision, hiddenIs, optional };
        }
        default:
          return operation;
      }
    }),
    at,
    stamp: unit.stamp,
    bump: unit.bump === true,
    head: unit.head,
  };
}
