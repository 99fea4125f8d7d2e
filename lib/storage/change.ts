// StoredChange: an entry of the change log over JSON text, parsed on first use only. For every engine.
import type { RecordValue } from "../core/record.js";
import type { Change } from "./storage.js";

export class StoredChange implements Change {
  readonly id: string;
  readonly collection: string;
  readonly action: Change["action"];
  readonly recordId: string;
  readonly text: string | null;
  readonly at: string;
  #record: RecordValue | undefined;

  constructor(id: string, collection: string, action: Change["action"], recordId: string, text: string | null, at: string) {
    this.id = id;
    this.collection = collection;
    this.action = action;
    this.recordId = recordId;
    this.text = text;
    this.at = at;
  }

  get record(): RecordValue | null {
    if (this.text === null) return null;
    return (this.#record ??= JSON.parse(this.text) as RecordValue);
  }
}
