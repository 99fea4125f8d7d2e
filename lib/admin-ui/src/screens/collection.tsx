// One collection: its tabs, and the one that the address names.
import type { CollectionDefinition } from "../api/types.js";
import type { TenantProps } from "../work.js";
import { Empty, Page, Tabs } from "../kit/page.js";
import { link, route } from "../state/route.js";
import { ApiTab } from "./api-preview.js";
import { LiveTab } from "./live.js";
import { RecordsTab } from "./records.js";
import { RulesTab } from "./rules.js";
import { SchemaTab } from "./schema.js";
import { TransferTab } from "./transfer.js";

export interface CollectionProps extends TenantProps {
  readonly collection: CollectionDefinition;
}


export function CollectionScreen(props: CollectionProps) {
  const { tenant, collection } = props;
  const place = route.value.segments[4] ?? "r";
  const tabs: readonly (readonly [string, string])[] = [
    ["r", collection.system ? "Accounts" : "Records"],
    ["schema", "Schema"],
    ["rules", "Rules"],
    ["api", "API"],
    ...(collection.system ? [] : ([["live", "Live"], ["transfer", "Import and export"]] as const)),
  ];
  return (
    <Page
      title={collection.system ? "Users" : collection.name}
      context={`${tabs.find(([id]) => id === place)?.[1] ?? ""} · ${tenant.name}`}
      tabs={<Tabs label={`Parts of ${collection.name}`} tabs={tabs.map(([id, text]) => ({ href: link(["t", tenant.slug, "c", collection.name, ...(id === "r" ? [] : [id])]), text, current: id === place }))} />}
    >
      <Tab {...props} place={place} />
    </Page>
  );
}

function Tab(props: CollectionProps & { readonly place: string }) {
  switch (props.place) {
    case "r":
      return <RecordsTab {...props} />;
    case "schema":
      return <SchemaTab {...props} />;
    case "rules":
      return <RulesTab {...props} />;
    case "api":
      return <ApiTab {...props} />;
    case "live":
      return props.collection.realtime
        ? <LiveTab {...props} />
        : <Empty icon="live" title="Live changes are off" action={<a href={link(["t", props.tenant.slug, "c", props.collection.name, "schema"])}>Switch them on in the schema</a>} />;
    case "transfer":
      return <TransferTab {...props} />;
    default:
      return <Empty icon="warning" title="There is nothing here" />;
  }
}
