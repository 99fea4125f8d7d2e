// Every screen beyond the first, loaded as one: they share most of their code.
import { useEffect } from "preact/hooks";
import type { CollectionDefinition, Tenant } from "./api/types.js";
import { LinkButton } from "./kit/button.js";
import { Empty, Failure, Loading, Page } from "./kit/page.js";
import { AccountScreen } from "./screens/account.js";
import { BackupScreen } from "./screens/backup.js";
import { CollectionScreen } from "./screens/collection.js";
import { CollectionsScreen } from "./screens/collections.js";
import { FiguresScreen } from "./screens/figures.js";
import { HooksScreen } from "./screens/hooks.js";
import { KeysScreen } from "./screens/keys.js";
import { LogScreen } from "./screens/log.js";
import { SettingsScreen } from "./screens/settings.js";
import { link, route } from "./state/route.js";
import { catalog, catalogError, loadCatalog, loadTenants, tenants, tenantsError } from "./state/tenants.js";

export interface TenantProps {
  readonly tenant: Tenant;
  readonly collections: readonly CollectionDefinition[];
}

export function WorkScreen() {
  const [first, slug] = route.value.segments;
  switch (first) {
    case "figures":
      return <FiguresScreen />;
    case "account":
      return <AccountScreen />;
    case "t":
      return <InTenant slug={slug ?? ""} />;
    default:
      return <Missing text="The address leads to no screen of this page." />;
  }
}

function InTenant({ slug }: { readonly slug: string }) {
  const tenant = tenants.value?.find((item) => item.slug === slug);
  useEffect(() => {
    if (tenant !== undefined) void loadCatalog(tenant);
  }, [tenant?.id]);
  if (tenants.value === null) return tenantsError.value === null ? <Loading what="the tenants" /> : <Failure message={tenantsError.value.message} onRetry={() => void loadTenants()} />;
  if (tenant === undefined) return <Missing text={`There is no tenant ${slug}. It may have been removed.`} />;
  const known = catalog.value?.tenantId === tenant.id ? catalog.value.items : null;
  if (known === null) return catalogError.value === null ? <Loading what="the collections" /> : <Failure message={catalogError.value.message} onRetry={() => void loadCatalog(tenant)} />;
  return <TenantScreen key={tenant.id} tenant={tenant} collections={known} />;
}

function TenantScreen(props: TenantProps) {
  const [, , place, name] = route.value.segments;
  switch (place) {
    case undefined:
      return <CollectionsScreen {...props} />;
    case "c": {
      const collection = props.collections.find((item) => item.name === name);
      return collection === undefined
        ? <Missing text={`There is no collection ${name ?? ""} in ${props.tenant.slug}. It may have been removed.`} />
        : <CollectionScreen key={collection.id} {...props} collection={collection} />;
    }
    case "keys":
      return <KeysScreen {...props} />;
    case "hooks":
      return <HooksScreen {...props} />;
    case "settings":
      return <SettingsScreen {...props} />;
    case "log":
      return <LogScreen {...props} />;
    case "backup":
      return <BackupScreen {...props} />;
    default:
      return <Missing text="The address leads to no screen of this page." />;
  }
}

function Missing({ text }: { readonly text: string }) {
  return (
    <Page title="Not found">
      <Empty icon="warning" title="There is nothing here" action={<LinkButton kind="primary" href={link(["tenants"])}>Go to the tenants</LinkButton>}><p>{text}</p></Empty>
    </Page>
  );
}
