// Sending a form: busy while it runs, errors at their fields, the rest above the button; the first wrong field gets the focus.
import { useSignal } from "./signal.js";
import { useRef } from "preact/hooks";
import { ApiError, messageOf } from "../api/http.js";

export interface Submit {
  readonly busy: boolean;
  /** What is wrong beside the fields. */
  readonly message: string | null;
  readonly failure: ApiError | null;
  /** The error of a field by its name. */
  error(field: string): string | undefined;
  /** Every error whose field starts so, as text. */
  errorsUnder(prefix: string): readonly { readonly field: string; readonly message: string }[];
  run(event?: Event): void;
  clear(): void;
}

/**
 * `fields` are the names that the form shows an error at; `*` takes all. Others go into `message`.
 */
export function useSubmit(action: () => Promise<void>, fields: readonly string[] = []): Submit {
  const busy = useSignal(false);
  const failure = useSignal<ApiError | null>(null);
  const latest = useRef(action);
  latest.current = action;
  const known = (name: string) => fields.includes("*") || fields.some((field) => name === field || name.startsWith(`${field}.`) || name.startsWith(`${field}[`));
  const entries = failure.value?.fields ?? [];
  const rest = entries.filter((entry) => !known(entry.field));
  return {
    busy: busy.value,
    failure: failure.value,
    message: failure.value === null ? null
      : entries.length === 0 ? failure.value.message
        : rest.length > 0 ? rest.map((entry) => `${entry.field}: ${entry.message}`).join("\n") : null,
    error: (field) => entries.find((entry) => entry.field === field)?.message ?? entries.find((entry) => entry.field.startsWith(`${field}.`) || entry.field.startsWith(`${field}[`))?.message,
    errorsUnder: (prefix) => entries.filter((entry) => entry.field.startsWith(prefix)),
    clear: () => {
      failure.value = null;
    },
    run: (event) => {
      event?.preventDefault();
      if (busy.value) return;
      const form = event?.currentTarget instanceof HTMLElement ? event.currentTarget : null;
      busy.value = true;
      failure.value = null;
      latest.current().then(
        () => {
          busy.value = false;
        },
        (error: unknown) => {
          busy.value = false;
          failure.value = error instanceof ApiError ? error : new ApiError(0, messageOf(error));
          requestAnimationFrame(() => (form?.querySelector<HTMLElement>("[aria-invalid='true']") ?? form?.querySelector<HTMLElement>("[data-form-error]"))?.focus());
        },
      );
    },
  };
}
