// The schema of a collection: its fields, indexes and live switch, changed in place and saved as one.
import { useSignal } from "../state/signal.js";
import { data, manage } from "../api/service.js";
import type { CollectionDefinition, FieldType, Index } from "../api/types.js";
import type { TenantProps } from "../work.js";
import { Button } from "../kit/button.js";
import { askToConfirm } from "../kit/confirm.js";
import { Actions } from "../kit/dialog.js";
import { FormError, SelectField, SwitchField, TextField } from "../kit/field.js";
import { Badge, Card, Empty } from "../kit/page.js";
import { say } from "../kit/toast.js";
import { go, link } from "../state/route.js";
import { keepCollection, loadCatalog } from "../state/tenants.js";
import { useSubmit } from "../state/submit.js";
import { useUnsaved } from "../state/unsaved.js";
import { FieldOptions, tidy } from "./field-options.js";
import { Indexes } from "./indexes.js";
import { canBeUnique, draftOf, emptyField, fieldsToSend, fieldTypes, kept, newField, sameSchema, typeHints, type FieldDraft } from "./schema-draft.js";

export const coreUserFields: readonly string[] = ["username", "email", "role", "password"];

export function SchemaTab({ tenant, collections, collection }: TenantProps & { readonly collection: CollectionDefinition }) {
  const drafts = useSignal(draftOf(collection));
  const indexes = useSignal<readonly Index[]>(collection.indexes);
  const realtime = useSignal(collection.realtime);
  const fields = fieldsToSend(drafts.value).map(tidy);
  const changed = !sameSchema(collection, fields, indexes.value, realtime.value);
  useUnsaved(changed);

  const reset = (to: CollectionDefinition) => {
    drafts.value = draftOf(to);
    indexes.value = to.indexes;
    realtime.value = to.realtime;
  };
  const save = async () => {
    const saved = await manage.updateCollection(tenant, collection.name, { fields, indexes: indexes.value, ...(collection.system ? {} : { realtime: realtime.value }) });
    keepCollection(saved);
    reset(saved);
    say("The schema is saved.");
  };
  const submit = useSubmit(async () => {
    const gone = drafts.value.filter((draft) => draft.removed && draft.saved !== null);
    if (gone.length === 0) return save();
    const { total = 0 } = await data.list(tenant, collection.name, { limit: 1, count: true });
    if (total === 0) return save();
    askToConfirm({
      title: gone.length === 1 ? `Remove the field ${gone[0]?.field.name ?? ""}?` : `Remove ${gone.length} fields?`,
      text: <p>What {gone.map((draft) => draft.field.name).join(", ")} holds in {total} {total === 1 ? "record" : "records"} is lost for good.</p>,
      action: "Remove and save",
      name: gone.map((draft) => draft.field.name).join(", "),
      run: save,
    });
  });

  const change = (key: string, value: Partial<FieldDraft>) => {
    drafts.value = drafts.value.map((draft) => (draft.key === key ? { ...draft, ...value } : draft));
  };
  const move = (key: string, step: -1 | 1) => {
    const list = [...drafts.value];
    const from = list.findIndex((draft) => draft.key === key);
    const [taken] = list.splice(from, 1);
    if (taken !== undefined) list.splice(Math.max(0, from + step), 0, taken);
    drafts.value = list;
  };
  const places = new Map(kept(drafts.value).map((draft, index) => [draft.key, index]));
  return (
    <form class="stack" onSubmit={submit.run} noValidate>
      {drafts.value.length === 0 && <Empty icon="schema" title="No field yet"><p>Records have an id and two times by themselves. Add the fields that they should hold.</p></Empty>}
      {drafts.value.map((draft) => {
        const place = places.get(draft.key);
        return (
          <FieldEditor
            key={draft.key}
            draft={draft}
            core={collection.system && draft.saved !== null && coreUserFields.includes(draft.field.name)}
            collections={collections}
            first={place === 0}
            last={place === places.size - 1}
            onChange={(value) => change(draft.key, value)}
            onMove={(step) => move(draft.key, step)}
            onRemove={() => {
              if (draft.saved === null) drafts.value = drafts.value.filter((item) => item !== draft);
              else change(draft.key, { removed: true });
            }}
            error={(member) => (place === undefined ? undefined : submit.error(`fields[${place}].${member}`))}
            error0={place === undefined ? undefined : submit.failure?.fields.find((entry) => entry.field === `fields[${place}]` || entry.field === draft.field.name)?.message}
          />
        );
      })}
      <div><Button icon="plus" onClick={() => { drafts.value = [...drafts.value, newField()]; }}>Add a field</Button></div>
      <Indexes fields={fields} indexes={indexes.value} onChange={(value) => { indexes.value = value; }} error={(index) => submit.error(`indexes[${index}]`)} />
      {!collection.system && (
        <Card title="Live changes">
          <SwitchField label="Send changes to subscribers" hint="Each subscriber hears of the records that its view rule lets it see." checked={realtime.value} onChange={(value) => { realtime.value = value; }} error={submit.error("realtime")} />
        </Card>
      )}
      <FormError message={submit.failure === null ? null : restOf(submit.failure, places.size)} />
      <Actions>
        <Button disabled={!changed} onClick={() => { reset(collection); submit.clear(); }}>Undo the changes</Button>
        <Button kind="primary" submit busy={submit.busy} disabled={!changed}>Save the schema</Button>
      </Actions>
      {!collection.system && <RemoveCollection tenant={tenant} collection={collection} />}
    </form>
  );
}

/** What has no field of the form to stand at. */
function restOf(failure: NonNullable<ReturnType<typeof useSubmit>["failure"]>, count: number): string | null {
  if (failure.fields.length === 0) return failure.message;
  const rest = failure.fields.filter((entry) => !/^fields\[\d+\]/.test(entry.field) && !entry.field.startsWith("indexes[") && entry.field !== "realtime");
  const lines = rest.map((entry) => `${entry.field}: ${entry.message}`);
  return lines.length > 0 ? lines.join("\n") : `Not saved: look at the marked places among the ${count} fields above.`;
}

function FieldEditor(props: {
  readonly draft: FieldDraft;
  readonly core: boolean;
  readonly collections: TenantProps["collections"];
  readonly first: boolean;
  readonly last: boolean;
  readonly onChange: (value: Partial<FieldDraft>) => void;
  readonly onMove: (step: -1 | 1) => void;
  readonly onRemove: () => void;
  readonly error: (member: string) => string | undefined;
  readonly error0: string | undefined;
}) {
  const { draft, core, error } = props;
  const { field } = draft;
  const name = field.name === "" ? "the new field" : field.name;
  if (draft.removed) {
    return (
      <div class="field-card gone">
        <div class="row spread"><span><del>{field.name}</del> <Badge tone="warn">removed when you save</Badge></span><Button small onClick={() => props.onChange({ removed: false })}>Keep {field.name}</Button></div>
      </div>
    );
  }
  if (core) {
    return (
      <div class="field-card">
        <div class="row spread"><span><strong>{field.name}</strong> <Badge>{field.type}</Badge></span><span class="muted small-text">Core field of users, always there</span></div>
      </div>
    );
  }
  return (
    <fieldset class="field-card">
      <legend class="visually-hidden">{field.name === "" ? "New field" : `Field ${field.name}`}</legend>
      <div class="field-head">
        <TextField label="Name" value={field.name} onInput={(value) => props.onChange({ field: { ...field, name: value } })} error={error("name")} readOnly={draft.saved !== null} required mono autoFocus={draft.saved === null && field.name === ""} />
        <SelectField label="Type" value={field.type} choices={fieldTypes.map((type) => ({ value: type, text: type }))} onChange={(type) => props.onChange({ field: emptyField(field.name, type as FieldType, field), defaultText: "" })} error={error("type")} />
        <div class="row">
          <Button kind="quiet" icon="up" iconOnly disabled={props.first} onClick={() => props.onMove(-1)}>{`Move ${name} up`}</Button>
          <Button kind="quiet" icon="down" iconOnly disabled={props.last} onClick={() => props.onMove(1)}>{`Move ${name} down`}</Button>
          <Button kind="quiet" icon="trash" iconOnly onClick={props.onRemove}>{`Remove ${name}`}</Button>
        </div>
      </div>
      <div class="field-flags">
        <SwitchField label="Required" checked={field.required} onChange={(required) => props.onChange({ field: { ...field, required } })} error={error("required")} />
        {canBeUnique(field.type) && <SwitchField label="Unique" checked={field.unique} onChange={(unique) => props.onChange({ field: { ...field, unique } })} error={error("unique")} />}
        <span class="hint">{typeHints[field.type]}</span>
      </div>
      {props.error0 !== undefined && <p class="error">{props.error0}</p>}
      {(field.type === "SELECT" || field.type === "RELATION") && <FieldOptions field={field} collections={props.collections} onChange={(value) => props.onChange({ field: value })} error={error} />}
      <details open={["minLength", "maxLength", "pattern", "min", "max", "default", "maxSize", "widths", "mimeTypes", "maxFiles"].some((member) => error(member) !== undefined)}>
        <summary>More options</summary>
        <div class="stack">
          {field.type !== "SELECT" && field.type !== "RELATION" && <FieldOptions field={field} collections={props.collections} onChange={(value) => props.onChange({ field: value })} error={error} />}
          {field.type !== "FILE" && <TextField label="Default" hint={field.type === "JSON" ? "As JSON; empty: none." : "What a new record gets where nothing is given; empty: none. A new required field needs one where records exist."} value={draft.defaultText} onInput={(defaultText) => props.onChange({ defaultText })} error={error("default")} mono={field.type === "JSON"} />}
        </div>
      </details>
    </fieldset>
  );
}

function RemoveCollection({ tenant, collection }: { readonly tenant: TenantProps["tenant"]; readonly collection: CollectionDefinition }) {
  return (
    <Card title="Delete the collection" danger>
      <p class="muted">Its records, files and hooks go with it. There is no way back but a backup.</p>
      <div>
        <Button
          kind="danger"
          icon="trash"
          onClick={() => askToConfirm({
            title: `Delete ${collection.name}?`,
            text: <p>Every record and file of <strong>{collection.name}</strong> is deleted for good.</p>,
            action: "Delete the collection",
            name: collection.name,
            run: async () => {
              await manage.removeCollection(tenant, collection.name);
              go(link(["t", tenant.slug]), { replace: true });
              await loadCatalog(tenant);
              say(`The collection ${collection.name} is deleted.`);
            },
          })}
        >
          Delete {collection.name}
        </Button>
      </div>
    </Card>
  );
}
