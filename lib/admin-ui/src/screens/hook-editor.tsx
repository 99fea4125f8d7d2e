// One hook: what it listens to, where it calls, what it sends; Test and its secret.
import { useSignal } from "../state/signal.js";
import { authEvents, collectionEvents, type HookEvent } from "../../../hooks/definition.js";
import { manage } from "../api/service.js";
import type { HookEntry } from "../api/types.js";
import type { TenantProps } from "../work.js";
import { Button, LinkButton } from "../kit/button.js";
import { askToConfirm } from "../kit/confirm.js";
import { CopyField } from "../kit/copy.js";
import { Actions, Dialog } from "../kit/dialog.js";
import { SelectField, SwitchField, TextArea, TextField } from "../kit/field.js";
import { FormEnd } from "../kit/form-end.js";
import { Card } from "../kit/page.js";
import { say } from "../kit/toast.js";
import { go, link } from "../state/route.js";
import { useSubmit } from "../state/submit.js";
import { useUnsaved } from "../state/unsaved.js";
import { HookTestCard } from "./hook-test.js";

interface Draft {
  readonly event: HookEvent;
  readonly collection: string;
  readonly url: string;
  readonly method: string;
  readonly timeoutMs: string;
  readonly secret: string;
  readonly priority: string;
  readonly enabled: boolean;
  readonly includeSchema: boolean;
  readonly forwardHeaders: string;
  readonly failOpen: boolean;
  readonly headers: string;
  readonly matchCollections: string;
  readonly matchMethods: string;
}

const methods = ["POST", "PUT", "PATCH", "GET", "DELETE"];
const listOf = (text: string) => text.split(/[\s,]+/).filter((item) => item !== "");

function draftOf(hook: HookEntry | null, firstCollection: string): Draft {
  return {
    event: hook?.event ?? "afterCreate",
    collection: hook?.collection ?? firstCollection,
    url: hook?.url ?? "https://",
    method: hook?.method ?? "POST",
    timeoutMs: hook === null ? "" : String(hook.timeoutMs),
    secret: "",
    priority: String(hook?.priority ?? 0),
    enabled: hook?.enabled ?? true,
    includeSchema: hook?.includeSchema ?? false,
    forwardHeaders: hook?.forwardHeaders ?? "",
    failOpen: hook?.failOpen ?? false,
    headers: Object.entries(hook?.headers ?? {}).map(([name, value]) => `${name}: ${value}`).join("\n"),
    matchCollections: (hook?.match?.collections ?? []).join(", "),
    matchMethods: (hook?.match?.methods ?? []).join(", "),
  };
}

const isAfter = (event: string) => event.startsWith("after");
const isAuth = (event: string) => (authEvents as readonly string[]).includes(event);

function toBody(draft: Draft): unknown {
  const global = draft.event === "beforeRequest";
  return {
    event: draft.event,
    collection: global ? null : isAuth(draft.event) ? "users" : draft.collection,
    url: draft.url.trim(),
    method: draft.method,
    priority: Number(draft.priority),
    enabled: draft.enabled,
    includeSchema: draft.includeSchema,
    forwardHeaders: draft.forwardHeaders,
    failOpen: !isAfter(draft.event) && draft.failOpen,
    headers: Object.fromEntries(draft.headers.split("\n").filter((line) => line.trim() !== "").map((line) => {
      const [name = "", ...rest] = line.split(":");
      return [name.trim(), rest.join(":").trim()];
    })),
    match: global ? { collections: listOf(draft.matchCollections), methods: listOf(draft.matchMethods).map((method) => method.toUpperCase()) } : null,
    ...(draft.timeoutMs === "" ? {} : { timeoutMs: Number(draft.timeoutMs) }),
    ...(draft.secret === "" ? {} : { secret: draft.secret }),
  };
}

export function HookEditor({ tenant, collections, hook, onChanged }: TenantProps & { readonly hook: HookEntry | null; readonly onChanged: () => void }) {
  const start = draftOf(hook, collections.find((item) => !item.system)?.name ?? "users");
  const draft = useSignal(start);
  const secret = useSignal<{ readonly id: string; readonly text: string } | null>(null);
  const changed = JSON.stringify(start) !== JSON.stringify(draft.value);
  const forget = useUnsaved(changed);
  const set = <K extends keyof Draft>(name: K) => (value: Draft[K]) => { draft.value = { ...draft.value, [name]: value }; };
  const submit = useSubmit(async () => {
    if (hook !== null) {
      const saved = await manage.updateHook(tenant, hook.id, toBody(draft.value));
      draft.value = draftOf(saved, "");
      onChanged();
      say("The hook is saved.");
      return;
    }
    const made = await manage.createHook(tenant, toBody(draft.value));
    forget();
    onChanged();
    if (made.secret !== null) secret.value = { id: made.id, text: made.secret };
    else go(link(["t", tenant.slug, "hooks", made.id]));
  });
  const value = draft.value;
  const leave = () => {
    const id = secret.value?.id ?? "";
    secret.value = null;
    go(link(["t", tenant.slug, "hooks", id]));
  };
  return (
    <>
      <Card>
        <form onSubmit={submit.run} class="stack">
          <div class="form-row">
            <SelectField label="Event" value={value.event} choices={["beforeRequest", ...collectionEvents, ...authEvents].map((event) => ({ value: event, text: event }))} onChange={(event) => set("event")(event as HookEvent)} error={submit.error("event")} hint={eventHint(value.event)} />
            {value.event !== "beforeRequest" && !isAuth(value.event) && <SelectField label="Collection" value={value.collection} choices={collections.map((item) => ({ value: item.name, text: item.name }))} onChange={set("collection")} error={submit.error("collection")} />}
          </div>
          {value.event === "beforeRequest" && (
            <div class="form-row">
              <TextField label="Only collections" value={value.matchCollections} onInput={set("matchCollections")} error={submit.error("match")} hint="Names with commas; empty: all." mono />
              <TextField label="Only methods" value={value.matchMethods} onInput={set("matchMethods")} hint="As GET, POST; empty: all." mono />
            </div>
          )}
          <div class="form-row">
            <TextField label="Address" type="text" inputMode="url" value={value.url} onInput={set("url")} error={submit.error("url")} hint="http or https. Private addresses work only where the settings allow them." required mono />
            <SelectField label="Method" value={value.method} choices={[...methods, ...(methods.includes(value.method) ? [] : [value.method])].map((method) => ({ value: method, text: method }))} onChange={set("method")} error={submit.error("method")} />
          </div>
          <SwitchField label="Enabled" checked={value.enabled} onChange={set("enabled")} error={submit.error("enabled")} />
          {!isAfter(value.event) && <SwitchField label="Fail open" checked={value.failOpen} onChange={set("failOpen")} error={submit.error("failOpen")} hint="Where the hook cannot be reached or fails, the request goes on. Off: it is refused with 502." />}
          <details open={["timeoutMs", "priority", "secret", "headers", "forwardHeaders"].some((name) => submit.error(name) !== undefined)}>
            <summary>More options</summary>
            <div class="stack">
              <div class="form-row">
                <TextField label="Wait at most, ms" type="number" value={value.timeoutMs} onInput={set("timeoutMs")} error={submit.error("timeoutMs")} hint={`Up to 30000; empty: ${isAfter(value.event) ? 30_000 : 5000}.`} />
                <TextField label="Priority" type="number" value={value.priority} onInput={set("priority")} error={submit.error("priority")} hint="Lower runs first." />
              </div>
              <TextField label="Secret" type="password" autoComplete="new-password" value={value.secret} onInput={set("secret")} error={submit.error("secret")} hint={hook === null ? "Signs each call. Empty: one is made and shown once." : "Empty: stays as it is."} />
              <TextArea label="Headers to send" value={value.headers} onInput={set("headers")} rows={3} error={submit.error("headers")} hint="One on each line, as Authorization: Bearer abc. Saved values are shown as *** and kept." mono />
              <TextField label="Headers to forward" value={value.forwardHeaders} onInput={set("forwardHeaders")} error={submit.error("forwardHeaders")} hint="Names of the caller's headers, with commas. Credentials and cookies are never forwarded." mono />
              <SwitchField label="Include the schema" checked={value.includeSchema} onChange={set("includeSchema")} hint="Adds the collection's fields to each call." />
            </div>
          </details>
          <FormEnd submit={submit} text={hook === null ? "Create the hook" : "Save the hook"} disabled={hook !== null && !changed} />
        </form>
      </Card>
      {hook !== null && <HookTestCard tenant={tenant} hook={hook} unsaved={changed} />}
      {hook !== null && (
        <div class="row spread">
          <LinkButton icon="log" href={link(["t", tenant.slug, "hooks", "log"], { hookId: hook.id })}>Calls of this hook</LinkButton>
          <Button kind="danger" icon="trash" onClick={() => askToConfirm({ title: "Delete this hook?", text: <p>Calls that are still waiting are dropped. To stop it for a while, switch it off instead.</p>, action: "Delete the hook", run: async () => { await manage.removeHook(tenant, hook.id); forget(); go(link(["t", tenant.slug, "hooks"])); onChanged(); say("The hook is deleted."); } })}>Delete the hook</Button>
        </div>
      )}
      {secret.value !== null && (
        <Dialog title="Copy the secret now" onClose={leave} locked>
          <p>Your server checks the signature of each call with it. It is shown this once.</p>
          <CopyField label="Secret" text={secret.value.text} what="secret" />
          <Actions><Button kind="primary" onClick={leave}>I have copied it</Button></Actions>
        </Dialog>
      )}
    </>
  );
}

function eventHint(event: HookEvent): string {
  if (event === "beforeRequest") return "Before every request to a collection or to sign-in. It may refuse it.";
  return isAfter(event) ? "After it was stored; delivered at least once, up to five attempts." : "Before it happens. The hook may refuse it or change the body.";
}
