// StoredRow: a row as an engine read it, its JSON parsed on first use only. For every engine that keeps JSON text.
import type { RecordValue } from "../core/record.js";
import type { Hidden, Row } from "./storage.js";

const nothingHidden: Hidden = Object.freeze({});
const idPrefix = '{"id":"';

/** A row over JSON texts. */
export class StoredRow implements Row {
  readonly revision: number;
  readonly text: string;
  readonly #hiddenText: string | null;
  #id: string | undefined;
  #record: RecordValue | undefined;
  #hidden: Hidden | undefined;

  /** `id` may be undefined: then it is taken from the text. `hiddenText` is null where nothing is hidden. */
  constructor(id: string | undefined, revision: number, text: string, hiddenText: string | null) {
    this.#id = id;
    this.revision = revision;
    this.text = text;
    this.#hiddenText = hiddenText;
  }

  get id(): string {
    return (this.#id ??= idOf(this.text) ?? this.record.id);
  }

  get record(): RecordValue {
    return (this.#record ??= JSON.parse(this.text) as RecordValue);
  }

  get hidden(): Hidden {
    return (this.#hidden ??= this.#hiddenText === null ? nothingHidden : (JSON.parse(this.#hiddenText) as Hidden));
  }
}

/** The id at its usual place in the text, without parsing the rest. */
function idOf(text: string): string | undefined {
  if (!text.startsWith(idPrefix)) return undefined;
  const end = text.indexOf('"', idPrefix.length);
  const id = text.slice(idPrefix.length, end);
  return id.includes("\\") ? undefined : id;
}
