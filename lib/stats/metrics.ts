// Metrics for Prometheus: the figures and stats of this process, in a registry of its own. The only user of
// prom-client, which is loaded where metrics are asked for and nowhere else.
import type { Figures } from "./figures.js";
import type { StatsReader } from "./stats.js";

export interface Metrics {
  /** Loads the library; what happens before is not counted. */
  open(): Promise<void>;
  /** The exposition text and its media type. */
  read(): Promise<{ readonly type: string; readonly text: string }>;
}

/** Seconds. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const prefix = "records_";

export function createMetrics({ figures, stats }: { readonly figures: Figures; readonly stats: StatsReader }): Metrics {
  let opening: ReturnType<typeof load> | undefined;

  async function load() {
    const { Counter, Gauge, Histogram, Registry } = await import("prom-client");
    const registry = new Registry();
    const registers = [registry];
    const requests = new Histogram({ name: `${prefix}http_request_duration_seconds`, help: "Requests by group of routes, method and status", labelNames: ["group", "method", "status"], buckets, registers });
    const hooks = new Histogram({ name: `${prefix}hook_duration_seconds`, help: "Hook calls by event and outcome", labelNames: ["event", "outcome"], buckets, registers });
    const cpu = new Counter({ name: "process_cpu_seconds_total", help: "CPU time of the process, user and system", registers });
    figures.watch({
      request: ({ group, method, status, durationMs }) => requests.observe({ group, method: knownMethod(method), status: String(status) }, durationMs / 1_000),
      hook: ({ event, outcome, durationMs }) => hooks.observe({ event, outcome }, durationMs / 1_000),
    });
    const gauge = (name: string, help: string): { set(value: number | null): void } => {
      const found = new Gauge({ name, help, registers });
      return { set: (value) => (value === null ? found.remove() : found.set(value)) };
    };
    const own = {
      inFlight: gauge(`${prefix}http_requests_in_flight`, "Requests under way"),
      streams: gauge(`${prefix}realtime_streams`, "Open realtime streams"),
      subscribed: gauge(`${prefix}realtime_streams_subscribed`, "Realtime streams with a subscription"),
      cutOff: gauge(`${prefix}realtime_streams_cut_off`, "Realtime streams cut off since the start because nobody read them"),
      slots: gauge(`${prefix}hashing_slots`, "Slots of password hashing"),
      busy: gauge(`${prefix}hashing_slots_busy`, "Slots of password hashing in use"),
      waiting: gauge(`${prefix}hashing_waiting`, "Requests that wait for a slot"),
      tenants: gauge(`${prefix}tenants`, "Tenants"),
      users: gauge(`${prefix}users`, "Accounts of all tenants"),
      records: gauge(`${prefix}records`, "Records of all tenants"),
      bytes: gauge(`${prefix}database_bytes`, "Size of all databases"),
      memory: gauge("process_resident_memory_bytes", "Resident memory of the process"),
      heap: gauge("nodejs_heap_size_used_bytes", "Heap in use"),
      started: gauge("process_start_time_seconds", "Start of the process, Unix time"),
    };
    let cpuSeconds = 0;

    return {
      registry,
      async refresh(): Promise<void> {
        const now = await stats.read();
        own.inFlight.set(now.requests.inFlight);
        own.streams.set(now.streams.streams);
        own.subscribed.set(now.streams.subscribed);
        own.cutOff.set(now.streams.cutOff);
        own.slots.set(now.hashing.size);
        own.busy.set(now.hashing.busy);
        own.waiting.set(now.hashing.waiting);
        own.tenants.set(now.stored.tenants);
        own.users.set(now.stored.users);
        own.records.set(now.stored.records);
        own.bytes.set(now.stored.databaseBytes);
        own.memory.set(now.process.memoryBytes);
        own.heap.set(now.process.heapBytes);
        own.started.set(Math.round(performance.timeOrigin / 1_000));
        cpu.inc(Math.max(0, now.process.cpuSeconds - cpuSeconds));
        cpuSeconds = now.process.cpuSeconds;
      },
    };
  }

  return {
    async open() {
      opening ??= load();
      await opening;
    },
    async read() {
      const { registry, refresh } = await (opening ??= load());
      await refresh();
      return { type: registry.contentType, text: await registry.metrics() };
    },
  };
}

/** A client may send any method. */
function knownMethod(method: string): string {
  return ["GET", "HEAD", "POST", "PATCH", "DELETE", "PUT", "OPTIONS"].includes(method) ? method : "other";
}
