// Figures: what this process counts of requests and hooks as they happen.
import type { HookLogEntry } from "../hooks/log-entry.js";
import { createSamples, type Percentiles } from "./samples.js";

export interface AnsweredRequest {
  readonly method: string;
  /** Below the mount path, without the query. */
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
}

export type CalledHook = Pick<HookLogEntry, "event" | "outcome" | "durationMs">;

export interface Figures {
  request(request: AnsweredRequest): void;
  hook(hook: CalledHook): void;
  /** Tells of every event from now on. */
  watch(watcher: { request(request: AnsweredRequest & { readonly group: string }): void; hook(hook: CalledHook): void }): void;
  read(): FiguresRead;
}

export interface FiguresRead {
  readonly requests: {
    readonly total: number;
    readonly succeeded: number;
    /** 400 to 499. */
    readonly refused: number;
    /** 500 and above. */
    readonly failed: number;
    /** Of the latest thousand, milliseconds. */
    readonly latencyMs: Percentiles;
  };
  readonly hooks: {
    readonly calls: number;
    readonly rejected: number;
    /** Those that failed open are among them. */
    readonly failed: number;
    /** Of the latest thousand, milliseconds. */
    readonly latencyMs: Percentiles;
  };
}

export function createFigures(): Figures {
  const requestTimes = createSamples();
  const hookTimes = createSamples();
  const watchers: Parameters<Figures["watch"]>[0][] = [];
  const requests = { total: 0, succeeded: 0, refused: 0, failed: 0 };
  const hooks = { calls: 0, rejected: 0, failed: 0 };

  return {
    request(request) {
      const { status, durationMs } = request;
      requests.total += 1;
      if (status >= 500) requests.failed += 1;
      else if (status >= 400) requests.refused += 1;
      else requests.succeeded += 1;
      requestTimes.add(durationMs);
      if (watchers.length === 0) return;
      const group = groupOf(request.path);
      for (const watcher of watchers) watcher.request({ ...request, group });
    },
    hook(hook) {
      hooks.calls += 1;
      if (hook.outcome === "rejected") hooks.rejected += 1;
      if (hook.outcome === "failed" || hook.outcome === "failedOpen") hooks.failed += 1;
      hookTimes.add(hook.durationMs);
      for (const watcher of watchers) watcher.hook(hook);
    },
    watch: (watcher) => void watchers.push(watcher),
    read: () => ({ requests: { ...requests, latencyMs: requestTimes.percentiles() }, hooks: { ...hooks, latencyMs: hookTimes.percentiles() } }),
  };
}

/** The group of routes that a path belongs to: few, whatever clients ask for. */
export function groupOf(path: string): string {
  const match = /^\/api\/(collections|auth|realtime|admin|meta|batch|files)(?:\/|$)/.exec(path);
  if (match === null) return "other";
  if (match[1] !== "collections") return match[1]!;
  return /^\/api\/collections\/[^/]+\/[^/]+\/files\//.test(path) ? "files" : "records";
}
