// The request log of a tenant: filters in the address, a chart of what is shown, no bodies and no credentials.
import { bind, useSignal } from "../state/signal.js";
import { useEffect } from "preact/hooks";
import { manage } from "../api/service.js";
import type { RequestLogEntry } from "../api/types.js";
import type { TenantProps } from "../work.js";
import { Button } from "../kit/button.js";
import { Bars, type Bar } from "../kit/chart.js";
import { SelectField, SwitchField, TextField } from "../kit/field.js";
import { formatAgo, formatExactTime, formatMs } from "../kit/format.js";
import { Badge, Empty, Loaded, Page } from "../kit/page.js";
import { Table } from "../kit/table.js";
import { link, route, setQuery } from "../state/route.js";
import { recall, remember } from "../state/memory.js";
import { useResource } from "../state/resource.js";
import { LogPager, useLog } from "./log-pages.js";

const statuses = [
  { value: "", text: "Any status" }, ...[200, 201, 204, 304, 400, 401, 403, 404, 409, 412, 413, 429, 500, 502, 503].map((status) => ({ value: String(status), text: String(status) })),
];

export function LogScreen({ tenant }: TenantProps) {
  const { query } = route.value;
  const status = query.get("status") ?? "";
  const keyId = query.get("keyId") ?? "";
  const requestId = query.get("requestId") ?? "";
  const typed = useSignal(requestId);
  useEffect(() => { typed.value = requestId; }, [requestId]);
  const log = useLog((cursor, signal) => manage.requestLog(tenant, { limit: 100, cursor, status, keyId, requestId }, signal), [tenant.id, status, keyId, requestId]);
  const keys = useResource((signal) => manage.keys(tenant, signal), [tenant.id]);
  const own = useSignal(recall("log.own") === "shown");
  const filtered = status !== "" || keyId !== "" || requestId !== "";
  return (
    <Page title="Request log" context={tenant.name} lead="What was asked and how it ended. Bodies, query values and credentials are never kept.">
      <form class="form-row" role="search" onSubmit={(event) => { event.preventDefault(); setQuery({ requestId: typed.value.trim() }); }}>
        <SelectField label="Status" value={status} choices={statuses} onChange={(value) => setQuery({ status: value })} />
        <SelectField label="API key" value={keyId} choices={[{ value: "", text: "Any caller" }, ...(keys.data ?? []).map((key) => ({ value: key.id, text: key.name }))]} onChange={(value) => setQuery({ keyId: value })} />
        <TextField label="Request id" {...bind(typed)} mono placeholder="from X-Request-Id, then Enter" />
      </form>
      <SwitchField label="Show the superadmin's own requests" checked={own.value} onChange={(shown) => { own.value = shown; remember("log.own", shown ? "shown" : "hidden"); }} />
      <Loaded resource={log} what="the requests">
        {(all) => { const entries = all.filter((entry) => own.value || entry.caller.type !== "superadmin"); return entries.length === 0
          ? <Empty icon="log" title={filtered ? "No request matches" : "No request yet"} action={filtered ? <Button onClick={() => setQuery({ status: null, keyId: null, requestId: null })}>Show all</Button> : undefined}><p>{filtered ? "Change the filters above." : all.length > 0 ? "The newest are all the superadmin's own." : "Requests to this tenant appear here within a moment."}</p>{log.hasMore && <LogPager log={log} />}</Empty>
          : (
            <>
              <Bars label={`Requests, ${entries.length} newest`} bars={toBars(entries)} unit="requests" />
              <Table label="Requests" busy={log.loading} columns={["When", "Request", { id: "status", title: "Status", numeric: true }, { id: "took", title: "Took", numeric: true }, { id: "hooks", title: "In hooks", numeric: true }, "Caller"]}>
                {entries.map((entry) => (
                  <tr key={entry.id}>
                    <td class="narrow"><time dateTime={entry.time} title={formatExactTime(entry.time)}>{formatAgo(entry.time)}</time></td>
                    <th scope="row" class="cell" title={`${entry.path}\nRequest id ${entry.requestId}`}><code>{entry.method} {entry.path}</code></th>
                    <td class="numeric"><Badge tone={entry.status < 400 ? "good" : entry.status < 500 ? "warn" : "bad"}>{entry.status}</Badge></td>
                    <td class="numeric">{formatMs(entry.durationMs)}</td>
                    <td class="numeric">{entry.hookMs === 0 ? "–" : formatMs(entry.hookMs)}</td>
                    <td><Caller entry={entry} slug={tenant.slug} /></td>
                  </tr>
                ))}
              </Table>
              <LogPager log={log} />
            </>
          ); }}
      </Loaded>
    </Page>
  );
}

function Caller({ entry, slug }: { readonly entry: RequestLogEntry; readonly slug: string }) {
  const { caller } = entry;
  return (
    <>
      {caller.type === "user" && caller.id !== null ? <a href={link(["t", slug, "c", "users", "r", caller.id])}>user</a> : caller.type === "apiKey" ? <span>key {caller.keyName}</span> : <span class="muted">{caller.type}</span>}
      {caller.type === "apiKey" && entry.rulesBypassed && <> <Badge tone="warn">no rules</Badge></>}
      {caller.type === "apiKey" && entry.hooksBypassed && <> <Badge tone="warn">no hooks</Badge></>}
      {entry.rejection !== null && <> <Badge tone="bad">{entry.rejection === "source" ? "wrong address" : entry.rejection}</Badge></>}
    </>
  );
}

const columns = 40;

/** The entries in columns of equal time, oldest first. */
function toBars(entries: readonly RequestLogEntry[]): readonly Bar[] {
  const times = entries.map((entry) => Date.parse(entry.time));
  const first = Math.min(...times);
  const step = Math.max(1000, (Math.max(...times) - first) / columns);
  const bars = Array.from({ length: columns }, (_, index) => ({ label: formatExactTime(new Date(first + index * step).toISOString()), value: 0, bad: 0 }));
  entries.forEach((entry, index) => {
    const bar = bars[Math.min(columns - 1, Math.floor(((times[index] ?? first) - first) / step))];
    if (bar === undefined) return;
    bar.value += 1;
    if (entry.status >= 400) bar.bad += 1;
  });
  return bars;
}
