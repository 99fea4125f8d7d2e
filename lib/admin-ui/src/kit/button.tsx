// Buttons and links that look like them. A busy button says what it does and cannot be pressed twice.
import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.js";

type Kind = "primary" | "plain" | "quiet" | "danger";

interface Look {
  readonly kind?: Kind | undefined;
  readonly icon?: IconName | undefined;
  /** Shown as the icon alone; the text is the label. */
  readonly iconOnly?: boolean | undefined;
  readonly small?: boolean | undefined;
  readonly children: ComponentChildren;
}

const classOf = (look: Look) => `button ${look.kind ?? "plain"}${look.iconOnly === true ? " icon-only" : ""}${look.small === true ? " small" : ""}`;

function Inside(look: Look) {
  return (
    <>
      {look.icon !== undefined && <Icon name={look.icon} />}
      <span class={look.iconOnly === true ? "visually-hidden" : undefined}>{look.children}</span>
    </>
  );
}

export function Button(props: Look & {
  readonly onClick?: ((event: MouseEvent) => void) | undefined;
  readonly submit?: boolean | undefined;
  readonly busy?: boolean | undefined;
  readonly disabled?: boolean | undefined;
  readonly pressed?: boolean | undefined;
  readonly title?: string | undefined;
  readonly label?: string | undefined;
}) {
  return (
    <button
      type={props.submit === true ? "submit" : "button"}
      class={classOf(props)}
      disabled={props.disabled === true}
      aria-disabled={props.busy === true ? "true" : undefined}
      aria-busy={props.busy === true ? "true" : undefined}
      aria-pressed={props.pressed}
      aria-label={props.label}
      title={props.title ?? (props.iconOnly === true && typeof props.children === "string" ? props.children : undefined)}
      onClick={(event) => {
        if (props.busy !== true) props.onClick?.(event);
        else event.preventDefault();
      }}
    >
      <Inside {...props} />
    </button>
  );
}

export function LinkButton(props: Look & { readonly href: string; readonly download?: string | undefined; readonly current?: boolean | undefined }) {
  return (
    <a class={classOf(props)} href={props.href} download={props.download} aria-current={props.current === true ? "page" : undefined} title={props.iconOnly === true && typeof props.children === "string" ? props.children : undefined}>
      <Inside {...props} />
    </a>
  );
}
