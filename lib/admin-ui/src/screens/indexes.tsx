// The indexes of a collection: what makes a sort or a filter fast on many records.
import type { Field, Index } from "../api/types.js";
import { Button } from "../kit/button.js";
import { SelectField, SwitchField } from "../kit/field.js";
import { Card } from "../kit/page.js";

const systemNames = ["createdAt", "updatedAt"];

export function Indexes(props: {
  readonly fields: readonly Field[];
  readonly indexes: readonly Index[];
  readonly onChange: (indexes: readonly Index[]) => void;
  readonly error: (index: number) => string | undefined;
}) {
  const { indexes, onChange } = props;
  const names = [...props.fields.filter((field) => field.type !== "JSON" && field.type !== "FILE" && field.name !== "password" && field.name !== "").map((field) => field.name), ...systemNames];
  const change = (place: number, index: Index) => onChange(indexes.map((item, position) => (position === place ? index : item)));
  return (
    <Card title="Indexes" actions={<Button small icon="plus" disabled={names.length === 0} onClick={() => onChange([...indexes, { fields: [names[0] ?? "createdAt"], unique: false }])}>Add an index</Button>}>
      <p class="muted">Add one for each field that long lists are sorted or filtered by. Unique fields have theirs already.</p>
      {indexes.map((index, place) => (
        <fieldset class="stack tight" key={place}>
          <legend class="visually-hidden">Index {place + 1}</legend>
          <div class="row">
            {index.fields.map((name, position) => (
              <SelectField
                key={position}
                label={`Index ${place + 1}, field ${position + 1}`}
                labelHidden
                value={name}
                choices={[...(names.includes(name) ? [] : [{ value: name, text: name }]), ...names.map((value) => ({ value, text: value }))]}
                onChange={(value) => change(place, { ...index, fields: index.fields.map((item, at) => (at === position ? value : item)) })}
              />
            ))}
            <Button small icon="plus" disabled={index.fields.length >= 8} onClick={() => change(place, { ...index, fields: [...index.fields, names.find((name) => !index.fields.includes(name)) ?? "createdAt"] })}>Then by</Button>
            {index.fields.length > 1 && <Button small kind="quiet" onClick={() => change(place, { ...index, fields: index.fields.slice(0, -1) })}>One field less</Button>}
            <SwitchField label="Unique together" checked={index.unique} onChange={(unique) => change(place, { ...index, unique })} />
            <Button kind="quiet" icon="trash" iconOnly onClick={() => onChange(indexes.filter((_, position) => position !== place))}>{`Remove the index on ${index.fields.join(", ")}`}</Button>
          </div>
          {props.error(place) !== undefined && <p class="error">{props.error(place)}</p>}
        </fieldset>
      ))}
    </Card>
  );
}
