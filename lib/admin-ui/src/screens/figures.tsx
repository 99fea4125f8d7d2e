// Health and figures of the whole service, loaded again while one looks at them.
import { useEffect } from "preact/hooks";
import type { Stats } from "../../../stats/stats.js";
import { ApiError } from "../api/http.js";
import { manage } from "../api/service.js";
import { Button } from "../kit/button.js";
import { Bars, Figure } from "../kit/chart.js";
import { formatBytes, formatCount, formatMs } from "../kit/format.js";
import { Badge, Card, Failure, Loaded, Page } from "../kit/page.js";
import { useResource } from "../state/resource.js";
import { useSignal } from "../state/signal.js";

const interval = 5000;
const kept = 40;

interface Sample {
  readonly at: string;
  readonly stats: Stats;
}

export function FiguresScreen() {
  const health = useResource(async (signal) => {
    try {
      return await manage.health(signal);
    } catch (error) {
      // A degraded service answers 503 with the same body.
      if (error instanceof ApiError && error.status === 503) return { db: false, status: "degraded" };
      throw error;
    }
  }, [], { keep: true });
  const stats = useResource(manage.stats, [], { keep: true });
  const history = useSignal<readonly Sample[]>([]);
  const reload = () => {
    health.reload();
    stats.reload();
  };
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) reload();
    }, interval);
    return () => clearInterval(timer);
  }, []);
  useEffect(() => {
    if (stats.data !== undefined) history.value = [...history.value.slice(1 - kept), { at: new Date().toLocaleTimeString(), stats: stats.data }];
  }, [stats.data]);
  return (
    <Page title="Health and figures" lead="Of this process, every five seconds." actions={<Button icon="refresh" onClick={reload}>Load again</Button>}>
      {health.error !== undefined && <Failure message={health.error.message} onRetry={health.reload} />}
      {health.data !== undefined && <p class="row" role="status"><Badge tone={health.data.status === "ok" ? "good" : "bad"}>{health.data.status}</Badge><span>{health.data.db ? "The service runs and its database answers." : "The database cannot be reached: requests are refused until it is back."}</span></p>}
      <Loaded resource={stats} what="the figures">{(now) => <All stats={now} history={history.value} />}</Loaded>
    </Page>
  );
}

function All({ stats, history }: { readonly stats: Stats; readonly history: readonly Sample[] }) {
  const { requests, hooks, streams, hashing, stored, process } = stats;
  const over = (read: (stats: Stats) => number) => history.map(({ at, stats: then }) => ({ label: at, value: read(then) }));
  // A count that only grows is drawn by what came since the sample before.
  const since = (read: (stats: Stats) => number, bad: (stats: Stats) => number) => history.slice(1).map(({ at, stats: then }, index) => {
    const before = history[index]?.stats ?? then;
    return { label: at, value: Math.max(0, read(then) - read(before)), bad: Math.max(0, bad(then) - bad(before)) };
  });
  return (
    <>
      <Card title="Requests">
        <dl class="figures">
          <Figure label="Answered" value={formatCount(requests.total)} />
          <Figure label="Refused" value={formatCount(requests.refused)} note="400 to 499" />
          <Figure label="Failed" value={formatCount(requests.failed)} note="500 and above" />
          <Figure label="Time, median" value={shownMs(requests.latencyMs.p50)} note={`99 of 100 within ${shownMs(requests.latencyMs.p99)}`} />
        </dl>
        <Bars label="Requests in five seconds" unit="requests" bars={since((then) => then.requests.total, (then) => then.requests.failed)} />
      </Card>
      <Card title="Hooks, streams and hashing">
        <dl class="figures">
          <Figure label="Hook calls" value={formatCount(hooks.calls)} note={`${formatCount(hooks.rejected)} refused, ${formatCount(hooks.failed)} failed`} />
          <Figure label="Hook time, median" value={shownMs(hooks.latencyMs.p50)} note={`99 of 100 within ${shownMs(hooks.latencyMs.p99)}`} />
          <Figure label="Open streams" value={formatCount(streams.streams)} note={`${formatCount(streams.subscribed)} subscribed`} />
          <Figure label="Hashing slots in use" value={`${hashing.busy} of ${hashing.size}`} note={`${hashing.waiting} waiting`} share={hashing.busy / Math.max(1, hashing.size)} />
        </dl>
        <Bars label="Open streams" unit="streams" bars={over((then) => then.streams.streams)} />
      </Card>
      <Card title="What is stored">
        <dl class="figures">
          <Figure label="Tenants" value={formatCount(stored.tenants)} />
          <Figure label="Collections" value={counted(stored.collections)} />
          <Figure label="Records" value={counted(stored.records)} />
          <Figure label="Users" value={counted(stored.users)} />
          <Figure label="Databases" value={stored.databaseBytes === null ? "not counted" : formatBytes(stored.databaseBytes)} note="without files" />
        </dl>
      </Card>
      <Card title="This process">
        <dl class="figures">
          <Figure label="Running for" value={duration(stats.uptimeSeconds)} />
          <Figure label="Memory" value={formatBytes(process.memoryBytes)} note={`${formatBytes(process.heapBytes)} of it heap`} />
          <Figure label="Processor time" value={duration(process.cpuSeconds)} />
        </dl>
        <Bars label="Memory, MiB" unit="MiB" bars={over((then) => Math.round(then.process.memoryBytes / 1_048_576))} />
      </Card>
    </>
  );
}

const shownMs = formatMs;
const counted = (value: number | null) => (value === null ? "too many to count" : formatCount(value));

function duration(seconds: number): string {
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor((seconds % 86_400) / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  return days > 0 ? `${days} d ${hours} h` : hours > 0 ? `${hours} h ${minutes} min` : minutes > 0 ? `${minutes} min` : `${Math.round(seconds)} s`;
}
