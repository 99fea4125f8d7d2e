// Carries an entry of the log into the rows. May run twice and in two processes: a row never goes back to an older entry.
import type { Collection } from "mongodb";
import type { Json } from "../../core/record.js";
import { compileTransform } from "../transform.js";
import { toJsonText } from "../well-formed.js";
import type { Collections } from "./collections.js";
import { toDocument, toIndexes, toTransform, type DefineStep, type EntryDocument, type PutStep, type RemoveStep, type RowDocument } from "./documents.js";
import { codeOf, onlyDuplicates } from "./errors.js";
import { indexKeys, indexName } from "./names.js";

/** Rows that a transform reads at a time, and bytes of their texts that it writes at a time. */
const rowsAtOnce = 100;
const bytesAtOnce = 4 * 1024 * 1024;
const noNamespace = 26;

type Final = { readonly step: PutStep | RemoveStep; readonly known: boolean };

/** @param again whether some of it may have been done already */
export async function applyEntry(collections: Collections, entry: EntryDocument, again: boolean): Promise<void> {
  let pending = new Map<string, Map<string, Final>>();

  async function flush(): Promise<void> {
    const tables = pending;
    pending = new Map();
    await Promise.all([...tables].map(([table, rows]) => writeRows(collections, table, rows, entry._id, again)));
  }

  for (const step of entry.steps) {
    switch (step.type) {
      case "put":
      case "remove": {
        let rows = pending.get(step.table);
        if (rows === undefined) pending.set(step.table, (rows = new Map()));
        const known = rows.get(step.id)?.known ?? (step.type === "remove" || step.known);
        rows.set(step.id, { step, known });
        break;
      }
      case "define":
        await flush();
        await define(collections, step, entry._id);
        break;
      case "drop":
        await flush();
        await collections.rows(step.table).drop().catch(unlessMissing);
        await collections.tables.deleteOne({ _id: step.table });
        break;
    }
  }
  await flush();
}

async function writeRows(collections: Collections, table: string, rows: ReadonlyMap<string, Final>, entry: number, again: boolean): Promise<void> {
  const collection = collections.rows(table);
  const fresh: RowDocument[] = [];
  const changed: RowDocument[] = [];
  const gone: string[] = [];
  for (const [id, { step, known }] of rows) {
    if (step.type === "remove") {
      if (known || again) gone.push(id);
    } else if (known) {
      changed.push(toDocument(step, entry));
    } else {
      fresh.push(toDocument(step, entry));
    }
  }
  const upTo = collections.upTo(entry);
  await Promise.all([
    insertRows(collections, table, fresh, entry, again),
    changed.length === 0 ? undefined
      : changed.length === 1 ? collection.replaceOne({ _id: changed[0]!._id, ...upTo }, changed[0]!)
      : replaceRows(collections, collection, changed, entry),
    gone.length === 0 ? undefined
      : gone.length === 1 ? collection.deleteOne({ _id: gone[0]!, ...upTo })
      : collection.bulkWrite(gone.map((_id) => ({ deleteOne: { filter: { _id, ...upTo } } })), { ordered: false }),
  ]);
}

/**
 * Replaces those that no entry after `newest` has written. With `upsert` also those that are not there: where a newer
 * entry has written the row, the upsert meets its id and is refused, as it should be.
 */
async function replaceRows(collections: Collections, rows: Collection<RowDocument>, documents: readonly RowDocument[], newest: number, upsert = false): Promise<void> {
  const upTo = collections.upTo(newest);
  for (let start = 0; start < documents.length; start += collections.updatesAtOnce) {
    const some = documents.slice(start, start + collections.updatesAtOnce);
    await rows.bulkWrite(some.map((document) => ({ replaceOne: { filter: { _id: document._id, ...upTo }, replacement: document, upsert } })), { ordered: false }).catch((error: unknown) => {
      if (!upsert || !onlyDuplicates(error)) throw error;
    });
  }
}

async function insertRows(collections: Collections, table: string, documents: readonly RowDocument[], entry: number, again: boolean): Promise<void> {
  if (documents.length === 0) return;
  const collection = collections.rows(table);
  if (!again) {
    try {
      if (documents.length === 1) await collection.insertOne(documents[0]!);
      else await collection.insertMany(documents as RowDocument[], { ordered: false });
      return;
    } catch (error) {
      if (!onlyDuplicates(error)) throw error;
    }
  }
  await replaceRows(collections, collection, documents, entry, true);
}

async function define(collections: Collections, step: DefineStep, entry: number): Promise<void> {
  const rows = collections.rows(step.table);
  const wanted = new Map(toIndexes(step.indexes).map((index) => [indexName(index), index]));
  const present = new Set((await rows.indexes().catch((error: unknown) => (unlessMissing(error), []))).map(({ name }) => name ?? ""));
  for (const name of present) if (name !== "_id_" && !wanted.has(name)) await rows.dropIndex(name);
  if (step.transform !== null) await transformRows(collections, step, entry);
  for (const [name, index] of wanted) if (!present.has(name)) await rows.createIndex(indexKeys(index), { name });
  await collections.tables.updateOne({ _id: step.table }, { $set: { indexes: step.indexes, s: entry } }, { upsert: true });
}

async function transformRows(collections: Collections, step: DefineStep, entry: number): Promise<void> {
  const rows = collections.rows(step.table);
  const transform = compileTransform(toTransform(step.transform!));
  let documents: RowDocument[] = [];
  let size = 0;

  async function write(): Promise<void> {
    const found = documents;
    documents = [];
    size = 0;
    if (found.length > 0) await replaceRows(collections, rows, found, entry - 1);
  }

  let last = "";
  for (;;) {
    let count = 0;
    // Row by row, since a hundred of the largest would not fit into memory.
    for await (const row of rows.find({ _id: { $gt: last } }, { projection: { f: 0 } }).sort({ _id: 1 }).limit(rowsAtOnce)) {
      count += 1;
      last = row._id;
      if (row.s >= entry) continue;
      const changed = transform(JSON.parse(row.d) as Record<string, Json>);
      if (changed === undefined) continue;
      const text = toJsonText(changed);
      documents.push(toDocument({ id: row._id, revision: row.r + 1, text, hidden: row.h }, entry));
      size += text.length;
      if (size > bytesAtOnce) await write();
    }
    await write();
    if (count < rowsAtOnce) return;
  }
}

function unlessMissing(error: unknown): void {
  if (codeOf(error) !== noNamespace && !(error instanceof Error && error.message.startsWith("ns not found"))) throw error;
}
