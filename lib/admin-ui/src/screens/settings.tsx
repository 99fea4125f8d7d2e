// The settings of a tenant: its name, and the flows of its users.
import { bind, useSignal } from "../state/signal.js";
import { manage } from "../api/service.js";
import type { Settings } from "../api/types.js";
import type { TenantProps } from "../work.js";
import { Button } from "../kit/button.js";
import { askToConfirm } from "../kit/confirm.js";
import { Actions } from "../kit/dialog.js";
import { FormError, SwitchField, TextArea, TextField } from "../kit/field.js";
import { FormEnd } from "../kit/form-end.js";
import { Card, Loaded, Page } from "../kit/page.js";
import { say } from "../kit/toast.js";
import { go, link } from "../state/route.js";
import { useResource } from "../state/resource.js";
import { loadTenants } from "../state/tenants.js";
import { useSubmit } from "../state/submit.js";
import { useUnsaved } from "../state/unsaved.js";

export function SettingsScreen({ tenant }: TenantProps) {
  const settings = useResource(() => manage.settings(tenant), [tenant.id]);
  return (
    <Page title="Settings" context={tenant.name}>
      <NameCard tenant={tenant} />
      <Loaded resource={settings} what="the settings">{(value) => <SettingsForm tenant={tenant} saved={value} onSaved={settings.set} />}</Loaded>
      <RemoveCard tenant={tenant} />
    </Page>
  );
}

type Tenant = TenantProps["tenant"];

function NameCard({ tenant }: { readonly tenant: Tenant }) {
  const name = useSignal(tenant.name);
  const slug = useSignal(tenant.slug);
  const submit = useSubmit(async () => {
    const saved = await manage.updateTenant(tenant, { name: name.value.trim(), slug: slug.value.trim() });
    await loadTenants();
    if (saved.slug !== tenant.slug) go(link(["t", saved.slug, "settings"]), { replace: true });
    say("The tenant is saved.");
  });
  const changed = name.value !== tenant.name || slug.value !== tenant.slug;
  return (
    <Card title="Tenant">
      <form class="stack" onSubmit={submit.run}>
        <div class="form-row">
          <TextField label="Name" {...bind(name)} error={submit.error("name")} />
          <TextField label="Slug" {...bind(slug)} error={submit.error("slug")} hint={slug.value === tenant.slug ? "Apps name the tenant by it." : "Apps that name the old slug will not find the tenant any more."} mono />
        </div>
        <FormError message={submit.message} />
        <Actions><Button submit busy={submit.busy} disabled={!changed}>Save the name</Button></Actions>
      </form>
    </Card>
  );
}

const linesOf = (text: string) => text.split(/[\n,]/).map((line) => line.trim()).filter((line) => line !== "");

interface Draft extends Omit<Settings, "tokenIssuers" | "webhookAllowlist"> {
  readonly tokenIssuers: string;
  readonly webhookAllowlist: string;
}

const draftOf = (settings: Settings): Draft => ({ ...settings, tokenIssuers: settings.tokenIssuers.join("\n"), webhookAllowlist: settings.webhookAllowlist.join("\n") });

function SettingsForm({ tenant, saved, onSaved }: { readonly tenant: Tenant; readonly saved: Settings; readonly onSaved: (settings: Settings) => void }) {
  const draft = useSignal(draftOf(saved));
  const value = draft.value;
  const changed = JSON.stringify(draftOf(saved)) !== JSON.stringify(value);
  useUnsaved(changed);
  const set = (part: Partial<Draft>) => { draft.value = { ...draft.value, ...part }; };
  const submit = useSubmit(async () => {
    const { selfRegistration, passwordReset, emailVerification, guardFileRoutes } = draft.value;
    const next = await manage.saveSettings(tenant, { selfRegistration, passwordReset, emailVerification, guardFileRoutes, tokenIssuers: linesOf(draft.value.tokenIssuers), webhookAllowlist: linesOf(draft.value.webhookAllowlist) });
    draft.value = draftOf(next);
    onSaved(next);
    say("The settings are saved.");
  });
  const { passwordReset: reset, emailVerification: verification } = value;
  return (
    <form class="stack" onSubmit={submit.run}>
      <Card title="Accounts">
        <SwitchField label="Self-registration" checked={value.selfRegistration} onChange={(selfRegistration) => set({ selfRegistration })} hint="Anybody may make an account at /api/auth/register." />
        <SwitchField label="Password reset by e-mail" checked={reset.enabled} onChange={(enabled) => set({ passwordReset: { ...reset, enabled } })} />
        {reset.enabled && <TextField label="Link in the reset mail" inputMode="url" value={reset.linkUrl} onInput={(linkUrl) => set({ passwordReset: { ...reset, linkUrl } })} error={submit.error("passwordReset.linkUrl")} hint="A page of your app; {token} is replaced, or the token is added. Without a link no mail is sent." mono placeholder="https://app.example.com/reset?token={token}" />}
        <SwitchField label="E-mail verification" checked={verification.enabled} onChange={(enabled) => set({ emailVerification: { ...verification, enabled } })} />
        {verification.enabled && (
          <>
            <TextField label="Link in the verification mail" inputMode="url" value={verification.linkUrl} onInput={(linkUrl) => set({ emailVerification: { ...verification, linkUrl } })} error={submit.error("emailVerification.linkUrl")} hint="As above." mono placeholder="https://app.example.com/verify?token={token}" />
            <SwitchField label="Required to sign in" checked={verification.requireForLogin} onChange={(requireForLogin) => set({ emailVerification: { ...verification, requireForLogin } })} hint="Users whose address is not verified cannot sign in." />
          </>
        )}
      </Card>
      <Card title="Trust">
        <TextArea label="Token issuers" rows={3} value={value.tokenIssuers} onInput={(tokenIssuers) => set({ tokenIssuers })} error={submit.error("tokenIssuers")} hint="Ids of users, one on each line. Each of them can act as any user of the tenant." mono />
        <TextArea label="Webhook allowlist" rows={3} value={value.webhookAllowlist} onInput={(webhookAllowlist) => set({ webhookAllowlist })} error={submit.error("webhookAllowlist")} hint="Private addresses that hooks may call, as host:port, one on each line: 127.0.0.1:3000, [::1]:3000." mono />
        <SwitchField label="Guard file routes" checked={value.guardFileRoutes} onChange={(guardFileRoutes) => set({ guardFileRoutes })} hint="beforeRequest hooks run before downloads and file deletions too." />
      </Card>
      <FormEnd submit={submit} text="Save the settings" disabled={!changed} cancel="Undo the changes" onCancel={() => { draft.value = draftOf(saved); submit.clear(); }} />
    </form>
  );
}

function RemoveCard({ tenant }: { readonly tenant: Tenant }) {
  return (
    <Card title="Delete the tenant" danger>
      <p class="muted">Every collection, user, key, hook, log and file of it goes. There is no way back but a backup.</p>
      <div>
        <Button
          kind="danger"
          icon="trash"
          onClick={() => askToConfirm({
            title: `Delete the tenant ${tenant.slug}?`,
            text: <p>Everything of <strong>{tenant.name}</strong> is deleted for good. A <a href={link(["t", tenant.slug, "backup"])}>backup</a> first is a good idea.</p>,
            action: "Delete the tenant",
            name: tenant.slug,
            run: async () => {
              await manage.removeTenant(tenant);
              go(link(["tenants"]), { replace: true });
              await loadTenants();
              say(`The tenant ${tenant.slug} is deleted.`);
            },
          })}
        >
          Delete {tenant.slug}
        </Button>
      </div>
    </Card>
  );
}
