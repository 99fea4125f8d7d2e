// What is shown: the way in, or the shell with the screen that the address names.
import type { ComponentChildren } from "preact";
import { useEffect, useReducer } from "preact/hooks";
import type { CollectionDefinition, Tenant } from "./api/types.js";
import { Button, LinkButton } from "./kit/button.js";
import { Confirmation } from "./kit/confirm.js";
import { Actions, Dialog } from "./kit/dialog.js";
import { Empty, Failure, Loading, Page } from "./kit/page.js";
import { Toasts } from "./kit/toast.js";
import { lazy } from "./lazy.js";
import { ExpiredSession, SignInScreen } from "./screens/sign-in.js";
import { SetupScreen } from "./screens/setup.js";
import { TenantsScreen } from "./screens/tenants.js";
import { Shell } from "./shell.js";
import { answerLeaving, leaving, link, route } from "./state/route.js";
import { onSharedChange } from "./state/signal.js";
import { loadSession, session } from "./state/session.js";
import { catalog, catalogError, loadCatalog, loadTenants, tenants, tenantsError } from "./state/tenants.js";

export interface TenantProps {
  readonly tenant: Tenant;
  readonly collections: readonly CollectionDefinition[];
}

const work = () => import("./work.js");
const AccountScreen = lazy(async () => (await work()).AccountScreen);
const FiguresScreen = lazy(async () => (await work()).FiguresScreen);
const CollectionsScreen = lazy(async () => (await work()).CollectionsScreen);
const CollectionScreen = lazy(async () => (await work()).CollectionScreen);
const KeysScreen = lazy(async () => (await work()).KeysScreen);
const HooksScreen = lazy(async () => (await work()).HooksScreen);
const SettingsScreen = lazy(async () => (await work()).SettingsScreen);
const LogScreen = lazy(async () => (await work()).LogScreen);
const BackupScreen = lazy(async () => (await work()).BackupScreen);

export function App() {
  const [, redraw] = useReducer((count: number, _: undefined) => count + 1, 0);
  onSharedChange(() => redraw(undefined));
  return (
    <>
      <Content />
      <Confirmation />
      <ExpiredSession />
      <Leaving />
      <Toasts />
    </>
  );
}

function Content() {
  const state = session.value;
  const first = route.value.segments[0];
  if (first === "setup" && state.state !== "signedIn") return <SetupScreen />;
  if (state.state === "unknown") return <main class="sign-in"><Loading what="the page" /></main>;
  if (state.state === "unreachable") return <main class="sign-in"><Failure message={state.message} onRetry={() => void loadSession()} /></main>;
  if (state.state === "signedOut") return <SignInScreen />;
  return <Shell><Screen /></Shell>;
}

function Screen() {
  const [first, second] = route.value.segments;
  useEffect(() => {
    void loadTenants();
  }, []);
  switch (first) {
    case undefined:
    case "tenants":
    case "sign-in":
    case "setup":
      return <TenantsScreen />;
    case "figures":
      return <FiguresScreen />;
    case "account":
      return <AccountScreen />;
    case "t":
      return <InTenant slug={second ?? ""} />;
    default:
      return <Missing />;
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
      return <Missing />;
  }
}

function Missing({ text }: { readonly text?: ComponentChildren }) {
  return (
    <Page title="Not found">
      <Empty icon="warning" title="There is nothing here" action={<LinkButton kind="primary" href={link(["tenants"])}>Go to the tenants</LinkButton>}>
        <p>{text ?? "The address leads to no screen of this page."}</p>
      </Empty>
    </Page>
  );
}

function Leaving() {
  if (leaving.value === null) return null;
  return (
    <Dialog title="Leave without saving?" onClose={() => answerLeaving(false)}>
      <p>There are changes on this screen that are not saved.</p>
      <Actions>
        <Button kind="primary" onClick={() => answerLeaving(false)}>Stay here</Button>
        <Button kind="danger" onClick={() => answerLeaving(true)}>Leave and drop the changes</Button>
      </Actions>
    </Dialog>
  );
}

