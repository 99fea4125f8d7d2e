// The collections of one store's database.
import type { Collection, Db } from "mongodb";
import type { EntryDocument, RowDocument, StateDocument, TableDocument, TrimDocument, WantedDocument } from "./documents.js";
import { rowsOf } from "./names.js";

export interface Collections {
  readonly database: Db;
  readonly log: Collection<EntryDocument>;
  readonly state: Collection<StateDocument | TrimDocument | WantedDocument>;
  readonly tables: Collection<TableDocument>;
  rows(table: string): Collection<RowDocument>;
  /** The condition that a row was not written by a later entry; empty where the server has no use for it. */
  upTo(entry: number): { s?: { $lte: number } };
  /** How many updates one command may have. */
  readonly updatesAtOnce: number;
}

export function collectionsOf(database: Db, fences: boolean): Collections {
  const rows = new Map<string, Collection<RowDocument>>();
  return {
    database,
    log: database.collection("log"),
    state: database.collection("state"),
    tables: database.collection("tables"),
    upTo: (entry) => (fences ? { s: { $lte: entry } } : {}),
    // FerretDB 1 has a hundred connections to its database, and a command keeps one for each of its updates until its
    // end: with a hundred of them it waits for itself for ever.
    updatesAtOnce: fences ? 1_000 : 20,
    rows(table) {
      let found = rows.get(table);
      if (found === undefined) {
        found = database.collection<RowDocument>(rowsOf(table));
        rows.set(table, found);
      }
      return found;
    },
  };
}

/** The documents of a store's state, as far as they are there. */
export interface State {
  readonly state: StateDocument | undefined;
  readonly wanted: number;
  readonly trimmed: number;
}

export async function readState({ state }: Collections): Promise<State> {
  const documents = await state.find({}).toArray();
  const found = <Kind extends { readonly _id: string }>(id: Kind["_id"]) => documents.find((each) => each._id === id) as Kind | undefined;
  return {
    state: found<StateDocument>("state"),
    wanted: found<WantedDocument>("wanted")?.at ?? 0,
    trimmed: found<TrimDocument>("trim")?.upTo ?? 0,
  };
}

/** The newest entry of the log. */
export async function readNewest({ log }: Collections): Promise<EntryDocument | undefined> {
  return (await log.find({}).sort({ _id: -1 }).limit(1).toArray())[0];
}

export function readEntries({ log }: Collections, after: number, limit: number): Promise<EntryDocument[]> {
  return log.find({ _id: { $gt: after } }).sort({ _id: 1 }).limit(limit).toArray();
}

/** Tells the others that the entry has reached its rows, and what the stamp is by now. False where the store was dropped meanwhile. */
export async function markApplied({ state }: Collections, { _id, log, stamp }: Pick<EntryDocument, "_id" | "log" | "stamp">): Promise<boolean> {
  return (await state.updateOne({ _id: "state", log }, { $max: { applied: _id, stamp } })).matchedCount > 0;
}
