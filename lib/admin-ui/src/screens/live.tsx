// The changes of a collection as they happen. A lost connection comes back by itself and goes on where it stopped.
import { useSignal } from "../state/signal.js";
import { useEffect, useRef } from "preact/hooks";
import { addressOf, messageOf } from "../api/http.js";
import { data } from "../api/service.js";
import type { RecordBody } from "../api/types.js";
import { Button } from "../kit/button.js";
import { formatExactTime } from "../kit/format.js";
import { Badge, Empty, Failure } from "../kit/page.js";
import { link } from "../state/route.js";
import type { CollectionProps } from "./collection.js";
import { titleOf } from "./record-values.js";

interface Change {
  readonly id: string;
  readonly action: "create" | "update" | "delete";
  readonly record: RecordBody;
  readonly at: string;
}

type State = "connecting" | "live" | "lost";
const most = 200;
const tones = { create: "good", update: "info", delete: "bad" } as const;
const words = { create: "created", update: "updated", delete: "deleted" } as const;

export function LiveTab({ tenant, collection }: CollectionProps) {
  const state = useSignal<State>("connecting");
  const failure = useSignal<string | null>(null);
  const changes = useSignal<readonly Change[]>([]);
  const waiting = useSignal<readonly Change[]>([]);
  const paused = useSignal(false);
  const missed = useSignal(false);
  const attempt = useSignal(0);
  const last = useRef<string | null>(null);
  useEffect(() => {
    const source = new EventSource(addressOf("/api/realtime"));
    state.value = "connecting";
    failure.value = null;
    const subscribe = async (event: MessageEvent<string>) => {
      const { clientId } = JSON.parse(event.data) as { clientId: string };
      try {
        await data.subscribe(tenant, { clientId, subscriptions: [collection.name], ...(last.current === null ? {} : { since: last.current }) });
        state.value = "live";
      } catch (error) {
        failure.value = messageOf(error);
        source.close();
      }
    };
    source.addEventListener("connect", (event) => void subscribe(event as MessageEvent<string>));
    source.addEventListener("resync", () => { missed.value = true; });
    source.addEventListener(collection.name, (event) => {
      const message = event as MessageEvent<string>;
      last.current = message.lastEventId === "" ? last.current : message.lastEventId;
      const change = { ...(JSON.parse(message.data) as Pick<Change, "action" | "record">), id: message.lastEventId, at: new Date().toISOString() };
      const list = paused.value ? waiting : changes;
      list.value = [change, ...list.value].slice(0, most);
    });
    source.addEventListener("error", () => {
      if (source.readyState !== EventSource.CLOSED) state.value = "lost";
      else failure.value ??= "The stream was closed by the service.";
    });
    return () => source.close();
  }, [tenant.id, collection.name, attempt.value]);
  const resume = () => {
    paused.value = false;
    changes.value = [...waiting.value, ...changes.value].slice(0, most);
    waiting.value = [];
  };
  return (
    <>
      <div class="row spread">
        <p role="status" class="row">
          <Badge tone={state.value === "live" ? "good" : "warn"}>{state.value === "live" ? "live" : state.value === "lost" ? "connection lost, trying again" : "connecting"}</Badge>
          <span class="muted">{paused.value ? `Paused; ${waiting.value.length} waiting` : "Changes appear as they happen, newest first."}</span>
        </p>
        <div class="row">
          {paused.value ? <Button onClick={resume}>Go on</Button> : <Button onClick={() => { paused.value = true; }}>Pause</Button>}
          <Button disabled={changes.value.length === 0} onClick={() => { changes.value = []; }}>Clear</Button>
        </div>
      </div>
      {failure.value !== null && <Failure message={failure.value} onRetry={() => { attempt.value += 1; }} />}
      {missed.value && <p class="note warn">Some changes happened while the connection was lost and are no longer kept. The list below has a gap.</p>}
      {changes.value.length === 0
        ? <Empty icon="live" title="Waiting for a change"><p>Create, change or delete a record of {collection.name}, here or in an app, and it appears.</p></Empty>
        : (
          <ul class="events">
            {changes.value.map((change) => (
              <li class="event" key={`${change.id} ${change.at}`}>
                <div class="row spread">
                  <span class="row"><Badge tone={tones[change.action]}>{words[change.action]}</Badge> {change.action === "delete" ? <span>{titleOf(collection.fields, change.record)}</span> : <a href={link(["t", tenant.slug, "c", collection.name, "r", change.record.id])}>{titleOf(collection.fields, change.record)}</a>}</span>
                  <time class="muted small-text" dateTime={change.at}>{formatExactTime(change.at)}</time>
                </div>
                <details><summary>The record</summary><pre tabIndex={0}><code>{JSON.stringify(change.record, null, 2)}</code></pre></details>
              </li>
            ))}
          </ul>
        )}
    </>
  );
}
