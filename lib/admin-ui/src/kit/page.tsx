// The frame of a screen: its heading, the way back, its actions, and the states that every screen has.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Resource } from "../state/resource.js";
import { Button } from "./button.js";
import { Icon, type IconName } from "./icon.js";

let isFirst = true;

export function Page(props: {
  readonly title: string;
  /** Said in the browser's title after the heading. */
  readonly context?: string | undefined;
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly tabs?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  const name = `${props.title}${props.context === undefined ? "" : ` · ${props.context}`}`;
  useEffect(() => {
    document.title = `${name} · Records service`;
    // Keyboard and screen reader go on at the new screen; the first one is read from its beginning, and a dialog that
    // is open keeps the focus.
    if (isFirst) isFirst = false;
    else if (document.querySelector("dialog[open]") === null && !(document.activeElement instanceof HTMLInputElement)) heading.current?.focus({ preventScroll: true });
  }, [name]);
  return (
    <>
      <header class="page-head">
        <div class="page-title">
          <h1 ref={heading} tabIndex={-1}>{props.title}</h1>
          {props.actions !== undefined && <div class="page-actions">{props.actions}</div>}
        </div>
        {props.lead !== undefined && <p class="lead">{props.lead}</p>}
        {props.tabs}
      </header>
      <div class="page-body">{props.children}</div>
    </>
  );
}

export function Tabs(props: { readonly label: string; readonly tabs: readonly { readonly href: string; readonly text: string; readonly current: boolean }[] }) {
  return (
    <nav class="tabs" aria-label={props.label}>
      {props.tabs.map((tab) => <a href={tab.href} key={tab.href} aria-current={tab.current ? "page" : undefined}>{tab.text}</a>)}
    </nav>
  );
}

export function Loading({ what }: { readonly what: string }) {
  return <p class="loading" role="status">Loading {what}…</p>;
}

export function Failure(props: { readonly message: string; readonly onRetry?: (() => void) | undefined }) {
  return (
    <div class="note danger" role="alert">
      <p><Icon name="warning" /> {props.message}</p>
      {props.onRetry !== undefined && <Button small icon="refresh" onClick={props.onRetry}>Try again</Button>}
    </div>
  );
}

export function Empty(props: { readonly icon: IconName; readonly title: string; readonly children?: ComponentChildren; readonly action?: ComponentChildren }) {
  return (
    <div class="empty">
      <span class="empty-icon"><Icon name={props.icon} /></span>
      <h2>{props.title}</h2>
      {props.children !== undefined && <div class="prose">{props.children}</div>}
      {props.action !== undefined && <div class="actions">{props.action}</div>}
    </div>
  );
}

/** The data of a resource, or what is to be said instead. */
export function Loaded<T>(props: { readonly resource: Resource<T>; readonly what: string; readonly children: (data: T) => ComponentChildren }) {
  const { data, error } = props.resource;
  return (
    <>
      {error !== undefined && <Failure message={error.message} onRetry={props.resource.reload} />}
      {data !== undefined ? props.children(data) : error === undefined && <Loading what={props.what} />}
    </>
  );
}

export function Card(props: { readonly title?: string | undefined; readonly actions?: ComponentChildren; readonly children: ComponentChildren; readonly danger?: boolean | undefined }) {
  return (
    <section class={`card${props.danger === true ? " card-danger" : ""}`}>
      {(props.title !== undefined || props.actions !== undefined) && (
        <header class="card-head">
          {props.title !== undefined && <h2>{props.title}</h2>}
          {props.actions !== undefined && <div class="card-actions">{props.actions}</div>}
        </header>
      )}
      {props.children}
    </section>
  );
}

export function Badge(props: { readonly tone?: "neutral" | "good" | "warn" | "bad" | "info" | undefined; readonly children: ComponentChildren }) {
  return <span class={`badge ${props.tone ?? "neutral"}`}>{props.children}</span>;
}
