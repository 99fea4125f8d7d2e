// The input of one field of a record, by the field's type.
import { useSignal } from "../state/signal.js";
import { useEffect } from "preact/hooks";
import { data } from "../api/service.js";
import type { CollectionDefinition, Field, RecordBody, Tenant } from "../api/types.js";
import { Field as FieldFrame, SelectField, SwitchField, TextArea, TextField } from "../kit/field.js";
import { link } from "../state/route.js";
import { FilesInput } from "./files.js";
import { isFiles, titleOf, type DraftValue } from "./record-values.js";

interface Props {
  readonly tenant: Tenant;
  readonly collections: readonly CollectionDefinition[];
  readonly field: Field;
  readonly value: DraftValue;
  readonly onChange: (value: DraftValue) => void;
  readonly error: string | undefined;
}

export function ValueInput(props: Props) {
  const { field, value, onChange, error } = props;
  const common = { label: field.name, error, required: field.required };
  const text = typeof value === "string" ? value : "";
  switch (field.type) {
    case "BOOLEAN":
      return field.required
        ? <SwitchField label={field.name} checked={value === true} onChange={onChange} error={error} />
        : <SelectField {...common} value={value === null ? "" : String(value)} choices={[{ value: "", text: "Not set" }, { value: "true", text: "Yes" }, { value: "false", text: "No" }]} onChange={(choice) => onChange(choice === "" ? null : choice === "true")} />;
    case "NUMBER":
      return <TextField {...common} type="number" inputMode={field.integer ? "numeric" : "decimal"} value={text} onInput={onChange} hint={rangeHint(field.min, field.max)} />;
    case "DATE":
      return <TextField {...common} type="datetime-local" step="1" value={text} onInput={onChange} hint="In your time zone; kept in UTC." />;
    case "EMAIL":
      return <TextField {...common} type="text" inputMode="email" value={text} onInput={onChange} />;
    case "URL":
      return <TextField {...common} type="text" inputMode="url" value={text} onInput={onChange} />;
    case "SELECT":
      return <SelectField {...common} value={text} choices={[{ value: "", text: "Not set" }, ...field.values.map((choice) => ({ value: choice, text: choice })), ...(text === "" || field.values.includes(text) ? [] : [{ value: text, text }])]} onChange={onChange} />;
    case "JSON":
      return <TextArea {...common} mono rows={Math.min(16, Math.max(3, text.split("\n").length))} value={text} onInput={onChange} hint="Any JSON: an object, a list, a text in quotes, a number." />;
    case "RELATION":
      return <RelationInput {...props} collection={field.collection} />;
    case "FILE":
      return isFiles(value) ? <FilesInput tenant={props.tenant} field={field} value={value} onChange={onChange} error={error} /> : null;
    default:
      return field.maxLength <= 255
        ? <TextField {...common} value={text} onInput={onChange} />
        : <TextArea {...common} rows={Math.min(12, Math.max(1, text.split("\n").length, Math.ceil(text.length / 70)))} value={text} onInput={onChange} />;
  }
}

function rangeHint(min: number | null, max: number | null): string | undefined {
  if (min !== null && max !== null) return `From ${min} to ${max}.`;
  return min !== null ? `At least ${min}.` : max !== null ? `At most ${max}.` : undefined;
}

/** The id of a record, found by its text. */
function RelationInput({ tenant, collections, field, value, onChange, error, collection }: Props & { readonly collection: string }) {
  const text = typeof value === "string" ? value : "";
  const target = collections.find((item) => item.name === collection);
  const search = target?.fields.find((item) => item.type === "TEXT" && item.name !== "password");
  const found = useSignal<readonly RecordBody[]>([]);
  const wanted = useSignal<string | null>(null);
  useEffect(() => {
    if (wanted.value === null || target === undefined) return undefined;
    const controller = new AbortController();
    const looksLikeId = /^[0-9a-f-]{36}$/.test(wanted.value);
    const query = wanted.value === "" || looksLikeId || search === undefined ? {} : { where: `${search.name} ~ ${JSON.stringify(wanted.value)}` };
    const timer = setTimeout(() => {
      data.list(tenant, collection, { limit: 20, ...query }, controller.signal).then((page) => { found.value = page.items; }, () => undefined);
    }, 200);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [wanted.value, collection]);
  const hint = text !== "" && error === undefined
    ? <a href={link(["t", tenant.slug, "c", collection, "r", text])}>Open this record of {collection}</a>
    : `A record of ${collection}: type to search, or paste its id.`;
  return (
    <FieldFrame label={field.name} hint={hint} error={error} required={field.required}>
      {(wiring) => (
        <>
          <input
            {...wiring}
            class="mono"
            type="text"
            value={text}
            autocomplete="off"
            spellcheck={false}
            list={`${wiring.id}-found`}
            onFocus={() => { wanted.value = text; }}
            onInput={(event) => {
              wanted.value = event.currentTarget.value;
              onChange(event.currentTarget.value);
            }}
          />
          <datalist id={`${wiring.id}-found`}>
            {target !== undefined && found.value.map((record) => <option key={record.id} value={record.id}>{titleOf(target.fields, record)}</option>)}
          </datalist>
        </>
      )}
    </FieldFrame>
  );
}
