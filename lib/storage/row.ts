// StoredRow: a row as an engine read it, its JSON parsed on first use only. For every engine that keeps JSON text.
import type { RecordValue } from "../core/record.js";
import type { Hidden, Row } from "./storage.js";

const nothingHidden: Hidden = Object.freeze({});

/** A row over JSON texts. `hiddenText` is null where the row has no hidden members. */
export class StoredRow implements Row {
  readonly id: string;
  readonly revision: number;
  readonly text: string;
  readonly #hiddenText: string | null;
  #record: RecordValue | undefined;
  #hidden: Hidden | undefined;

  constructor(id: string, revision: number, text: string, hiddenText: string | null) {
    this.id = id;
    this.revision = revision;
    this.text = text;
    this.#hiddenText = hiddenText;
  }

  get record(): RecordValue {
    return (this.#record ??= JSON.parse(this.text) as RecordValue);
  }

  get hidden(): Hidden {
    return (this.#hidden ??= this.#hiddenText === null ? nothingHidden : (JSON.parse(this.#hiddenText) as Hidden));
  }
}
