// The tenants: the first screen.
import { bind, useSignal } from "../state/signal.js";
import { manage } from "../api/service.js";
import { Button } from "../kit/button.js";
import { Dialog } from "../kit/dialog.js";
import { TextField } from "../kit/field.js";
import { FormEnd } from "../kit/form-end.js";
import { formatTime } from "../kit/format.js";
import { Empty, Failure, Loading, Page } from "../kit/page.js";
import { say } from "../kit/toast.js";
import { go, link, route, setQuery } from "../state/route.js";
import { loadTenants, tenants, tenantsError } from "../state/tenants.js";
import { useSubmit } from "../state/submit.js";

export function TenantsScreen() {
  const all = tenants.value;
  const search = useSignal("");
  const adding = route.value.query.get("new") !== null;
  const add = <Button kind="primary" icon="plus" onClick={() => setQuery({ new: "1" })}>New tenant</Button>;
  const wanted = search.value.trim().toLowerCase();
  const shown = (all ?? []).filter((item) => `${item.slug} ${item.name}`.toLowerCase().includes(wanted));
  return (
    <Page title="Tenants" lead="Each tenant has its own database: collections, users, keys and files of one are out of reach of every other." actions={all !== null && all.length > 0 ? add : undefined}>
      {tenantsError.value !== null && <Failure message={tenantsError.value.message} onRetry={() => void loadTenants()} />}
      {all === null && tenantsError.value === null && <Loading what="the tenants" />}
      {all !== null && all.length === 0 && (
        <Empty icon="tenants" title="No tenant yet" action={add}>
          <p>Make the first one to have a place for collections and users. A tenant is usually one app or one customer.</p>
        </Empty>
      )}
      {all !== null && all.length > 8 && <TextField label="Find a tenant" type="search" {...bind(search)} />}
      {shown.length > 0 && (
        <ul class="tiles">
          {shown.map((tenant) => (
            <li class="tile" key={tenant.id}>
              <h2><a href={link(["t", tenant.slug])}>{tenant.name === "" ? tenant.slug : tenant.name}</a></h2>
              <code>{tenant.slug}</code>
              <p class="muted small-text">Since {formatTime(tenant.createdAt)}</p>
            </li>
          ))}
        </ul>
      )}
      {all !== null && all.length > 0 && shown.length === 0 && <p class="muted">No tenant has “{search.value}” in its name.</p>}
      {adding && <NewTenant onClose={() => setQuery({ new: null }, { replace: true })} />}
    </Page>
  );
}

function NewTenant({ onClose }: { readonly onClose: () => void }) {
  const name = useSignal("");
  const slug = useSignal("");
  const own = useSignal(false);
  const submit = useSubmit(async () => {
    const tenant = await manage.createTenant({ slug: slug.value, ...(name.value.trim() === "" ? {} : { name: name.value.trim() }) });
    await loadTenants();
    say(`The tenant ${tenant.slug} is there.`);
    go(link(["t", tenant.slug]));
  });
  return (
    <Dialog title="New tenant" onClose={onClose}>
      <form onSubmit={submit.run}>
        <TextField
          label="Name"
          value={name.value}
          onInput={(value) => {
            name.value = value;
            if (!own.value) slug.value = slugOf(value);
          }}
          error={submit.error("name")}
          hint="For people. It may be changed later."
          autoFocus
        />
        <TextField
          label="Slug"
          value={slug.value}
          onInput={(value) => {
            own.value = true;
            slug.value = value;
          }}
          error={submit.error("slug")}
          hint="Apps name the tenant by it: small letters, digits and dashes, at most 63."
          required
          mono
        />
        <FormEnd submit={submit} text="Create the tenant" onCancel={onClose} />
      </form>
    </Dialog>
  );
}

function slugOf(name: string): string {
  return name.normalize("NFKD").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 63).replace(/-+$/, "");
}
