// The collections of a tenant, and a new one with its first fields.
import { bind, useSignal } from "../state/signal.js";
import { manage } from "../api/service.js";
import type { CollectionDefinition, FieldType } from "../api/types.js";
import type { TenantProps } from "../work.js";
import { Button, LinkButton } from "../kit/button.js";
import { Dialog } from "../kit/dialog.js";
import { SelectField, TextField } from "../kit/field.js";
import { FormEnd } from "../kit/form-end.js";
import { formatTime } from "../kit/format.js";
import { Badge, Empty, Page } from "../kit/page.js";
import { Table } from "../kit/table.js";
import { say } from "../kit/toast.js";
import { go, link, route, setQuery } from "../state/route.js";
import { keepCollection } from "../state/tenants.js";
import { useSubmit } from "../state/submit.js";
import { fieldTypes } from "./schema-draft.js";

export function CollectionsScreen({ tenant, collections }: TenantProps) {
  const own = collections.filter((item) => !item.system);
  const users = collections.find((item) => item.system);
  const add = <Button kind="primary" icon="plus" onClick={() => setQuery({ new: "1" })}>New collection</Button>;
  return (
    <Page title="Collections" context={tenant.name} lead={<>What <strong>{tenant.name}</strong> keeps: each collection has fields, and rules that say who may do what.</>} actions={own.length > 0 ? add : undefined}>
      {own.length === 0 && (
        <Empty icon="table" title="No collection yet" action={add}>
          <p>A collection holds records of one kind: tasks, books, orders. Give it a name and its first fields; all of it may be changed later.</p>
        </Empty>
      )}
      <Table
        label="Collections"
        columns={["Name", "Fields", "Open to", "Live", "Changed"]}
      >
        {[...own, ...(users === undefined ? [] : [users])].map((item) => (
          <tr key={item.id}>
            <th scope="row"><a href={link(["t", tenant.slug, "c", item.name])}>{item.name}</a>{item.system && <> <Badge>built in</Badge></>}</th>
            <td class="cell">{item.fields.map((field) => field.name).join(", ") || <span class="muted">none yet</span>}</td>
            <td>{openness(item)}</td>
            <td>{item.realtime ? "on" : "off"}</td>
            <td class="narrow">{formatTime(item.updatedAt)}</td>
          </tr>
        ))}
      </Table>
      {own.length > 0 && own.every((item) => openness(item) === "nobody") && (
        <p class="muted">New collections are closed to everybody. Open one under <LinkButton kind="quiet" small href={link(["t", tenant.slug, "c", own[0]?.name ?? "", "rules"])}>Rules of {own[0]?.name}</LinkButton></p>
      )}
      {route.value.query.has("new") && <NewCollection tenant={tenant} onClose={() => setQuery({ new: null }, { replace: true })} />}
    </Page>
  );
}

/** Who reaches the collection, in a word. */
function openness(collection: CollectionDefinition): string {
  const all = [collection.listRule, collection.viewRule, collection.createRule, collection.updateRule, collection.deleteRule];
  if (all.every((rule) => rule === null)) return "nobody";
  return all.some((rule) => rule === "true") ? "guests" : "signed-in users";
}

interface FirstField {
  readonly name: string;
  readonly type: FieldType;
}

function NewCollection({ tenant, onClose }: { readonly tenant: TenantProps["tenant"]; readonly onClose: () => void }) {
  const name = useSignal("");
  const fields = useSignal<readonly FirstField[]>([{ name: "title", type: "TEXT" }]);
  const change = (index: number, value: Partial<FirstField>) => {
    fields.value = fields.value.map((field, place) => (place === index ? { ...field, ...value } : field));
  };
  const submit = useSubmit(async () => {
    const collection = await manage.createCollection(tenant, { name: name.value.trim(), fields: fields.value.filter((field) => field.name !== "").map((field) => ({ ...field, ...(field.type === "SELECT" ? { values: ["new"] } : {}) })) });
    keepCollection(collection);
    say(`The collection ${collection.name} is there. Nobody but you can reach it until you open its rules.`);
    go(link(["t", tenant.slug, "c", collection.name]));
  });
  // Fields with more to decide are added in the schema editor.
  const simple = fieldTypes.filter((type) => type !== "RELATION");
  return (
    <Dialog title="New collection" onClose={onClose}>
      <form onSubmit={submit.run}>
        <TextField label="Name" hint="Stands in addresses: letters, digits and _, at most 63, as in tasks." {...bind(name)} error={submit.error("name")} required autoFocus mono />
        <fieldset class="stack tight">
          <legend>First fields</legend>
          {fields.value.map((field, index) => (
            <div class="row" key={index}>
              <div class="form-row grow">
                <TextField label={`Name of field ${index + 1}`} labelHidden value={field.name} onInput={(value) => change(index, { name: value })} error={submit.error(`fields[${index}]`)} mono placeholder="name" />
                <SelectField label={`Type of field ${index + 1}`} labelHidden value={field.type} choices={simple.map((type) => ({ value: type, text: type }))} onChange={(value) => change(index, { type: value as FieldType })} />
              </div>
              <Button kind="quiet" icon="trash" iconOnly onClick={() => { fields.value = fields.value.filter((_, place) => place !== index); }}>{`Leave out ${field.name === "" ? `field ${index + 1}` : field.name}`}</Button>
            </div>
          ))}
          <div><Button small icon="plus" onClick={() => { fields.value = [...fields.value, { name: "", type: "TEXT" }]; }}>Add a field</Button></div>
        </fieldset>
        <FormEnd submit={submit} text="Create the collection" onCancel={onClose} />
      </form>
    </Dialog>
  );
}
