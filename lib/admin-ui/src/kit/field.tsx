// Form fields: label, hint and error belong to their input for eyes and for screen readers alike.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

interface Common {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  readonly required?: boolean | undefined;
  readonly disabled?: boolean | undefined;
  /** The label is for screen readers only. */
  readonly labelHidden?: boolean | undefined;
}

export interface Wiring {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": "true" | undefined;
  readonly required: boolean;
  readonly disabled: boolean;
}

export function Field(props: Common & { readonly children: (wiring: Wiring) => ComponentChildren }) {
  const id = useId();
  const described = [props.hint !== undefined && `${id}-hint`, props.error !== undefined && `${id}-error`].filter(Boolean).join(" ");
  return (
    <div class={`field${props.error === undefined ? "" : " wrong"}`}>
      <label for={id} class={`${props.labelHidden === true ? "visually-hidden" : ""}${props.required === true ? " needed" : ""}`}>{props.label}</label>
      {props.children({
        id,
        "aria-describedby": described === "" ? undefined : described,
        "aria-invalid": props.error === undefined ? undefined : "true",
        required: props.required === true,
        disabled: props.disabled === true,
      })}
      {props.hint !== undefined && <p class="hint" id={`${id}-hint`}>{props.hint}</p>}
      {props.error !== undefined && <p class="error" id={`${id}-error`}>{props.error}</p>}
    </div>
  );
}

type TextKind = "text" | "password" | "email" | "url" | "number" | "search" | "date" | "datetime-local";

export function TextField(props: Common & {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly type?: TextKind | undefined;
  readonly placeholder?: string | undefined;
  readonly autoComplete?: string | undefined;
  readonly autoFocus?: boolean | undefined;
  readonly inputMode?: "text" | "numeric" | "decimal" | "url" | "email" | undefined;
  readonly list?: readonly Choice[] | undefined;
  readonly mono?: boolean | undefined;
  readonly min?: string | undefined;
  readonly max?: string | undefined;
  readonly step?: string | undefined;
  readonly readOnly?: boolean | undefined;
}) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // The attribute counts only while a page loads or a dialog opens.
    if (props.autoFocus === true) input.current?.focus();
  }, []);
  return (
    <Field {...props}>
      {(wiring) => (
        <>
          <input
            {...wiring}
            ref={input}
            class={props.mono === true ? "mono" : undefined}
            type={(props.type ?? "text") as "text"}
            value={props.value}
            placeholder={props.placeholder}
            autocomplete={props.autoComplete ?? "off"}
            autofocus={props.autoFocus === true}
            inputMode={props.inputMode}
            spellcheck={false}
            min={props.min}
            max={props.max}
            step={props.step ?? (props.type === "number" ? "any" : undefined)}
            readOnly={props.readOnly === true}
            list={props.list === undefined ? undefined : `${wiring.id}-list`}
            onInput={(event) => props.onInput(event.currentTarget.value)}
          />
          {props.list !== undefined && <datalist id={`${wiring.id}-list`}>{props.list.map((choice) => <option value={choice.value} key={choice.value}>{choice.text}</option>)}</datalist>}
        </>
      )}
    </Field>
  );
}

export function TextArea(props: Common & {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly rows?: number | undefined;
  readonly mono?: boolean | undefined;
  readonly placeholder?: string | undefined;
}) {
  return (
    <Field {...props}>
      {(wiring) => (
        <textarea
          {...wiring}
          class={props.mono === true ? "mono" : undefined}
          rows={props.rows ?? 4}
          value={props.value}
          placeholder={props.placeholder}
          spellcheck={props.mono !== true}
          onInput={(event) => props.onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

export interface Choice {
  readonly value: string;
  readonly text: string;
}

export function SelectField(props: Common & { readonly value: string; readonly choices: readonly Choice[]; readonly onChange: (value: string) => void }) {
  return (
    <Field {...props}>
      {(wiring) => (
        <select {...wiring} value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
          {props.choices.map((choice) => <option value={choice.value} key={choice.value} selected={choice.value === props.value}>{choice.text}</option>)}
        </select>
      )}
    </Field>
  );
}

export function SwitchField(props: Common & { readonly checked: boolean; readonly onChange: (checked: boolean) => void }) {
  const id = useId();
  return (
    <div class={`field switch-field${props.error === undefined ? "" : " wrong"}`}>
      <label class="switch-label" for={id}>
        <input
          id={id}
          type="checkbox"
          role="switch"
          class="switch"
          checked={props.checked}
          disabled={props.disabled === true}
          aria-describedby={props.hint === undefined && props.error === undefined ? undefined : `${id}-hint`}
          aria-invalid={props.error === undefined ? undefined : "true"}
          onChange={(event) => props.onChange(event.currentTarget.checked)}
        />
        <span class={props.labelHidden === true ? "visually-hidden" : undefined}>{props.label}</span>
      </label>
      {(props.hint !== undefined || props.error !== undefined) && (
        <div id={`${id}-hint`}>
          {props.hint !== undefined && <p class="hint">{props.hint}</p>}
          {props.error !== undefined && <p class="error">{props.error}</p>}
        </div>
      )}
    </div>
  );
}

/** What of a failed form belongs to no field. */
export function FormError({ message }: { readonly message: string | null }) {
  if (message === null) return null;
  return (
    <div class="note danger" role="alert" tabIndex={-1} data-form-error>
      {message.split("\n").map((line) => <p key={line}>{line}</p>)}
    </div>
  );
}
