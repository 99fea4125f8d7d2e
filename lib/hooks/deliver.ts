// One HTTP delivery, guarded: addresses checked and pinned, no connection of another tenant's, no redirect, no
// repetition, no decompression, an answer of at most 256 KiB, all within one time-out. The only file that imports got.
import type { LookupAddress } from "node:dns";
import type { LookupFunction, Socket } from "node:net";
import type { IncomingMessage } from "node:http";
import type { Got } from "got";
import { describeError } from "../core/logger.js";
import { within } from "./deadline.js";
import type { Agents } from "./agents.js";
import { isAllowlisted, isPublicAddress, parseTarget, resolveTarget, TargetRefused, type Target } from "./address.js";

export interface DeliveryRequest {
  readonly url: string;
  readonly method: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Milliseconds for everything: resolving, connecting, sending and reading. */
  readonly timeoutMs: number;
  /** The tenant's, exact `host:port` entries. */
  readonly allowlist: readonly string[];
  readonly lookup: LookupFunction | undefined;
  readonly agents: Agents;
  /** The tenant: its connections are never used for another. */
  readonly partition: string;
  /** Whether the answer's body is of interest; without it the status line ends the delivery. */
  readonly readBody: boolean;
  /** Ends the delivery at once, as a failure with reason `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

export type DeliveryResult = DeliveryAnswer | DeliveryFailure;

export interface DeliveryAnswer {
  readonly type: "answer";
  readonly status: number;
  /** Empty where `readBody` was not set. */
  readonly body: string;
  readonly durationMs: number;
}

export interface DeliveryFailure {
  readonly type: "failure";
  /** `refused`: by the address rules, nothing was connected. `unreadable`: too large, or encoded though that was not offered. */
  readonly reason: "refused" | "timeout" | "network" | "unreadable" | "aborted";
  /** Of an answer that had begun. */
  readonly status: number | null;
  /** Code or text for a log and the Test action. */
  readonly detail: string;
  readonly durationMs: number;
}

/** Bytes of an answer that are read. */
export const answerLimit = 262_144;

let loading: Promise<Got> | undefined;

/** Loads the HTTP client, which a process without hooks never needs. Before the first delivery, so that its time-out is not spent on it. */
export function loadClient(): Promise<Got> {
  loading ??= import("got").then(({ got }) => got.extend({
    followRedirect: false,
    retry: { limit: 0 },
    throwHttpErrors: false,
    decompress: false,
    allowGetBody: true,
    headers: { "user-agent": "records-service", "accept": "application/json, */*;q=0.1", "accept-encoding": "identity" },
  }));
  return loading;
}

type Failure = Omit<DeliveryFailure, "type" | "durationMs">;

/** Sends one delivery. Never throws: whatever happens is a result. */
export async function deliver(request: DeliveryRequest): Promise<DeliveryResult> {
  const client = await loadClient();
  const started = performance.now();
  const failed = (failure: Failure): DeliveryFailure => ({ type: "failure", ...failure, durationMs: elapsed(started) });
  const target = parseTarget(request.url);
  if ("fault" in target) return failed({ reason: "refused", status: null, detail: new TargetRefused().message });
  try {
    const addresses = await within(resolveTarget(target, request.allowlist, request.lookup), request.timeoutMs, request.signal);
    const remaining = request.timeoutMs - (performance.now() - started);
    const result = await send(client, request, target, addresses, Math.max(1, Math.round(remaining)));
    return { ...result, durationMs: elapsed(started) };
  } catch (error) {
    return failed(failureOf(error, null));
  }
}

function send(client: Got, request: DeliveryRequest, target: Target, addresses: readonly LookupAddress[], timeoutMs: number): Promise<DeliveryResult> {
  return new Promise((resolve) => {
    const stream = client.stream(target.url, {
      method: request.method as "POST",
      headers: { ...request.headers },
      body: request.body,
      timeout: { request: timeoutMs },
      agent: request.agents.get(request.partition, target, addresses),
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
    const chunks: Buffer[] = [];
    let size = 0;
    let status: number | null = null;
    let settled = false;
    const settle = (result: DeliveryResult | Failure): void => {
      if (settled) return;
      settled = true;
      resolve("type" in result ? result : { type: "failure", ...result, durationMs: 0 });
      stream.destroy();
    };
    // Stays attached for good: a stream that was given up may still report an error, and nobody else would catch it.
    stream.on("error", (error) => settle(failureOf(error, status)));
    stream.once("request", (sent: { once(event: "socket", listener: (socket: Socket) => void): void }) => {
      sent.once("socket", (socket) => {
        const check = (): void => {
          if (!isAllowlisted(target, request.allowlist) && !isPublicAddress(socket.remoteAddress ?? "")) settle(failureOf(new TargetRefused(), null));
        };
        if (socket.connecting) socket.once("connect", check);
        else check();
      });
    });
    stream.once("response", (response: IncomingMessage) => {
      status = response.statusCode ?? 0;
      if (!request.readBody) return settle({ type: "answer", status, body: "", durationMs: 0 });
      const encoding = response.headers["content-encoding"];
      if (encoding !== undefined && encoding.toLowerCase() !== "identity") settle({ reason: "unreadable", status, detail: "answered with an encoding that was not offered" });
    });
    stream.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > answerLimit) settle({ reason: "unreadable", status, detail: `answered with more than ${answerLimit} bytes` });
      else chunks.push(chunk);
    });
    stream.once("end", () => {
      if (status !== null) settle({ type: "answer", status, body: Buffer.concat(chunks).toString("utf8"), durationMs: 0 });
    });
    stream.once("close", () => settle({ reason: "network", status, detail: "the connection was closed" }));
  });
}

function failureOf(error: unknown, status: number | null): Failure {
  const { name, code } = describeError(error);
  if (error instanceof TargetRefused) return { reason: "refused", status, detail: error.message };
  if (name === "AbortError") return { reason: "aborted", status, detail: "the service is closing" };
  if (name === "TimeoutError") return { reason: "timeout", status, detail: "no complete answer within the time-out" };
  // Never the message: it may name addresses and the request's options.
  return { reason: "network", status, detail: code ?? "the connection failed" };
}

function elapsed(started: number): number {
  return Math.round((performance.now() - started) * 1000) / 1000;
}
