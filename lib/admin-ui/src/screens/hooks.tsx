// Hooks: the list, the editor of one, and what was delivered.
import { manage } from "../api/service.js";
import type { HookEntry } from "../api/types.js";
import type { TenantProps } from "../work.js";
import { LinkButton } from "../kit/button.js";
import { Badge, Empty, Loaded, Page, Tabs } from "../kit/page.js";
import { Table } from "../kit/table.js";
import { link, route } from "../state/route.js";
import { useResource } from "../state/resource.js";
import { HookEditor } from "./hook-editor.js";
import { Deliveries, HookLog } from "./hook-log.js";

export function HooksScreen(props: TenantProps) {
  const { tenant } = props;
  const place = route.value.segments[3];
  const hooks = useResource((signal) => manage.hooks(tenant, signal), [tenant.id], { keep: true });
  const path = ["t", tenant.slug, "hooks"];
  if (place !== undefined && place !== "log" && place !== "pending") {
    const hook = place === "new" ? null : hooks.data?.find((item) => item.id === place);
    const title = place === "new" ? "New hook" : hook === undefined || hook === null ? "Hook" : `${hook.event} hook`;
    return (
      <Page title={title} context={tenant.name} lead={<a href={link(path)}>All hooks</a>}>
        <Loaded resource={hooks} what="the hook">
          {() => hook === undefined
            ? <Empty icon="hook" title="There is no such hook" action={<LinkButton href={link(path)}>All hooks</LinkButton>} />
            : <HookEditor key={place} {...props} hook={hook} onChanged={hooks.reload} />}
        </Loaded>
      </Page>
    );
  }
  const add = <LinkButton kind="primary" icon="plus" href={link([...path, "new"])}>New hook</LinkButton>;
  return (
    <Page
      title="Hooks"
      context={tenant.name}
      lead="Calls to your own servers: before-hooks may refuse or change a request, after-hooks tell what happened."
      actions={(hooks.data?.length ?? 0) > 0 ? add : undefined}
      tabs={<Tabs label="Parts of hooks" tabs={[
        { href: link(path), text: "Hooks", current: place === undefined },
        { href: link([...path, "log"]), text: "Calls", current: place === "log" },
        { href: link([...path, "pending"]), text: "Not delivered", current: place === "pending" },
      ]} />}
    >
      {place === "log" && <HookLog tenant={tenant} hooks={hooks.data ?? []} hookId={route.value.query.get("hookId")} />}
      {place === "pending" && <Deliveries tenant={tenant} hooks={hooks.data ?? []} />}
      {place === undefined && (
        <Loaded resource={hooks} what="the hooks">
          {(list) => list.length === 0
            ? <Empty icon="hook" title="No hook yet" action={add}><p>A hook calls an address of yours when something happens: to check an order before it is stored, or to send a mail after.</p></Empty>
            : (
              <Table label="Hooks" columns={["Event", "Collection", "Address", { id: "priority", title: "Priority", numeric: true }, "State"]}>
                {[...list].sort(order).map((hook) => (
                  <tr key={hook.id}>
                    <th scope="row"><a href={link([...path, hook.id])}>{hook.event}</a></th>
                    <td>{hook.collection ?? <span class="muted">{matchText(hook)}</span>}</td>
                    <td class="cell"><code>{hook.method} {hook.url}</code></td>
                    <td class="numeric">{hook.priority}</td>
                    <td>{hook.enabled ? <Badge tone="good">on</Badge> : <Badge>off</Badge>}{hook.failOpen && <> <Badge tone="warn">fails open</Badge></>}</td>
                  </tr>
                ))}
              </Table>
            )}
        </Loaded>
      )}
    </Page>
  );
}

const order = (left: HookEntry, right: HookEntry) => (left.collection ?? "").localeCompare(right.collection ?? "") || left.event.localeCompare(right.event) || left.priority - right.priority;

function matchText({ match }: HookEntry): string {
  const collections = match?.collections ?? [];
  const methods = match?.methods ?? [];
  return `${methods.length === 0 ? "" : `${methods.join(", ")} on `}${collections.length === 0 ? "every collection" : collections.join(", ")}`;
}
