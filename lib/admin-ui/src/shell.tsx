// The frame around every screen: the way between tenants, within one, and out.
import { useSignal } from "./state/signal.js";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import iconUrl from "./icon.svg";
import { Button } from "./kit/button.js";
import { Icon, type IconName } from "./kit/icon.js";
import { go, link, route } from "./state/route.js";
import { session, signOut } from "./state/session.js";
import { catalog, tenants } from "./state/tenants.js";
import { applyTheme, theme, type Theme } from "./state/theme.js";

export function Shell({ children }: { readonly children: ComponentChildren }) {
  const open = useSignal(false);
  const main = useRef<HTMLElement>(null);
  const path = route.value.segments.join("/");
  useEffect(() => {
    open.value = false;
    scrollTo(0, 0);
  }, [path]);
  return (
    <>
      <button type="button" class="skip button primary" onClick={() => main.current?.focus()}>Skip to the content</button>
      <div class="shell">
        <header class="topbar">
          <Button kind="quiet" icon={open.value ? "close" : "menu"} iconOnly onClick={() => { open.value = !open.value; }}>{open.value ? "Close the menu" : "Open the menu"}</Button>
          <Brand />
        </header>
        <div class={`sidebar${open.value ? " open" : ""}`} onKeyDown={(event) => { if (event.key === "Escape") open.value = false; }}>
          <Sidebar />
        </div>
        <main ref={main} tabIndex={-1}>{children}</main>
      </div>
    </>
  );
}

function Brand() {
  return <a class="brand" href={link(["tenants"])}><img src={iconUrl} alt="" width={26} height={26} />Records service</a>;
}

function Sidebar() {
  const [first, slug, place, name] = route.value.segments;
  const tenant = first === "t" ? tenants.value?.find((item) => item.slug === slug) : undefined;
  const collections = tenant !== undefined && catalog.value?.tenantId === tenant.id ? catalog.value.items : [];
  return (
    <>
      <nav class="nav-group" aria-label="Service">
        <Brand />
        <NavLink href={link(["tenants"])} icon="tenants" current={first === undefined || first === "tenants"}>Tenants</NavLink>
        <NavLink href={link(["figures"])} icon="figures" current={first === "figures"}>Health and figures</NavLink>
      </nav>
      {tenant !== undefined && (
        <nav class="nav-group" aria-label={`Tenant ${tenant.name}`}>
          <TenantSwitch slug={tenant.slug} />
          <NavLink href={link(["t", tenant.slug])} icon="table" current={place === undefined}>Collections</NavLink>
          {collections.filter((item) => !item.system).map((item) => (
            <a class="sub" key={item.id} href={link(["t", tenant.slug, "c", item.name])} aria-current={place === "c" && name === item.name ? "page" : undefined}><span>{item.name}</span></a>
          ))}
          <NavLink href={link(["t", tenant.slug, "c", "users"])} icon="users" current={place === "c" && name === "users"}>Users</NavLink>
          <NavLink href={link(["t", tenant.slug, "keys"])} icon="key" current={place === "keys"}>API keys</NavLink>
          <NavLink href={link(["t", tenant.slug, "hooks"])} icon="hook" current={place === "hooks"}>Hooks</NavLink>
          <NavLink href={link(["t", tenant.slug, "log"])} icon="log" current={place === "log"}>Request log</NavLink>
          <NavLink href={link(["t", tenant.slug, "backup"])} icon="backup" current={place === "backup"}>Backup</NavLink>
          <NavLink href={link(["t", tenant.slug, "settings"])} icon="settings" current={place === "settings"}>Settings</NavLink>
        </nav>
      )}
      <nav class="nav-group nav-foot" aria-label="Account">
        <NavLink href={link(["account"])} icon="account" current={first === "account"}>{session.value.state === "signedIn" ? session.value.superadmin.username : "Account"}</NavLink>
        <ThemeButton />
        <button type="button" onClick={() => void signOut().then(() => go(link(["sign-in"])))}><Icon name="leave" />Sign out</button>
      </nav>
    </>
  );
}

function NavLink(props: { readonly href: string; readonly icon: IconName; readonly current: boolean; readonly children: ComponentChildren }) {
  return <a href={props.href} aria-current={props.current ? "page" : undefined}><Icon name={props.icon} />{props.children}</a>;
}

function TenantSwitch({ slug }: { readonly slug: string }) {
  const all = tenants.value ?? [];
  return (
    <div class="tenant-switch field">
      <label class="nav-title" for="tenant-switch">Tenant</label>
      <select id="tenant-switch" value={slug} onChange={(event) => go(link(["t", event.currentTarget.value]))}>
        {all.map((item) => <option value={item.slug} key={item.id} selected={item.slug === slug}>{item.name === "" || item.name === item.slug ? item.slug : `${item.name} (${item.slug})`}</option>)}
      </select>
    </div>
  );
}

const next: Readonly<Record<Theme, Theme>> = { system: "light", light: "dark", dark: "system" };
const themeText: Readonly<Record<Theme, string>> = { system: "Colours: as the system", light: "Colours: light", dark: "Colours: dark" };

function ThemeButton() {
  return <button type="button" onClick={() => applyTheme(next[theme.value])}><Icon name="theme" />{themeText[theme.value]}</button>;
}
