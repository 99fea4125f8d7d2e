// The options of one field, by its type.
import type { CollectionDefinition, Field } from "../api/types.js";
import { SelectField, SwitchField, TextArea, TextField } from "../kit/field.js";
import { fromLocalInput, toLocalInput } from "../kit/format.js";

interface Props {
  readonly field: Field;
  readonly collections: readonly CollectionDefinition[];
  readonly onChange: (field: Field) => void;
  readonly error: (member: string) => string | undefined;
}

const numberOr = <T,>(text: string, empty: T): number | T => (text.trim() === "" || Number.isNaN(Number(text)) ? empty : Number(text));
const shown = (value: number | null) => (value === null ? "" : String(value));
const linesOf = (text: string) => text.split("\n").map((line) => line.trim()).filter((line) => line !== "");

export function FieldOptions({ field, collections, onChange, error }: Props) {
  switch (field.type) {
    case "TEXT":
      return (
        <div class="form-row">
          <TextField label="Shortest" type="number" value={shown(field.minLength)} onInput={(value) => onChange({ ...field, minLength: numberOr(value, null) })} error={error("minLength")} hint="Characters; empty: any." />
          <TextField label="Longest" type="number" value={shown(field.maxLength)} onInput={(value) => onChange({ ...field, maxLength: numberOr(value, 5000) })} error={error("maxLength")} hint="Characters." />
          <TextField label="Pattern" value={field.pattern ?? ""} onInput={(value) => onChange({ ...field, pattern: value === "" ? null : value })} error={error("pattern")} hint="A regular expression (RE2); empty: any text." mono />
        </div>
      );
    case "NUMBER":
      return (
        <>
          <div class="form-row">
            <TextField label="At least" type="number" value={shown(field.min)} onInput={(value) => onChange({ ...field, min: numberOr(value, null) })} error={error("min")} />
            <TextField label="At most" type="number" value={shown(field.max)} onInput={(value) => onChange({ ...field, max: numberOr(value, null) })} error={error("max")} />
          </div>
          <SwitchField label="Whole numbers only" checked={field.integer} onChange={(integer) => onChange({ ...field, integer })} />
        </>
      );
    case "DATE":
      return (
        <div class="form-row">
          <TextField label="Not before" type="datetime-local" value={toLocalInput(field.min ?? "")} onInput={(value) => onChange({ ...field, min: fromLocalInput(value) })} error={error("min")} />
          <TextField label="Not after" type="datetime-local" value={toLocalInput(field.max ?? "")} onInput={(value) => onChange({ ...field, max: fromLocalInput(value) })} error={error("max")} />
        </div>
      );
    case "SELECT":
      return <ValuesField field={field} onChange={onChange} error={error("values")} />;
    case "RELATION":
      return (
        <div class="form-row">
          <SelectField label="Collection" value={field.collection} choices={collections.map((item) => ({ value: item.name, text: item.name }))} onChange={(collection) => onChange({ ...field, collection })} error={error("collection")} />
          <SelectField
            label="When that record is deleted"
            value={field.onDelete}
            choices={[{ value: "restrict", text: "Refuse the deletion" }, { value: "setNull", text: "Empty this field" }, { value: "cascade", text: "Delete this record too" }]}
            onChange={(onDelete) => onChange({ ...field, onDelete: onDelete as typeof field.onDelete })}
            error={error("onDelete")}
          />
        </div>
      );
    case "FILE":
      return (
        <>
          <SwitchField label="Several files" checked={field.multiple} onChange={(multiple) => onChange({ ...field, multiple })} error={error("multiple")} />
          <div class="form-row">
            {field.multiple && <TextField label="At most, files" type="number" value={shown(field.maxFiles)} onInput={(value) => onChange({ ...field, maxFiles: numberOr(value, 10) })} error={error("maxFiles")} />}
            <TextField label="Largest file, KiB" type="number" value={shown(field.maxSize / 1024)} onInput={(value) => onChange({ ...field, maxSize: Math.round(numberOr(value, 2048) * 1024) })} error={error("maxSize")} hint="At most 4096." />
          </div>
          <div class="form-row">
            <TextField label="Kinds of files" value={field.mimeTypes.join(", ")} onInput={(value) => onChange({ ...field, mimeTypes: value.split(",").map((item) => item.trim()).filter((item, index, all) => item !== "" || index === all.length - 1) })} error={error("mimeTypes")} hint="Media types such as image/*, application/pdf; empty: any. The content is checked, not the name." mono />
            <WidthsField field={field} onChange={onChange} error={error("widths")} />
          </div>
        </>
      );
    default:
      return null;
  }
}

function ValuesField({ field, onChange, error }: { readonly field: Extract<Field, { type: "SELECT" }>; readonly onChange: Props["onChange"]; readonly error: string | undefined }) {
  return <TextArea label="Values" rows={Math.min(8, Math.max(3, field.values.length + 1))} value={field.values.join("\n")} onInput={(value) => onChange({ ...field, values: value.split("\n") })} error={error} hint="One on each line." required />;
}

function WidthsField({ field, onChange, error }: { readonly field: Extract<Field, { type: "FILE" }>; readonly onChange: Props["onChange"]; readonly error: string | undefined }) {
  return (
    <TextArea
      label="Image widths"
      rows={2}
      value={field.widths.join("\n")}
      onInput={(value) => onChange({ ...field, widths: linesOf(value).map(Number).filter((width) => Number.isFinite(width)) })}
      error={error}
      hint="Pixels, one on each line, at most 8: a smaller copy of each uploaded image. Counts for later uploads."
      mono
    />
  );
}

/** Takes out what is only there while somebody types. */
export function tidy(field: Field): Field {
  if (field.type === "SELECT") return { ...field, values: field.values.map((value) => value.trim()).filter((value) => value !== "") };
  return field.type === "FILE" ? { ...field, mimeTypes: field.mimeTypes.filter((value) => value !== "") } : field;
}

