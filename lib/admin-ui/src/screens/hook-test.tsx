// Test of a hook: a sample goes out, nothing changes, and all of the answer is shown.
import { useSignal } from "../state/signal.js";
import { manage } from "../api/service.js";
import type { HookEntry, HookTest, Tenant } from "../api/types.js";
import { Button } from "../kit/button.js";
import { Code } from "../kit/copy.js";
import { FormError } from "../kit/field.js";
import { formatMs } from "../kit/format.js";
import { Badge, Card } from "../kit/page.js";
import { useSubmit } from "../state/submit.js";

export function HookTestCard({ tenant, hook, unsaved }: { readonly tenant: Tenant; readonly hook: HookEntry; readonly unsaved: boolean }) {
  const result = useSignal<HookTest | null>(null);
  const submit = useSubmit(async () => {
    result.value = await manage.testHook(tenant, hook.id);
  });
  const answer = result.value;
  return (
    <Card title="Test" actions={<Button icon="live" busy={submit.busy} disabled={unsaved} onClick={() => submit.run()}>Send a sample</Button>}>
      <p class="muted">{unsaved ? "Save the hook first: the test uses what is saved." : "Sends a sample to the address. No record is changed."}</p>
      <FormError message={submit.message} />
      {answer !== null && (
        <div class="stack" role="status">
          <dl class="facts">
            <dt>Answer</dt>
            <dd>{answer.status === null ? <Badge tone="bad">none</Badge> : <Badge tone={answer.status < 300 ? "good" : "bad"}>{answer.status}</Badge>}</dd>
            <dt>Took</dt><dd>{formatMs(answer.latencyMs)}</dd>
            <dt>Signature</dt><dd><code>{answer.signature}</code></dd>
            {answer.error !== null && <><dt>Went wrong</dt><dd class="error">{answer.error}</dd></>}
          </dl>
          {answer.body !== null && answer.body !== "" && <Code text={typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body, null, 2)} what="answer of the hook" />}
        </div>
      )}
    </Card>
  );
}
