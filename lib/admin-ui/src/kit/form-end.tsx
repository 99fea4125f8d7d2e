// The end of a form: what is wrong beside its fields, the way out, the button that sends it.
import type { Submit } from "../state/submit.js";
import { Button } from "./button.js";
import { Actions } from "./dialog.js";
import { FormError } from "./field.js";

export function FormEnd(props: {
  readonly submit: Submit;
  /** What the button says: the verb and its object. */
  readonly text: string;
  readonly danger?: boolean | undefined;
  readonly disabled?: boolean | undefined;
  readonly onCancel?: (() => void) | undefined;
  /** What the way out says. @default Cancel */
  readonly cancel?: string | undefined;
}) {
  const { submit } = props;
  return (
    <>
      <FormError message={submit.message} />
      <Actions>
        {props.onCancel !== undefined && <Button disabled={props.cancel !== undefined && props.disabled} onClick={props.onCancel}>{props.cancel ?? "Cancel"}</Button>}
        <Button kind={props.danger === true ? "danger" : "primary"} submit busy={submit.busy} disabled={props.disabled}>{props.text}</Button>
      </Actions>
    </>
  );
}
