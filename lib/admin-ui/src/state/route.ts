// Where the page is: the part of the address after #, cut into segments and a query. Deep links work on any mount path.
import { signal } from "./signal.js";

export interface Route {
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
}

let current = location.hash;
/** Forms with changes that are not saved. */
const unsaved = new Set<object>();
/** The address somebody wants to go to while a form has changes. */
export const leaving = signal<string | null>(null);

export const route = signal<Route>(parse(current));

function show(hash: string): void {
  current = hash;
  route.value = parse(hash);
}

function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  return { segments: path.split("/").filter((segment) => segment !== "").map(decode), query: new URLSearchParams(query) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export type Query = Readonly<Record<string, string | null | undefined>>;

/** The link to a place: `link(["t", "acme", "users"], { page: "2" })`. */
export function link(segments: readonly string[], query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== null && value !== undefined && value !== "") parameters.set(name, value);
  const text = parameters.toString();
  return `#/${segments.map(encodeURIComponent).join("/")}${text === "" ? "" : `?${text}`}`;
}

export function go(target: string, options: { readonly replace?: boolean } = {}): void {
  if (isHeld(target)) return;
  if (options.replace === true) {
    history.replaceState(null, "", target);
    show(location.hash);
  } else {
    location.hash = target;
  }
}

/** Changes the query of the place where the page is. */
export function setQuery(query: Query, options: { readonly replace?: boolean } = {}): void {
  const merged: Record<string, string | null | undefined> = Object.fromEntries(route.value.query);
  go(link(route.value.segments, { ...merged, ...query }), options);
}

/** Marks a form as changed or saved; leaving is asked about while any is changed. */
export function markUnsaved(form: object, changed: boolean): void {
  if (changed) unsaved.add(form);
  else unsaved.delete(form);
}

/** Goes where `leaving` points and forgets the changes, or stays. */
export function answerLeaving(leave: boolean): void {
  const target = leaving.value;
  leaving.value = null;
  if (!leave || target === null) return;
  unsaved.clear();
  go(target);
}

const pathOf = (hash: string) => hash.split("?", 1)[0];

/** Whether changes would be lost on the way there; it is asked about then. */
function isHeld(target: string): boolean {
  if (unsaved.size === 0 || pathOf(target) === pathOf(current)) return false;
  leaving.value = target;
  return true;
}

export function watchAddress(): void {
  addEventListener("hashchange", () => {
    const target = location.hash;
    if (target === current) return;
    if (isHeld(target)) {
      history.replaceState(null, "", current === "" ? "#/" : current);
      return;
    }
    show(target);
  });
  addEventListener("beforeunload", (event) => {
    if (unsaved.size > 0) event.preventDefault();
  });
}
