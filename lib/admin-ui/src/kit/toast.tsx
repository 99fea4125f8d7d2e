// Short news about what was done, read out by screen readers. An undo stays longer.
import { signal } from "../state/signal.js";
import { Button } from "./button.js";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: "done" | "wrong";
  readonly undo: (() => void) | null;
}

const toasts = signal<readonly Toast[]>([]);
let last = 0;

export function say(text: string, options: { readonly kind?: "done" | "wrong"; readonly undo?: () => void } = {}): void {
  last += 1;
  const id = last;
  toasts.value = [...toasts.value.filter((toast) => toast.text !== text).slice(-2), { id, text, kind: options.kind ?? "done", undo: options.undo ?? null }];
  setTimeout(() => dismiss(id), options.undo === undefined && options.kind !== "wrong" ? 5000 : 12_000);
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((toast) => (
        <div class={`toast ${toast.kind}`} key={toast.id}>
          <span>{toast.text}</span>
          {toast.undo !== null && (
            <Button
              kind="quiet"
              small
              onClick={() => {
                toast.undo?.();
                dismiss(toast.id);
              }}
            >
              Undo
            </Button>
          )}
          <Button kind="quiet" small icon="close" iconOnly onClick={() => dismiss(toast.id)}>Dismiss</Button>
        </div>
      ))}
    </div>
  );
}
