// API keys: made once, shown once; bound to addresses, revoked, deleted.
import { bind, useSignal } from "../state/signal.js";
import { data, manage } from "../api/service.js";
import type { ApiKeyEntry, RecordBody } from "../api/types.js";
import type { TenantProps } from "../work.js";
import { Button, LinkButton } from "../kit/button.js";
import { askToConfirm } from "../kit/confirm.js";
import { CopyField } from "../kit/copy.js";
import { Actions, Dialog } from "../kit/dialog.js";
import { SelectField, SwitchField, TextArea, TextField } from "../kit/field.js";
import { FormEnd } from "../kit/form-end.js";
import { formatAgo, formatTime, fromLocalInput } from "../kit/format.js";
import { Badge, Empty, Loaded, Page } from "../kit/page.js";
import { actionsColumn, Table } from "../kit/table.js";
import { say } from "../kit/toast.js";
import { link, route, setQuery } from "../state/route.js";
import { useResource } from "../state/resource.js";
import { useSubmit } from "../state/submit.js";

export function KeysScreen({ tenant }: TenantProps) {
  const keys = useResource((signal) => manage.keys(tenant, signal), [tenant.id], { keep: true });
  const users = useResource(async (signal) => (await data.list(tenant, "users", { limit: 100 }, signal)).items, [tenant.id]);
  const made = useSignal<string | null>(null);
  const bound = useSignal<ApiKeyEntry | null>(null);
  const add = <Button kind="primary" icon="plus" onClick={() => setQuery({ new: "1" })}>New API key</Button>;
  const nameOf = (id: string) => users.data?.find((user) => user.id === id)?.["username"];
  const act = (title: string, text: string, action: string, run: () => Promise<unknown>, done: string) => askToConfirm({
    title, text: <p>{text}</p>, action,
    run: async () => {
      await run();
      keys.reload();
      say(done);
    },
  });
  return (
    <Page title="API keys" context={tenant.name} lead="For machines. A key acts as the user it is bound to, and goes wherever an access token goes." actions={(keys.data?.length ?? 0) > 0 ? add : undefined}>
      <Loaded resource={keys} what="the API keys">
        {(list) => list.length === 0 ? (
          <Empty icon="key" title="No API key yet" action={add}><p>Make one for a script or another service, bound to a user whose rights it shall have.</p></Empty>
        ) : (
          <Table label="API keys" busy={keys.loading} columns={["Name", "Key", "Acts as", "State", "From", "Last used", actionsColumn]}>
            {list.map((key) => (
              <tr key={key.id}>
                <th scope="row">{key.name}{(key.bypassRules || key.bypassHooks) && <div class="row">{key.bypassRules && <Badge tone="warn">bypasses rules</Badge>}{key.bypassHooks && <Badge tone="warn">bypasses hooks</Badge>}</div>}</th>
                <td><code>{key.prefix}…</code></td>
                <td><a href={link(["t", tenant.slug, "c", "users", "r", key.userId])}>{String(nameOf(key.userId) ?? "this user")}</a></td>
                <td><State apiKey={key} /></td>
                <td class="cell">{key.allowedCidrs.length === 0 ? <span class="muted">anywhere</span> : <code>{key.allowedCidrs.join(", ")}</code>}</td>
                <td class="narrow">{formatAgo(key.lastUsedAt)}</td>
                <td class="narrow">
                  <div class="row">
                    {key.status === "active" && <Button small label={`Change the addresses of ${key.name}`} onClick={() => { bound.value = key; }}>Addresses</Button>}
                    {key.status === "active" && <Button small label={`Revoke ${key.name}`} onClick={() => act(`Revoke ${key.name}?`, "It stops working at once and its streams are closed. The entry stays in the list.", "Revoke the key", () => manage.revokeKey(tenant, key.id), `${key.name} is revoked.`)}>Revoke</Button>}
                    <LinkButton small kind="quiet" icon="log" iconOnly href={link(["t", tenant.slug, "log"], { keyId: key.id })}>{`Requests of ${key.name}`}</LinkButton>
                    <Button small kind="quiet" icon="trash" iconOnly onClick={() => act(`Delete ${key.name}?`, "The key stops working and its entry disappears.", "Delete the key", () => manage.removeKey(tenant, key.id), `${key.name} is deleted.`)}>{`Delete ${key.name}`}</Button>
                  </div>
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Loaded>
      {route.value.query.has("new") && <NewKey tenant={tenant} users={users.data ?? null} onClose={() => setQuery({ new: null }, { replace: true })} onMade={(key) => { setQuery({ new: null }, { replace: true }); made.value = key; keys.reload(); }} />}
      {made.value !== null && (
        <Dialog title="Copy the key now" onClose={() => { made.value = null; }} locked>
          <p>It is shown this once. The service keeps only its hash; nobody can display it again.</p>
          <CopyField label="API key" text={made.value} what="key" />
          <Actions><Button kind="primary" onClick={() => { made.value = null; }}>I have copied it</Button></Actions>
        </Dialog>
      )}
      {bound.value !== null && <Addresses tenant={tenant} apiKey={bound.value} onClose={() => { bound.value = null; }} onSaved={() => { bound.value = null; keys.reload(); say("The addresses are saved. Open streams of the key were closed."); }} />}
    </Page>
  );
}

function State({ apiKey }: { readonly apiKey: ApiKeyEntry }) {
  if (apiKey.status === "revoked") return <Badge tone="bad">revoked {formatAgo(apiKey.revokedAt)}</Badge>;
  if (apiKey.expiresAt === null) return <Badge tone="good">active</Badge>;
  return Date.parse(apiKey.expiresAt) <= Date.now() ? <Badge tone="bad">expired</Badge> : <Badge tone="good">active until {formatTime(apiKey.expiresAt)}</Badge>;
}

const linesOf = (text: string) => text.split(/[\n,]/).map((line) => line.trim()).filter((line) => line !== "");
const cidrHint = "One address or range on each line, as 10.0.0.0/8 or 2001:db8::/32; empty: anywhere. Behind a proxy the proxy's address counts.";

function NewKey(props: { readonly tenant: TenantProps["tenant"]; readonly users: readonly RecordBody[] | null; readonly onClose: () => void; readonly onMade: (key: string) => void }) {
  const name = useSignal("");
  const userId = useSignal("");
  const other = useSignal("");
  const expiresAt = useSignal("");
  const bypassRules = useSignal(false);
  const bypassHooks = useSignal(false);
  const cidrs = useSignal("");
  const submit = useSubmit(async () => {
    const made = await manage.createKey(props.tenant, {
      name: name.value.trim(),
      userId: userId.value === "other" ? other.value.trim() : userId.value,
      ...(expiresAt.value === "" ? {} : { expiresAt: fromLocalInput(expiresAt.value) }),
      bypassRules: bypassRules.value,
      bypassHooks: bypassHooks.value,
      allowedCidrs: linesOf(cidrs.value),
    });
    props.onMade(made.key);
  });
  const users = props.users;
  return (
    <Dialog title="New API key" onClose={props.onClose}>
      {users !== null && users.length === 0 ? (
        <>
          <p>A key acts as a user, and this tenant has none yet.</p>
          <Actions><LinkButton kind="primary" href={link(["t", props.tenant.slug, "c", "users", "r", "new"])}>Add a user first</LinkButton></Actions>
        </>
      ) : (
        <form onSubmit={submit.run}>
          <TextField label="Name" {...bind(name)} error={submit.error("name")} hint="Who uses it: shown in the list and in the request log." required autoFocus />
          <SelectField label="Acts as" value={userId.value} choices={[{ value: "", text: "Choose a user" }, ...(users ?? []).map((user) => ({ value: user.id, text: String(user["username"]) })), { value: "other", text: "Another user, by id" }]} onChange={(value) => { userId.value = value; }} error={submit.error("userId")} required />
          {userId.value === "other" && <TextField label="User id" {...bind(other)} mono required />}
          <TextField label="Valid until" type="datetime-local" {...bind(expiresAt)} error={submit.error("expiresAt")} hint="Empty: until it is revoked." />
          <TextArea label="Only from" {...bind(cidrs)} rows={2} error={submit.error("allowedCidrs")} hint={cidrHint} mono />
          <SwitchField label="Bypass rules" checked={bypassRules.value} onChange={(value) => { bypassRules.value = value; }} hint="It reaches every collection of the tenant. This cannot be changed later." />
          <SwitchField label="Bypass hooks" checked={bypassHooks.value} onChange={(value) => { bypassHooks.value = value; }} hint="No hook runs for it. This cannot be changed later." />
          <FormEnd submit={submit} text="Make the key" onCancel={props.onClose} />
        </form>
      )}
    </Dialog>
  );
}

function Addresses(props: { readonly tenant: TenantProps["tenant"]; readonly apiKey: ApiKeyEntry; readonly onClose: () => void; readonly onSaved: () => void }) {
  const text = useSignal(props.apiKey.allowedCidrs.join("\n"));
  const submit = useSubmit(async () => {
    await manage.bindKey(props.tenant, props.apiKey.id, linesOf(text.value));
    props.onSaved();
  });
  return (
    <Dialog title={`Addresses of ${props.apiKey.name}`} onClose={props.onClose}>
      <form onSubmit={submit.run}>
        <TextArea label="Only from" {...bind(text)} rows={4} error={submit.error("allowedCidrs")} hint={cidrHint} mono />
        <FormEnd submit={submit} text="Save the addresses" onCancel={props.onClose} />
      </form>
    </Dialog>
  );
}
