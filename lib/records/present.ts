// The outgoing shape of records: stored text as it stands where nothing has to be added, links to files otherwise.
import type { Call } from "../core/call.js";
import type { RecordValue } from "../core/record.js";
import type { Collection } from "../collections/collection.js";
import type { Files } from "../files/files.js";
import type { Row } from "../storage/storage.js";
import type { RecordAnswer } from "./operation.js";

/** The entity tag of a row: its revision (RFC 9110, section 8.8.3, strong). */
export function etagOf(row: Row): string {
  return `"${row.revision}"`;
}

/** A row as GET by id gives it. */
export function presentRow(files: Files, call: Call, collection: Collection, row: Row): RecordAnswer {
  return collection.passthrough ? new StoredAnswer(row) : new LinkedAnswer(row, files.present(call, collection, row.record));
}

/** What hooks are told of a record: the shape of GET by id. */
export function toldToHooks(files: Files, call: Call, collection: Collection, record: RecordValue): RecordValue {
  return collection.passthrough ? record : files.present(call, collection, record);
}

class StoredAnswer implements RecordAnswer {
  constructor(private readonly row: Row) {}
  get id(): string { return this.row.id; }
  get text(): string { return this.row.text; }
  get value(): RecordValue { return this.row.record; }
  get etag(): string { return etagOf(this.row); }
}

class LinkedAnswer implements RecordAnswer {
  constructor(private readonly row: Row, readonly value: RecordValue) {}
  get id(): string { return this.row.id; }
  get text(): string { return JSON.stringify(this.value); }
  get etag(): string { return etagOf(this.row); }
}
