// Values that redraw what shows them. A shared one redraws the page from its root, which is cheap and rare; a
// component's own one redraws the component.
import { useReducer, useRef } from "preact/hooks";

export interface Signal<T> {
  value: T;
}

let redrawPage: () => void = () => undefined;

/** Names who draws the page; called once, by its root. */
export function onSharedChange(redraw: () => void): void {
  redrawPage = redraw;
}

/** A value that several screens share. */
export function signal<T>(initial: T): Signal<T> {
  return create(initial, () => redrawPage());
}

/** A value of one component, kept while it is shown. */
export function useSignal<T>(initial: T): Signal<T> {
  const [, redraw] = useReducer((count: number, _: undefined) => count + 1, 0);
  const holder = useRef<Signal<T> | null>(null);
  holder.current ??= create(initial, () => redraw(undefined));
  return holder.current;
}

function create<T>(initial: T, changed: () => void): Signal<T> {
  let now = initial;
  return {
    get value() {
      return now;
    },
    set value(next) {
      if (Object.is(next, now)) return;
      now = next;
      changed();
    },
  };
}

/** What takes the input of a field into a value: `{...bind(name)}`. */
export function bind<T>(target: Signal<T>): { readonly value: T; readonly onInput: (value: T) => void } {
  return {
    value: target.value,
    onInput: (value) => {
      target.value = value;
    },
  };
}
