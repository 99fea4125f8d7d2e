// Dialogs on the browser's own <dialog>: focus trap, Escape and backdrop come from it. A sheet is a dialog at the side.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Button } from "./button.js";

export function Dialog(props: {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
  /** Drawn at the side, for work on one thing of a list. */
  readonly sheet?: boolean | undefined;
  readonly wide?: boolean | undefined;
  /** No closing but by an answer. */
  readonly locked?: boolean | undefined;
}) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current;
    if (dialog === null) return;
    const before = document.activeElement;
    dialog.showModal();
    // Where no field asks for the focus, reading begins at the title and not at the button that closes.
    if (dialog.querySelector("[autofocus]") === null) dialog.querySelector("h2")?.focus();
    return () => {
      dialog.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={`dialog${props.sheet === true ? " sheet" : ""}${props.wide === true ? " wide" : ""}`}
      aria-labelledby={id}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        event.stopPropagation();
        if (props.locked !== true) props.onClose();
      }}
      onClose={(event) => {
        // A browser may close it by itself, as the back gesture of a phone does: whoever opened it decides.
        if (event.target !== element.current || element.current?.isConnected !== true) return;
        element.current.showModal();
        if (props.locked !== true) props.onClose();
      }}
    >
      <header class="dialog-head">
        <h2 id={id} tabIndex={-1}>{props.title}</h2>
        {props.locked !== true && <Button kind="quiet" icon="close" iconOnly onClick={props.onClose}>Close</Button>}
      </header>
      <div class="dialog-body">{props.children}</div>
    </dialog>
  );
}

/** The row of buttons at the end of a form. */
export function Actions({ children }: { readonly children: ComponentChildren }) {
  return <div class="actions">{children}</div>;
}
