// The API of one collection: samples with its own names and a real id, for curl, fetch and the client.
import { useSignal } from "../state/signal.js";
import { mountUrl } from "../api/http.js";
import { data } from "../api/service.js";
import type { Field, Json } from "../api/types.js";
import { Button } from "../kit/button.js";
import { Code } from "../kit/copy.js";
import { Card } from "../kit/page.js";
import { recall, remember } from "../state/memory.js";
import { useResource } from "../state/resource.js";
import type { CollectionProps } from "./collection.js";
import { sampleIn, type Language, type Sample } from "./samples.js";

const languages: readonly { readonly id: Language; readonly text: string }[] = [{ id: "curl", text: "curl" }, { id: "fetch", text: "fetch" }, { id: "client", text: "records-service/client" }];

export function ApiTab({ tenant, collection }: CollectionProps) {
  const stored = recall("language");
  const language = useSignal<Language>(stored === "fetch" || stored === "client" ? stored : "curl");
  const first = useResource(async (signal) => (await data.list(tenant, collection.name, { limit: 1 }, signal)).items[0] ?? null, [collection.id]);
  const id = first.data?.id ?? "RECORD_ID";
  const fields = collection.fields.filter((field) => field.type !== "FILE" && !(collection.system && field.name === "role"));
  const example = Object.fromEntries(fields.slice(0, 6).map((field) => [field.name, exampleOf(field)]));
  const change = Object.fromEntries(Object.entries(example).filter(([name]) => !collection.system || name !== "password").slice(0, 1));
  const sortable = fields.find((field) => field.type !== "JSON" && field.name !== "password")?.name ?? "createdAt";
  const filterable = fields.find((field) => (field.type === "TEXT" || field.type === "SELECT") && field.name !== "password");
  const context = { base: mountUrl.href.replace(/\/$/, ""), tenant: tenant.slug, collection: collection.name };
  const samples: readonly (readonly [string, string, Sample])[] = [
    ["Sign in", "Users sign in once; the access token goes with each request. A public collection needs none, only the tenant's name.", { kind: "login" }],
    ["List", `The listRule decides which records come. At most 100 at a time; cursor goes on.`, { kind: "list", query: { limit: "25", sort: `${sortable}:asc`, ...(filterable === undefined ? {} : { where: `${filterable.name} ~ "part"` }) } }],
    ["Read one", "The viewRule decides.", { kind: "view", id }],
    ["Create", "The createRule decides. The answer is the record, with its id.", { kind: "create", body: example }],
    ["Change", "The updateRule decides. Only what is sent changes.", { kind: "update", id, body: change }],
    ["Delete", "The deleteRule decides.", { kind: "delete", id }],
    ...collection.fields.filter((field) => field.type === "FILE").map((field): readonly [string, string, Sample] => [`File ${field.name}`, "Uploaded as multipart; the record's answer has the address to download it.", { kind: "file", id, field: field.name }]),
    ...(collection.realtime ? [["Live changes", "A stream of the changes that the viewRule lets the caller see.", { kind: "live" }] as const] : []),
  ];
  return (
    <>
      <div class="row" role="group" aria-label="Language of the samples">
        {languages.map((item) => <Button key={item.id} pressed={language.value === item.id} onClick={() => { language.value = item.id; remember("language", item.id); }}>{item.text}</Button>)}
      </div>
      {samples.map(([title, text, sample]) => (
        <Card key={title} title={title}>
          <p class="muted">{text}</p>
          <Code what={`${title} sample`} text={sampleIn(language.value, sample, context)} />
        </Card>
      ))}
    </>
  );
}

function exampleOf(field: Field): Json {
  switch (field.type) {
    case "NUMBER": return field.min ?? (field.integer ? 1 : 1.5);
    case "BOOLEAN": return true;
    case "DATE": return "2026-01-31T10:00:00.000Z";
    case "EMAIL": return "ada@example.com";
    case "URL": return "https://example.com/";
    case "SELECT": return field.values[0] ?? "value";
    case "RELATION": return `ID_OF_${field.collection.toUpperCase()}`;
    case "JSON": return { key: "value" };
    default: return field.name === "password" ? "at least 16 characters" : field.name === "username" ? "ada" : `A ${field.name}`;
  }
}
