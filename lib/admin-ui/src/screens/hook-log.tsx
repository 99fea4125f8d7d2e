// The calls of hooks, newest first, and the deliveries that have not arrived.
import { useSignal } from "../state/signal.js";
import { manage } from "../api/service.js";
import type { HookEntry, HookLogEntry, Tenant } from "../api/types.js";
import { Button } from "../kit/button.js";
import { SelectField } from "../kit/field.js";
import { formatAgo, formatExactTime, formatMs } from "../kit/format.js";
import { Badge, Empty, Loaded } from "../kit/page.js";
import { actionsColumn, Table } from "../kit/table.js";
import { say } from "../kit/toast.js";
import { messageOf } from "../api/http.js";
import { link, setQuery } from "../state/route.js";
import { useResource } from "../state/resource.js";
import { LogPager, useLog } from "./log-pages.js";

const tones: Readonly<Record<HookLogEntry["outcome"], "good" | "info" | "warn" | "bad">> = { allowed: "good", delivered: "good", modified: "info", rejected: "warn", failedOpen: "warn", failed: "bad" };
const words: Readonly<Record<HookLogEntry["outcome"], string>> = { allowed: "allowed", delivered: "delivered", modified: "changed the body", rejected: "refused", failedOpen: "failed, let through", failed: "failed" };

const choices = (hooks: readonly HookEntry[]) => [{ value: "", text: "All hooks" }, ...hooks.map((hook) => ({ value: hook.id, text: `${hook.event}${hook.collection === null ? "" : ` on ${hook.collection}`}: ${hook.url}` }))];

export function HookLog({ tenant, hooks, hookId }: { readonly tenant: Tenant; readonly hooks: readonly HookEntry[]; readonly hookId: string | null }) {
  const log = useLog((cursor, signal) => manage.hookLog(tenant, { limit: 50, cursor, hookId }, signal), [tenant.id, hookId]);
  return (
    <>
      <div class="form-row"><SelectField label="Hook" value={hookId ?? ""} choices={choices(hooks)} onChange={(value) => setQuery({ hookId: value })} /></div>
      <Loaded resource={log} what="the calls">
        {(entries) => entries.length === 0
          ? <Empty icon="log" title="No call yet"><p>Each call of a hook is kept here: when, how long, and how it ended. Never what was in it.</p></Empty>
          : (
            <>
              <Table label="Calls of hooks" busy={log.loading} columns={["When", "Event", "Outcome", { id: "status", title: "Status", numeric: true }, { id: "took", title: "Took", numeric: true }, { id: "attempt", title: "Attempt", numeric: true }, actionsColumn]}>
                {entries.map((entry) => (
                  <tr key={entry.id}>
                    <td class="narrow"><time dateTime={entry.startedAt} title={formatExactTime(entry.startedAt)}>{formatAgo(entry.startedAt)}</time></td>
                    <th scope="row">{entry.hookId === null ? <span title="A handler in the host's own code">{entry.event}</span> : <a href={link(["t", tenant.slug, "hooks", entry.hookId])}>{entry.event}</a>}{entry.collection !== null && <span class="muted"> {entry.collection}</span>}</th>
                    <td><Badge tone={tones[entry.outcome]}>{words[entry.outcome]}</Badge></td>
                    <td class="numeric">{entry.status ?? "–"}</td>
                    <td class="numeric">{formatMs(entry.durationMs)}</td>
                    <td class="numeric">{entry.attempt}</td>
                    <td class="narrow">
                      <div class="row">
                        <a href={link(["t", tenant.slug, "log"], { requestId: entry.requestId })}>Request</a>
                        {entry.hookId !== null && entry.event.startsWith("after") && entry.outcome !== "delivered" && <Redeliver tenant={tenant} id={entry.id} onDone={log.reload} />}
                      </div>
                    </td>
                  </tr>
                ))}
              </Table>
              <LogPager log={log} />
            </>
          )}
      </Loaded>
    </>
  );
}

function Redeliver({ tenant, id, onDone }: { readonly tenant: Tenant; readonly id: string; readonly onDone: () => void }) {
  const busy = useSignal(false);
  const send = async () => {
    busy.value = true;
    try {
      await manage.redeliver(tenant, id);
      say("It is sent again, with the same delivery id.");
      onDone();
    } catch (error) {
      say(messageOf(error), { kind: "wrong" });
    } finally {
      busy.value = false;
    }
  };
  return <Button small icon="refresh" busy={busy.value} onClick={() => void send()}>Send again</Button>;
}

const states = [{ value: "dead", text: "Given up" }, { value: "waiting", text: "Waiting for the next attempt" }, { value: "pending", text: "Being sent" }];

export function Deliveries({ tenant, hooks }: { readonly tenant: Tenant; readonly hooks: readonly HookEntry[] }) {
  const state = useSignal("dead");
  const list = useResource((signal) => manage.deliveries(tenant, { state: state.value, limit: 50 }, signal), [tenant.id, state.value], { keep: true });
  const urlOf = (id: string) => hooks.find((hook) => hook.id === id)?.url ?? "a hook that is gone";
  return (
    <>
      <div class="form-row"><SelectField label="State" value={state.value} choices={states} onChange={(value) => { state.value = value; }} /></div>
      <Loaded resource={list} what="the deliveries">
        {({ items }) => items.length === 0
          ? <Empty icon="check" title="Nothing here"><p>{state.value === "dead" ? "No delivery was given up. After five failed attempts one would stand here, to be sent again." : "No delivery is in this state."}</p></Empty>
          : (
            <Table label="Deliveries that have not arrived" busy={list.loading} columns={["From", "Event", "Address", { id: "attempt", title: "Attempts", numeric: true }, actionsColumn]}>
              {items.map((item) => (
                <tr key={item.id}>
                  <td class="narrow">{formatAgo(item.createdAt)}</td>
                  <th scope="row">{item.event} <span class="muted">{item.collection}</span></th>
                  <td class="cell"><code>{urlOf(item.hookId)}</code></td>
                  <td class="numeric">{item.attempt}</td>
                  <td class="narrow"><Redeliver tenant={tenant} id={item.id} onDone={list.reload} /></td>
                </tr>
              ))}
            </Table>
          )}
      </Loaded>
    </>
  );
}
