// Sending a form: busy while it runs, errors at their fields, the rest above the button; the first wrong field gets the focus.
import { useRef } from "preact/hooks";
import { ApiError, messageOf } from "../api/http.js";
import { useSignal } from "./signal.js";

export interface Submit {
  readonly busy: boolean;
  /** What is wrong beside the fields that were asked for so far in this drawing. */
  readonly message: string | null;
  readonly failure: ApiError | null;
  /** The error of a field by its name, or of what lies in it. */
  error(field: string): string | undefined;
  run(event?: Event): void;
  clear(): void;
}

export function useSubmit(action: () => Promise<void>): Submit {
  const busy = useSignal(false);
  const failure = useSignal<ApiError | null>(null);
  const latest = useRef(action);
  latest.current = action;
  const entries = failure.value?.fields ?? [];
  const shown = new Set<string>();
  return {
    busy: busy.value,
    failure: failure.value,
    get message() {
      if (failure.value === null || entries.length === 0) return failure.value?.message ?? null;
      const rest = entries.filter((entry) => !shown.has(entry.field)).map((entry) => `${entry.field}: ${entry.message}`);
      return rest.length > 0 ? rest.join("\n") : null;
    },
    error(field) {
      const found = entries.filter((entry) => entry.field === field || entry.field.startsWith(`${field}.`) || entry.field.startsWith(`${field}[`));
      for (const entry of found) shown.add(entry.field);
      return found.length > 0 ? found.map((entry) => (entry.field === field ? entry.message : `${entry.field.slice(field.length).replace(/^\./, "")}: ${entry.message}`)).join("; ") : undefined;
    },
    clear() {
      failure.value = null;
    },
    run(event) {
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
