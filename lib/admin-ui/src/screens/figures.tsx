// Health and figures of the whole service, loaded again while one looks at them.
import { useSignal } from "../state/signal.js";
import { useEffect } from "preact/hooks";
import { ApiError } from "../api/http.js";
import { manage } from "../api/service.js";
import type { Json, JsonObject } from "../api/types.js";
import { Button } from "../kit/button.js";
import { Bars, Figure, type Bar } from "../kit/chart.js";
import { formatBytes, formatCount, formatMs } from "../kit/format.js";
import { Badge, Card, Failure, Loading, Page } from "../kit/page.js";
import { useResource } from "../state/resource.js";

const interval = 5000;
const kept = 40;

interface Sample {
  readonly at: string;
  readonly figures: ReadonlyMap<string, number>;
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
  const stats = useResource((signal) => manage.stats(signal), [], { keep: true });
  const history = useSignal<readonly Sample[]>([]);
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.hidden) return;
      health.reload();
      stats.reload();
    }, interval);
    return () => clearInterval(timer);
  }, []);
  useEffect(() => {
    if (stats.data !== undefined) history.value = [...history.value.slice(1 - kept), { at: new Date().toLocaleTimeString(), figures: flatten(stats.data) }];
  }, [stats.data]);
  const { data, error } = stats;
  return (
    <Page title="Health and figures" lead="Of this process, every five seconds." actions={<Button icon="refresh" onClick={() => { health.reload(); stats.reload(); }}>Load again</Button>}>
      {health.error !== undefined && <Failure message={health.error.message} onRetry={health.reload} />}
      {health.data !== undefined && <p class="row" role="status"><Badge tone={health.data.status === "ok" ? "good" : "bad"}>{health.data.status}</Badge><span>{health.data.db ? "The service runs and its database answers." : "The database cannot be reached: requests are refused until it is back."}</span></p>}
      {error !== undefined && (error.status === 404 ? <p class="note">This service gives no figures.</p> : <Failure message={error.message} onRetry={stats.reload} />)}
      {data === undefined && error === undefined && <Loading what="the figures" />}
      {data !== undefined && Object.entries(data).filter(([, value]) => isObject(value)).map(([name, value]) => <Group key={name} name={name} value={value as JsonObject} history={history.value} />)}
      {data !== undefined && <Group name="service" value={Object.fromEntries(Object.entries(data).filter(([, value]) => !isObject(value)))} history={[]} />}
    </Page>
  );
}

const isObject = (value: Json | undefined): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);

function Group({ name, value, history }: { readonly name: string; readonly value: JsonObject; readonly history: readonly Sample[] }) {
  const figures = [...flatten(value)];
  if (figures.length === 0) return null;
  const moving = figures.filter(([path]) => new Set(history.map((sample) => sample.figures.get(`${name}.${path}`))).size > 1).slice(0, 3);
  return (
    <Card title={wordsOf(name)}>
      <dl class="figures">{figures.map(([path, number]) => <Figure key={path} label={wordsOf(path)} value={shown(path, number)} share={shareOf(path, number, value)} />)}</dl>
      {moving.length > 0 && <div class="columns">{moving.map(([path]) => <Bars key={path} label={wordsOf(path)} unit="" bars={history.map((sample): Bar => ({ label: sample.at, value: sample.figures.get(`${name}.${path}`) ?? 0 }))} />)}</div>}
    </Card>
  );
}

/** Every number below the object, by its path. */
function flatten(value: JsonObject, prefix = ""): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [name, item] of Object.entries(value)) {
    if (typeof item === "number") found.set(`${prefix}${name}`, item);
    else if (isObject(item)) for (const [path, number] of flatten(item, `${prefix}${name}.`)) found.set(path, number);
  }
  return found;
}

function wordsOf(path: string): string {
  const text = path.replace(/(?:Bytes|Ms|Seconds)$/, "").replace(/\./g, ", ").replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function shown(path: string, value: number): string {
  if (/bytes$/i.test(path)) return formatBytes(value);
  if (/(?:Ms|p50|p95|p99|median|mean)$/.test(path)) return formatMs(value);
  if (/(?:Seconds|uptime)$/.test(path)) return duration(value);
  return formatCount(value);
}

function duration(seconds: number): string {
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor((seconds % 86_400) / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  return days > 0 ? `${days} d ${hours} h` : hours > 0 ? `${hours} h ${minutes} min` : minutes > 0 ? `${minutes} min` : `${Math.round(seconds)} s`;
}

/** How full something is, where the group has a size or a limit beside it. */
function shareOf(path: string, number: number, group: JsonObject): number | undefined {
  const limit = group["size"] ?? group["limit"];
  return /^(?:used|busy|inUse|active)$/.test(path) && typeof limit === "number" && limit > 0 ? number / limit : undefined;
}
