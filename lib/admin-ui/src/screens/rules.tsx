// The five rules of a collection: presets, or an expression that is checked while one types.
import { useSignal } from "../state/signal.js";
import { presetsFor } from "../../../rules/presets.js";
import { manage } from "../api/service.js";
import type { CollectionDefinition, RuleName } from "../api/types.js";
import type { TenantProps } from "../work.js";
import { SelectField } from "../kit/field.js";
import { FormEnd } from "../kit/form-end.js";
import { Card } from "../kit/page.js";
import { say } from "../kit/toast.js";
import { usageOf } from "../rules/check.js";
import { RuleInput } from "../rules/rule-input.js";
import { keepCollection } from "../state/tenants.js";
import { useSubmit } from "../state/submit.js";
import { useUnsaved } from "../state/unsaved.js";
import { TryRule } from "./try-rule.js";

const rules: readonly { readonly name: RuleName; readonly title: string; readonly text: string }[] = [
  { name: "listRule", title: "List", text: "Which records a list shows." },
  { name: "viewRule", title: "View", text: "Who may read one record, download its files and hear of its changes live." },
  { name: "createRule", title: "Create", text: "Who may add a record; it is checked on the record as it would be stored." },
  { name: "updateRule", title: "Update", text: "Who may change a record or remove its files." },
  { name: "deleteRule", title: "Delete", text: "Who may delete a record." },
];

type Draft = Readonly<Record<RuleName, string | null>>;
const draftOf = (collection: CollectionDefinition): Draft => ({ listRule: collection.listRule, viewRule: collection.viewRule, createRule: collection.createRule, updateRule: collection.updateRule, deleteRule: collection.deleteRule });

export function RulesTab({ tenant, collections, collection }: TenantProps & { readonly collection: CollectionDefinition }) {
  const draft = useSignal<Draft>(draftOf(collection));
  const changed = rules.filter(({ name }) => draft.value[name] !== collection[name]);
  useUnsaved(changed.length > 0);
  const userFields = collections.find((item) => item.name === "users")?.fields ?? [];
  const submit = useSubmit(async () => {
    const saved = await manage.updateCollection(tenant, collection.name, Object.fromEntries(changed.map(({ name }) => [name, draft.value[name]])));
    keepCollection(saved);
    draft.value = draftOf(saved);
    say("The rules are saved. They count from the next request.");
  });
  return (
    <>
      <Card>
        <p class="muted">Rules decide what users, guests and API keys may do. Superadmins and keys that bypass rules are not asked.</p>
        <form onSubmit={submit.run}>
          {rules.map(({ name, title, text }) => (
            <RuleEditor
              key={name}
              name={name}
              title={title}
              text={text}
              value={draft.value[name]}
              onChange={(value) => { draft.value = { ...draft.value, [name]: value }; }}
              collection={collection}
              userFields={userFields}
              error={submit.error(name)}
            />
          ))}
          <FormEnd submit={submit} text="Save the rules" disabled={changed.length === 0} cancel="Undo the changes" onCancel={() => { draft.value = draftOf(collection); submit.clear(); }} />
        </form>
      </Card>
      <TryRule tenant={tenant} collection={collection} unsaved={changed.length > 0} />
      <Grammar />
    </>
  );
}

function RuleEditor(props: {
  readonly name: RuleName;
  readonly title: string;
  readonly text: string;
  readonly value: string | null;
  readonly onChange: (value: string | null) => void;
  readonly collection: CollectionDefinition;
  readonly userFields: CollectionDefinition["fields"];
  readonly error: string | undefined;
}) {
  const presets = presetsFor(props.name, props.collection.name === "users");
  const custom = useSignal(false);
  const match = custom.value ? undefined : presets.find((preset) => preset.rule === props.value);
  const usable = presets.filter((preset) => {
    if (preset.name === "Own records" && props.collection.name !== "users") return props.collection.fields.some((field) => field.name === "owner");
    if (preset.name === "Group peers") return [props.collection.fields, props.userFields].every((fields) => fields.some((field) => field.name === "group"));
    return true;
  });
  return (
    <div class="rule">
      <div class="rule-head">
        <div>
          <h2>{props.title}</h2>
          <p class="hint">{props.text}</p>
        </div>
        <SelectField
          label={`${props.title}: preset`}
          labelHidden
          value={match?.name ?? "custom"}
          choices={[...presets.filter((preset) => usable.includes(preset) || preset === match).map((preset) => ({ value: preset.name, text: preset.name })), { value: "custom", text: "Own expression" }]}
          onChange={(value) => {
            custom.value = value === "custom";
            const preset = presets.find((item) => item.name === value);
            if (preset !== undefined) props.onChange(preset.rule);
            else if (props.value === null) props.onChange("");
          }}
        />
      </div>
      {props.value === null ? <p class="hint">{presets[0]?.description}</p> : (
        <RuleInput
          label={`${props.title} rule`}
          labelHidden
          value={props.value}
          onInput={props.onChange}
          subject={{ collection: props.collection, userFields: props.userFields, usage: usageOf[props.name] }}
          error={props.error}
          hint={match?.description}
          placeholder="owner = @auth.id"
        />
      )}
    </div>
  );
}

const examples: readonly (readonly [string, string])[] = [
  ["owner = @auth.id", "the record belongs to the caller"],
  ['status in ["open", "new"] && !archived', "one of several values, and a flag that is off"],
  ["@auth.emailVerified && @auth.id in members", "the caller stands in a list of a JSON field"],
  ["publishedAt <= @now", "the time has come"],
  ["owner = @auth.id && !@changed.owner", "update: the owner stays"],
  ["meta.color = null", "a member of a JSON field is absent"],
];

function Grammar() {
  return (
    <details>
      <summary>How a rule is written</summary>
      <div class="stack">
        <dl class="facts">
          {examples.map(([rule, text]) => (
            <>
              <dt><code>{rule}</code></dt>
              <dd>{text}</dd>
            </>
          ))}
        </dl>
        <p class="muted">Operators: <code>= != &lt; &lt;= &gt; &gt;= ~ !~ in && || !</code> and parentheses. Values: text in quotes, numbers, <code>true</code>, <code>false</code>, <code>null</code>, lists in brackets. No value is converted: <code>"1" = 1</code> is false.</p>
      </div>
    </details>
  );
}
