// Try it: as this caller, on this record, what the service would decide and which part of the rule says so. Nothing is written.
import type { Explained } from "../../../explain/explain.js";
import type { Explanation } from "../../../rules/explain.js";
import { ApiError } from "../api/http.js";
import { data, manage } from "../api/service.js";
import type { CollectionDefinition, JsonObject, Tenant } from "../api/types.js";
import { Button } from "../kit/button.js";
import { FormError, SelectField, TextArea, TextField } from "../kit/field.js";
import { Badge, Card } from "../kit/page.js";
import { link } from "../state/route.js";
import { bind, useSignal } from "../state/signal.js";
import { useResource } from "../state/resource.js";
import { useSubmit } from "../state/submit.js";
import { titleOf } from "./record-values.js";

const operations = ["list", "view", "create", "update", "delete"] as const;

export function TryRule({ tenant, collection, unsaved }: { readonly tenant: Tenant; readonly collection: CollectionDefinition; readonly unsaved: boolean }) {
  const caller = useSignal("guest");
  const operation = useSignal("view");
  const recordId = useSignal("");
  const text = useSignal("{}");
  const answer = useSignal<Explained | null>(null);
  const users = useResource(async (signal) => (await data.list(tenant, "users", { limit: 100 }, signal)).items, [tenant.id]);
  const records = useResource(async (signal) => (await data.list(tenant, collection.name, { limit: 50 }, signal)).items, [collection.id]);
  const hasBody = operation.value === "create" || operation.value === "update";
  const submit = useSubmit(async () => {
    answer.value = null;
    let body: JsonObject = {};
    try {
      if (hasBody) body = JSON.parse(text.value) as JsonObject;
    } catch {
      throw new ApiError(400, "", [{ field: "body", message: "This is no JSON." }]);
    }
    answer.value = await manage.explain(tenant, {
      caller: caller.value === "guest" ? "guest" : { userId: caller.value },
      collection: collection.name,
      operation: operation.value,
      ...(recordId.value === "" || operation.value === "create" ? {} : { recordId: recordId.value.trim() }),
      body,
    });
  });
  return (
    <Card title="Try it">
      <p class="muted">{unsaved ? "Save the rules first: this asks the ones that are saved." : "What would happen, and why. No record is changed and no hook is called."}</p>
      <form class="stack" onSubmit={submit.run}>
        <div class="form-row">
          <SelectField label="As" value={caller.value} choices={[{ value: "guest", text: "A guest" }, ...(users.data ?? []).map((user) => ({ value: user.id, text: String(user["username"]) }))]} onChange={(value) => { caller.value = value; }} error={submit.error("caller")} />
          <SelectField label="Do" value={operation.value} choices={operations.map((value) => ({ value, text: value }))} onChange={(value) => { operation.value = value; }} />
          {operation.value !== "create" && <TextField label="Record" {...bind(recordId)} list={(records.data ?? []).map((record) => ({ value: record.id, text: titleOf(collection.fields, record) }))} error={submit.error("recordId")} hint={operation.value === "list" ? "Empty: the list as such." : "Its id; type to choose."} mono />}
        </div>
        {hasBody && <TextArea label="Body" {...bind(text)} rows={3} error={submit.error("body")} hint="As a client would send it." mono />}
        <FormError message={submit.message} />
        <div><Button submit icon="rule" busy={submit.busy} disabled={unsaved}>Try it</Button></div>
      </form>
      {answer.value !== null && <Verdict tenant={tenant} answer={answer.value} />}
    </Card>
  );
}

function Verdict({ tenant, answer }: { readonly tenant: Tenant; readonly answer: Explained }) {
  const { rule } = answer;
  return (
    <div class="stack tight" role="status">
      <div class={`note ${answer.allowed ? "good" : "danger"}`}><p><strong>{answer.allowed ? "Allowed" : "Refused"}, {answer.status}.</strong> {answer.reason}.</p></div>
      {rule.parts !== null && <ul class="parts"><Part part={rule.parts} /></ul>}
      {answer.validation.length > 0 && <p class="note warn">The body would be refused: {answer.validation.map((entry) => `${entry.field} ${entry.message}`).join("; ")}</p>}
      {answer.hooks.length > 0 && <p>Then asked or told: {answer.hooks.map((hook, index) => <>{index > 0 && ", "}<a href={link(["t", tenant.slug, "hooks", hook.id])}>{hook.event}</a></>)}.</p>}
      <details><summary>The query that a list runs</summary><pre class="pre" tabIndex={0}><code>{JSON.stringify(answer.query, null, 2)}</code></pre></details>
    </div>
  );
}

/** One part of the rule: its own words, whether it holds, and the values that it saw. */
function Part({ part }: { readonly part: Explanation }) {
  return (
    <li>
      <Badge tone={part.result ? "good" : "bad"}>{part.result ? "holds" : "fails"}</Badge> <code>{part.source}</code>
      {part.operands.filter((operand) => operand.source !== JSON.stringify(operand.value)).map((operand) => <span class="muted small-text"> {operand.source} is <code>{JSON.stringify(operand.value)}</code></span>)}
      {part.parts.length > 0 && <ul class="parts">{part.parts.map((inner) => <Part key={inner.start} part={inner} />)}</ul>}
    </li>
  );
}
