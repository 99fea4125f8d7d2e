// A text area for a rule or a where expression: completion at the caret, and the fault with its place.
import { useSignal } from "../state/signal.js";
import { useEffect, useId, useLayoutEffect, useRef } from "preact/hooks";
import { complete, type Completion } from "./completion.js";
import { faultIn, faultOf, type RuleFault, type RuleSubject } from "./check.js";

export function RuleInput(props: {
  readonly label: string;
  readonly labelHidden?: boolean | undefined;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly subject: RuleSubject;
  /** What the service said of it. */
  readonly error?: string | undefined;
  readonly placeholder?: string | undefined;
  readonly hint?: string | undefined;
  /** Pressed Enter where nothing is to be completed; without it, Enter makes a new line. */
  readonly onEnter?: (() => void) | undefined;
  /** An empty text is no fault. */
  readonly mayBeEmpty?: boolean | undefined;
}) {
  const id = useId();
  const input = useRef<HTMLTextAreaElement>(null);
  const completion = useSignal<Completion | null>(null);
  const active = useSignal(0);
  const settled = useSignal(props.value);
  const caret = useRef<number | null>(null);

  useEffect(() => {
    // A fault is told once the typing pauses: half a word is no mistake yet.
    const timer = setTimeout(() => { settled.value = props.value; }, 350);
    return () => clearTimeout(timer);
  }, [props.value]);
  useLayoutEffect(() => {
    if (caret.current === null) return;
    input.current?.setSelectionRange(caret.current, caret.current);
    caret.current = null;
  }, [props.value]);

  const empty = props.mayBeEmpty === true && props.value.trim() === "";
  const own = empty || settled.value !== props.value ? null : faultOf(props.value, props.subject);
  const fault = own ?? (props.error === undefined ? null : faultIn(props.error));
  const error = fault?.reason ?? props.error;
  const open = completion.value;

  const look = () => {
    const element = input.current;
    completion.value = element === null || element.selectionStart !== element.selectionEnd ? null : complete(element.value, element.selectionStart, props.subject);
    active.value = 0;
  };
  const take = (index: number) => {
    const suggestion = open?.suggestions[index];
    const element = input.current;
    if (open === null || suggestion === undefined || element === null) return;
    const end = element.selectionStart;
    const closing = element.value.slice(end).match(/^["']/) !== null && suggestion.text.startsWith('"') ? 1 : 0;
    caret.current = open.start + suggestion.text.length;
    completion.value = null;
    props.onInput(element.value.slice(0, open.start) + suggestion.text + element.value.slice(end + closing));
    element.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (open !== null) {
      const count = open.suggestions.length;
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        active.value = (active.value + (event.key === "ArrowDown" ? 1 : count - 1)) % count;
        return;
      }
      if ((event.key === "Enter" || event.key === "Tab") && !event.shiftKey) {
        event.preventDefault();
        take(active.value);
        return;
      }
      if (event.key === "Escape") {
        event.preventDefault();
        event.stopPropagation();
        completion.value = null;
        return;
      }
    }
    if (event.key === "Enter" && !event.shiftKey && props.onEnter !== undefined) {
      event.preventDefault();
      props.onEnter();
    }
  };
  return (
    <div class={`field${error === undefined ? "" : " wrong"}`}>
      <label for={id} class={props.labelHidden === true ? "visually-hidden" : undefined}>{props.label}</label>
      <div class="rule-input">
        <textarea
          id={id}
          ref={input}
          class="mono"
          rows={Math.min(8, Math.max(1, props.value.split("\n").length))}
          value={props.value}
          placeholder={props.placeholder}
          spellcheck={false}
          autocapitalize="off"
          aria-autocomplete="list"
          aria-controls={open === null ? undefined : `${id}-list`}
          aria-activedescendant={open === null ? undefined : `${id}-${active.value}`}
          aria-invalid={error === undefined ? undefined : "true"}
          aria-describedby={[error !== undefined && `${id}-error`, props.hint !== undefined && `${id}-hint`].filter(Boolean).join(" ") || undefined}
          onInput={(event) => {
            props.onInput(event.currentTarget.value);
            look();
          }}
          onKeyDown={onKeyDown}
          onBlur={() => { completion.value = null; }}
          onClick={() => { completion.value = null; }}
        />
        {open !== null && (
          <ul class="completion" role="listbox" id={`${id}-list`} aria-label="Suggestions">
            {open.suggestions.map((item, index) => (
              <li
                key={item.text}
                id={`${id}-${index}`}
                role="option"
                aria-selected={index === active.value}
                onMouseDown={(event) => {
                  event.preventDefault();
                  take(index);
                }}
              >
                {item.text}<span>{item.note}</span>
              </li>
            ))}
          </ul>
        )}
        <span class="visually-hidden" role="status">{open === null ? "" : `${open.suggestions.length} suggestions, arrow keys choose`}</span>
      </div>
      {fault !== null && <Pointer source={props.value} fault={fault} />}
      {error !== undefined && <p class="error" id={`${id}-error`}>{fault === null ? error : `At position ${fault.position + 1}: ${error}`}</p>}
      {props.hint !== undefined && <p class="hint" id={`${id}-hint`}>{props.hint}</p>}
    </div>
  );
}

/** The line with the fault, its place marked. */
function Pointer({ source, fault }: { readonly source: string; readonly fault: RuleFault }) {
  const begin = source.lastIndexOf("\n", Math.max(0, fault.position - 1)) + 1;
  const stop = source.indexOf("\n", fault.position);
  const line = source.slice(begin, stop === -1 ? source.length : stop);
  const place = Math.min(fault.position - begin, line.length);
  return (
    <div class="pointer" aria-hidden="true">
      {line.slice(0, place)}<mark>{line[place] ?? " "}</mark>{line.slice(place + 1)}
    </div>
  );
}
