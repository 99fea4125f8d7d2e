// Text that is there to be copied: codes, keys, samples.
import { useSignal } from "../state/signal.js";
import { Button } from "./button.js";
import { say } from "./toast.js";

export function CopyButton(props: { readonly text: string; readonly what: string; readonly small?: boolean | undefined }) {
  const copied = useSignal(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(props.text);
      copied.value = true;
      setTimeout(() => {
        copied.value = false;
      }, 2000);
    } catch {
      say(`The browser does not let this page copy. Select the ${props.what} and copy it by hand.`, { kind: "wrong" });
    }
  };
  return (
    <Button small={props.small} icon={copied.value ? "check" : "copy"} onClick={() => void copy()} label={`Copy ${props.what}`}>
      {copied.value ? "Copied" : "Copy"}
    </Button>
  );
}

export function CopyField(props: { readonly label: string; readonly text: string; readonly what: string }) {
  return (
    <div class="copy-field">
      <code tabIndex={0} role="textbox" aria-readonly="true" aria-label={props.label}>{props.text}</code>
      <CopyButton text={props.text} what={props.what} />
    </div>
  );
}

export function Code(props: { readonly text: string; readonly what: string }) {
  return (
    <div class="code">
      <pre tabIndex={0} role="region" aria-label={props.what}><code>{props.text}</code></pre>
      <CopyButton small text={props.text} what={props.what} />
    </div>
  );
}
