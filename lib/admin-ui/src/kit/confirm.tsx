// Asking before data goes. What is large must be named by typing its name; the rest is one clear question.
import { bind, signal, useSignal } from "../state/signal.js";
import type { ComponentChildren } from "preact";
import { useSubmit } from "../state/submit.js";
import { Dialog } from "./dialog.js";
import { TextField } from "./field.js";
import { FormEnd } from "./form-end.js";

interface Question {
  readonly title: string;
  readonly text: ComponentChildren;
  /** What the button says: the verb and its object. */
  readonly action: string;
  /** Must be typed before the button works. */
  readonly name?: string | undefined;
  /** Done while the dialog is open, so that a failure is told there. */
  readonly run: () => Promise<void>;
}

const question = signal<Question | null>(null);

export function askToConfirm(value: Question): void {
  question.value = value;
}

export function Confirmation() {
  return question.value === null ? null : <ConfirmationDialog key={question.value.title} {...question.value} />;
}

function ConfirmationDialog(props: Question) {
  const typed = useSignal("");
  const close = () => {
    question.value = null;
  };
  const submit = useSubmit(async () => {
    await props.run();
    close();
  });
  const named = props.name === undefined || typed.value === props.name;
  return (
    <Dialog title={props.title} onClose={close}>
      <form onSubmit={(event) => (named ? submit.run(event) : event.preventDefault())}>
        <div class="prose">{props.text}</div>
        {props.name !== undefined && (
          <TextField
            label={`Type ${props.name} to confirm`}
            {...bind(typed)}
            autoFocus
            mono
          />
        )}
        <FormEnd submit={submit} text={props.action} danger disabled={!named} onCancel={close} />
      </form>
    </Dialog>
  );
}
