// One record in a sheet: new or changed, with its files. A change by somebody else meanwhile is told, and both sides are kept.
import { useSignal } from "../state/signal.js";
import { ApiError } from "../api/http.js";
import { data, manage, type Tagged } from "../api/service.js";
import type { JsonObject, RecordBody } from "../api/types.js";
import { Button } from "../kit/button.js";
import { askToConfirm } from "../kit/confirm.js";
import { CopyButton } from "../kit/copy.js";
import { Dialog } from "../kit/dialog.js";
import { FormError } from "../kit/field.js";
import { formatExactTime } from "../kit/format.js";
import { Loaded } from "../kit/page.js";
import { say } from "../kit/toast.js";
import { useResource } from "../state/resource.js";
import { useSubmit } from "../state/submit.js";
import { useUnsaved } from "../state/unsaved.js";
import { AccountFields, accountNames, accountOf, toAccountBody, type AccountDraft } from "./account-fields.js";
import type { CollectionProps } from "./collection.js";
import { differs, draftOf, editableFields, isChanged, jsonFault, titleOf, toCreate, toForm, toUpdate, type Outgoing, type RecordDraft } from "./record-values.js";
import { ValueInput } from "./value-input.js";

interface Props extends CollectionProps {
  /** null: a new record. */
  readonly id: string | null;
  readonly onClose: () => void;
  readonly onSaved: (record: RecordBody) => void;
  readonly onRemoved: () => void;
}

export function RecordSheet(props: Props) {
  const { tenant, collection, id } = props;
  const loaded = useResource<Tagged | null>(async (signal) => (id === null ? null : collection.system ? readAccount(props, id, signal) : data.read(tenant, collection.name, id, signal)), [id]);
  const word = collection.system ? "account" : "record";
  const title = id === null ? `New ${word}` : loaded.data?.record === undefined ? `One ${word}` : titleOf(collection.fields, loaded.data.record);
  return (
    <Dialog title={title} onClose={props.onClose} sheet>
      <Loaded resource={loaded} what={`the ${word}`}>
        {(tagged) => <Editor {...props} tagged={tagged} onFresh={(fresh) => loaded.set(fresh)} />}
      </Loaded>
    </Dialog>
  );
}

/** The data plane's record with its tag, and what only the admin editor shows. */
async function readAccount({ tenant, collection }: Props, id: string, signal?: AbortSignal): Promise<Tagged> {
  const [tagged, account] = await Promise.all([data.read(tenant, collection.name, id, signal), manage.user(tenant, id, signal)]);
  return { ...tagged, record: { ...tagged.record, ...account } };
}

function Editor(props: Props & {
  readonly tagged: Tagged | null;
  readonly onFresh: (fresh: Tagged) => void;
}) {
  const { tenant, collections, collection, id, tagged } = props;
  const fields = editableFields(collection.fields, collection.system);
  const base = useSignal<Tagged | null>(tagged);
  const start = draftOf(fields, base.value?.record ?? null);
  const draft = useSignal<RecordDraft>(start);
  const account = useSignal<AccountDraft>(accountOf(tagged?.record ?? null));
  const conflict = useSignal<Tagged | null>(null);
  const faults = useSignal<ReadonlyMap<string, string>>(new Map());
  const changed = isChanged(fields, start, draft.value) || (collection.system && JSON.stringify(account.value) !== JSON.stringify(accountOf(base.value?.record ?? null)));
  const forget = useUnsaved(changed);

  const write = async (): Promise<RecordBody> => {
    if (id === null) return create();
    let current = base.value;
    const outgoing = toUpdate(fields, start, draft.value);
    const body: JsonObject = collection.system ? { ...outgoing.body, ...toAccountBody(account.value, accountOf(current?.record ?? null)) } : outgoing.body;
    if (Object.keys(body).length > 0) {
      current = collection.system
        ? { record: await manage.updateUser(tenant, id, body), tag: null }
        : await data.update(tenant, collection.name, id, body, current?.tag ?? null);
    }
    if (outgoing.files.length > 0) current = await data.update(tenant, collection.name, id, toForm({ body: {}, files: outgoing.files }), current?.tag ?? null);
    const fresh = collection.system ? await readAccount(props, id) : current;
    if (fresh === null) throw new ApiError(0, "The record is gone.");
    base.value = fresh;
    props.onFresh(fresh);
    draft.value = draftOf(fields, fresh.record);
    account.value = accountOf(fresh.record);
    return fresh.record;
  };
  const create = async (): Promise<RecordBody> => {
    const outgoing: Outgoing = toCreate(fields, draft.value);
    if (!collection.system) return (await data.create(tenant, collection.name, outgoing.files.length > 0 ? toForm(outgoing) : outgoing.body)).record;
    const record = await manage.createUser(tenant, { ...outgoing.body, ...toAccountBody(account.value, null) });
    return outgoing.files.length === 0 ? record : (await data.update(tenant, collection.name, record.id, toForm({ body: {}, files: outgoing.files }), null)).record;
  };
  const submit = useSubmit(async () => {
    faults.value = new Map(fields.flatMap((field) => {
      const fault = jsonFault(field, draft.value[field.name]);
      return fault === undefined ? [] : [[field.name, fault] as const];
    }));
    if (faults.value.size > 0) throw new ApiError(400, "", [...faults.value].map(([field, message]) => ({ field, message })));
    try {
      const record = await write();
      forget();
      conflict.value = null;
      say(id === null ? "Added." : "Saved.");
      props.onSaved(record);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 412 || id === null) throw error;
      conflict.value = await data.read(tenant, collection.name, id);
    }
  });

  const remove = () => askToConfirm({
    title: `Delete ${base.value === null ? "it" : titleOf(collection.fields, base.value.record)}?`,
    text: <p>{collection.system ? "The account is deleted for good; its sessions end and its API keys are revoked." : "The record is deleted for good, with its files."}</p>,
    action: "Delete",
    run: async () => {
      if (id !== null) await data.remove(tenant, collection.name, id);
      forget();
      say("Deleted.");
      props.onRemoved();
    },
  });
  const theirs = conflict.value;
  return (
    <form onSubmit={submit.run} noValidate>
      {theirs !== null && (
        <Conflict
          names={fields.filter((field) => differs(start[field.name], draftOf(fields, theirs.record)[field.name])).map((field) => field.name)}
          onMine={() => { base.value = { record: base.value?.record ?? theirs.record, tag: theirs.tag }; conflict.value = null; submit.run(); }}
          onTheirs={() => { base.value = theirs; draft.value = draftOf(fields, theirs.record); conflict.value = null; props.onFresh(theirs); }}
        />
      )}
      {fields.length === 0 && !collection.system && <p class="muted">This collection has no fields yet. Add some under Schema.</p>}
      {fields.map((field) => (
        <ValueInput
          key={field.name}
          tenant={tenant}
          collections={collections}
          field={field}
          value={draft.value[field.name] ?? ""}
          onChange={(value) => { draft.value = { ...draft.value, [field.name]: value }; }}
          error={submit.error(field.name)}
        />
      ))}
      {collection.system && <AccountFields isNew={id === null} value={account.value} onChange={(value) => { account.value = value; }} errors={accountNames.map(submit.error)} />}
      {base.value !== null && <SystemFacts record={base.value.record} />}
      <FormError message={submit.message} />
      <div class="actions sticky-actions">
        {id !== null && <Button kind="quiet" icon="trash" onClick={remove}>Delete</Button>}
        <span class="grow" />
        <Button onClick={props.onClose}>Close</Button>
        <Button kind="primary" submit busy={submit.busy} disabled={id !== null && !changed}>{id === null ? "Add" : "Save"}</Button>
      </div>
    </form>
  );
}

function SystemFacts({ record }: { readonly record: RecordBody }) {
  return (
    <dl class="facts small-text">
      <dt>id</dt><dd class="row"><code>{record.id}</code> <CopyButton small text={record.id} what="id" /></dd>
      <dt>createdAt</dt><dd>{formatExactTime(record.createdAt)}</dd>
      <dt>updatedAt</dt><dd>{formatExactTime(record.updatedAt)}</dd>
    </dl>
  );
}

function Conflict(props: { readonly names: readonly string[]; readonly onMine: () => void; readonly onTheirs: () => void }) {
  return (
    <div class="note warn" role="alert">
      <p><strong>Somebody else has changed this record meanwhile{props.names.length > 0 ? `: ${props.names.join(", ")}` : ""}.</strong> Nothing of yours is lost or saved yet.</p>
      <div class="row">
        <Button small onClick={props.onMine}>Save mine over it</Button>
        <Button small onClick={props.onTheirs}>Drop mine, show theirs</Button>
      </div>
    </div>
  );
}
