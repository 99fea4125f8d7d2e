// Journal: a store's log as this process knows it. Its entries are numbered without gaps; whoever inserts a number
// first has written it, so one insert makes a whole unit durable, on any topology, and all processes agree on one
// order. The rows follow; an entry whose process died before that is finished by the next one.
import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { applyEntry } from "./apply.js";
import { markApplied, readEntries, readNewest, readState, type Collections } from "./collections.js";
import { toIndexes, type EntryDocument, type Step } from "./documents.js";
import type { Draft, Known } from "./draft.js";
import { isDuplicate } from "./errors.js";

/** Milliseconds that another process has for carrying its entry into the rows, before this one does it. */
const grace = 2_000;
/** Milliseconds after its commit from which an entry may have been finished by somebody else. */
const late = 1_000;
/** Entries that stay for others to read, beyond those that hold changes, and milliseconds for which each one stays. */
export const keptEntries = 200;
export const keptTime = 300_000;
/** Milliseconds after which what was read is too old to be written on: the next number may have been cleared away. */
const tooOld = 150_000;
const entriesAtOnce = 200;
/** Entries of others that are read one by one; who is further behind reads the state anew, which is less. */
const entriesToFollow = 20;
/** After so many entries, those without changes are cleared away. */
const clearEvery = 500;

export interface Journal {
  /** What is known, read where nothing is. Every entry known has reached its rows. */
  known(): Promise<Known>;
  /** What was known last, without a look; undefined where nothing is. */
  last(): Known | undefined;
  /** Reads what others have written since; whether there was anything. */
  catchUp(): Promise<boolean>;
  /** Writes the draft as the next entry and carries it into the rows. undefined where another process was faster. */
  commit(draft: Draft): Promise<EntryDocument | undefined>;
  /** Forgets what is known, after a fault. */
  forget(): void;
  /** Whether other processes have written, or waited to, in the last second. */
  isContended(): boolean;
  /** Resolves when nothing is under way any more. */
  settled(): Promise<void>;
}

export function createJournal(collections: () => Collections, me: string): Journal {
  let current: Known | undefined;
  let isStored = false;
  let marking: Promise<void> = Promise.resolve();
  let lastWanted = 0;
  let contendedUntil = 0;
  let sinceCleared = 0;
  let readAt = 0;

  function contended(): void {
    contendedUntil = performance.now() + 1_000;
  }

  function fold(known: Known, entry: EntryDocument): Known {
    return { ...known, last: entry._id, changes: entry.to, stamp: entry.stamp, tables: foldTables(known.tables, entry.steps) };
  }

  async function load(): Promise<Known> {
    const at = collections();
    const { state, wanted } = await readState(at);
    lastWanted = wanted;
    if (state === undefined) {
      isStored = false;
      return { log: randomBytes(9).toString("base64url").replace(/[-_]/g, "x"), last: 0, changes: 0, stamp: 0, tables: new Map() };
    }
    isStored = true;
    const newest = await readNewest(at);
    if (newest === undefined) return { log: state.log, last: 0, changes: 0, stamp: 0, tables: new Map() };
    const further = newest._id > state.applied ? await awaitApplied(state.log, newest) : [];
    const tables = await at.tables.find({}).toArray();
    const known: Known = { log: state.log, last: newest._id, changes: newest.to, stamp: newest.stamp, tables: new Map(tables.map(({ _id, indexes }) => [_id, toIndexes(indexes)])) };
    return further.reduce(fold, known);
  }

  /** Waits until the entry is in the rows, or puts it there; gives the entries after it, all in the rows too. */
  async function awaitApplied(log: string, newest: EntryDocument): Promise<EntryDocument[]> {
    const at = collections();
    const further: EntryDocument[] = [];
    let until = performance.now() + grace;
    let asked = false;
    for (;;) {
      const more = await readEntries(at, newest._id, entriesAtOnce);
      if (more.length > 0) {
        further.push(...more);
        newest = more.at(-1)!;
        until = performance.now() + grace;
      }
      const { state } = await readState(at);
      if (state?.log !== log || state.applied >= newest._id) return further;
      if (newest.by === me || performance.now() > until) {
        await applyEntry(at, newest, true);
        await markApplied(at, newest);
        continue;
      }
      if (!asked) {
        asked = true;
        await at.state.updateOne({ _id: "wanted" }, { $set: { at: Date.now() } }, { upsert: true });
      }
      await wait(2 + Math.random() * 6);
    }
  }

  async function catchUp(): Promise<boolean> {
    const known = current;
    if (known === undefined) {
      current = await load();
      return true;
    }
    const at = collections();
    const [{ state }, entries] = await Promise.all([readState(at), readEntries(at, known.last, entriesToFollow)]);
    if ((state === undefined) === isStored || (state !== undefined && state.log !== known.log)) {
      current = await load();
      return true;
    }
    const first = entries[0];
    // Entries without a state are what others wrote into a store that was dropped meanwhile.
    if (first === undefined || state === undefined) return false;
    contended();
    if (first._id !== known.last + 1 || entries.length === entriesToFollow) {
      current = await load();
      return true;
    }
    const newest = entries.at(-1)!;
    if (newest._id > (state?.applied ?? 0)) entries.push(...(await awaitApplied(known.log, newest)));
    current = entries.reduce(fold, known);
    return true;
  }

  /** Makes the store's state and log where they are not there yet. False where another process was faster. */
  async function found(known: Known): Promise<boolean> {
    const at = collections();
    await at.log.createIndex({ to: 1 });
    try {
      await at.state.insertOne({ _id: "state", log: known.log, applied: 0, stamp: 0 });
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      return false;
    }
    isStored = true;
    return true;
  }

  /** Reads what was committed after the entry and carries it into the rows once more: this process came late. */
  async function repair(entry: EntryDocument): Promise<void> {
    for (const each of await readEntries(collections(), entry._id, entriesAtOnce)) await applyEntry(collections(), each, true);
  }

  /** The store was dropped while this process wrote, and the write made its database anew: nothing of it is to stay. */
  async function removeRest(at: Collections): Promise<void> {
    // Without a state no process takes the database for a store.
    if ((await readState(at)).state === undefined) await at.database.dropDatabase();
  }

  async function clear(last: number): Promise<void> {
    const { trimmed } = await readState(collections());
    await collections().log.deleteMany({ _id: { $lt: last - keptEntries }, time: { $lt: Date.now() - keptTime }, $or: [{ count: 0 }, { to: { $lte: trimmed } }] });
  }

  async function commit(draft: Draft): Promise<EntryDocument | undefined> {
    const known = current!;
    const at = collections();
    if (!isStored && !(await found(known))) {
      current = undefined;
      return undefined;
    }
    const entry: EntryDocument = {
      _id: known.last + 1, log: known.log, time: Date.now(), by: me, from: known.changes, to: draft.changes, count: draft.changes - known.changes, stamp: draft.stamp, steps: draft.steps,
    };
    if (performance.now() - readAt > tooOld) return undefined;
    try {
      await at.log.insertOne(entry);
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      contended();
      return undefined;
    }
    const committed = performance.now();
    await applyEntry(at, entry, false);
    if (performance.now() - committed > late) await repair(entry);
    current = { log: known.log, last: entry._id, changes: entry.to, stamp: entry.stamp, tables: new Map(draft.tables) };
    const marked = marking.then(async () => {
      if (!(await markApplied(at, entry))) await removeRest(at);
    });
    // Only the stamp must be there for others before the answer; all else they find in the log.
    marking = marked.catch(() => undefined);
    if (entry.stamp !== known.stamp) await marked;
    sinceCleared += 1;
    if (sinceCleared >= clearEvery) {
      sinceCleared = 0;
      marking = marking.then(() => clear(entry._id)).catch(() => undefined);
    }
    return entry;
  }

  return {
    async known() {
      readAt = performance.now();
      if (current !== undefined) {
        // One small read tells of a dropped tenant, of others' entries and of others who wait.
        const { state, wanted } = await readState(collections());
        if (wanted !== lastWanted) {
          lastWanted = wanted;
          contended();
        }
        if ((state === undefined) === isStored || (state !== undefined && state.log !== current.log)) current = undefined;
        else if (state !== undefined && state.applied > current.last) await catchUp();
      }
      return (current ??= await load());
    },
    last: () => current,
    catchUp,
    commit,
    forget() {
      current = undefined;
    },
    isContended: () => performance.now() < contendedUntil,
    settled: () => marking,
  };
}

function foldTables(tables: Known["tables"], steps: readonly Step[]): Known["tables"] {
  if (!steps.some(({ type }) => type === "define" || type === "drop")) return tables;
  const folded = new Map(tables);
  for (const step of steps) {
    if (step.type === "define") folded.set(step.table, toIndexes(step.indexes));
    else if (step.type === "drop") folded.delete(step.table);
  }
  return folded;
}
