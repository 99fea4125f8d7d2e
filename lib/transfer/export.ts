// Export: a collection's records as text, page by page in the order of their ids, while others go on writing.
import { systemFields, type RecordValue } from "../core/record.js";
import type { Collection } from "../collections/collection.js";
import { always } from "../storage/filter.js";
import type { Row } from "../storage/storage.js";
import type { TenantContext } from "../tenants/context.js";
import { csvLine } from "./csv.js";
import type { TransferFormat } from "./formats.js";

export interface ExportDeps {
  /** The outgoing shape of a record with FILE fields. */
  readonly present: (collection: Collection, record: RecordValue) => RecordValue;
}

export interface ExportInput {
  readonly format: TransferFormat;
  /** Told how many records are out. */
  readonly onProgress?: ((records: number) => void) | undefined;
}

const page = 500;

/** Pieces of text, one for each page. */
export async function* exportRecords({ present }: ExportDeps, context: TenantContext, collection: Collection, { format, onProgress }: ExportInput): AsyncGenerator<string> {
  const names = [...systemFields, ...collection.fields.keys()];
  const textOf = ({ text, record }: Row): string => (collection.passthrough ? text : JSON.stringify(present(collection, record)));
  const lineOf = (row: Row): string => {
    const record = collection.passthrough ? row.record : present(collection, row.record);
    // A JSON field's text is JSON, also where it holds a mere text.
    return csvLine(names.map((name) => (collection.fields.get(name)?.type === "JSON" && record[name] !== null ? JSON.stringify(record[name]) : record[name])));
  };
  let done = 0;
  if (format === "csv") yield csvLine(names);
  if (format === "json") yield "[";
  for await (const rows of pages(context, collection)) {
    switch (format) {
      case "csv": yield rows.map(lineOf).join(""); break;
      case "ndjson": yield rows.map((row) => `${textOf(row)}\n`).join(""); break;
      case "json": yield `${done === 0 ? "\n" : ",\n"}${rows.map(textOf).join(",\n")}`; break;
    }
    done += rows.length;
    onProgress?.(done);
  }
  if (format === "json") yield "\n]\n";
}

async function* pages({ store }: TenantContext, { table }: Collection): AsyncGenerator<Row[]> {
  for (let after: string | undefined; ;) {
    const rows = await store.table(table).list({ filter: always, limit: page, ...(after === undefined ? {} : { after: { value: null, id: after } }) });
    if (rows.length > 0) yield rows;
    if (rows.length < page) return;
    after = rows.at(-1)!.id;
  }
}
