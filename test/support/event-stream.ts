// A strict reader of event streams for tests, over a real connection: everything that came is kept, and events are
// awaited, never slept for.
import { request, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import type { Json, RecordValue } from "../../lib/core/record.js";

export interface ReceivedEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: { readonly clientId?: string; readonly action?: string; readonly record?: RecordValue };
}

export interface TestStream {
  readonly clientId: string;
  readonly headers: IncomingMessage["headers"];
  readonly events: readonly ReceivedEvent[];
  readonly comments: readonly string[];
  /** The next event that was not yet taken, the connect event left out. */
  next(): Promise<ReceivedEvent>;
  comment(): Promise<string>;
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>;
  readonly isOpen: boolean;
  subscribe(token: string | undefined, subscriptions: Json, more?: Record<string, Json>): Promise<{ status: number; body: Json }>;
  close(): void;
}

export async function openStream(url: string, headers: OutgoingHttpHeaders = {}): Promise<TestStream> {
  const sent = request(`${url}/api/realtime`, { headers });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once("response", resolve).once("error", reject).end();
  });
  response.setEncoding("utf8");
  const events: ReceivedEvent[] = [];
  const comments: string[] = [];
  const waiting: { kind: "event" | "comment"; resolve: (value: never) => void }[] = [];
  const untaken = { event: [] as ReceivedEvent[], comment: [] as string[] };
  let isOpen = true;
  let text = "";

  function give(kind: "event" | "comment", value: ReceivedEvent | string): void {
    const index = waiting.findIndex((entry) => entry.kind === kind);
    if (index === -1) untaken[kind].push(value as never);
    else waiting.splice(index, 1)[0]!.resolve(value as never);
  }

  function read(block: string): void {
    const lines = block.split("\n");
    if (lines.every((line) => line.startsWith(":"))) {
      for (const line of lines) {
        comments.push(line);
        give("comment", line);
      }
      return;
    }
    const fields = new Map<string, string>();
    for (const line of lines) {
      const found = /^(event|id|data): ([^]*)$/.exec(line);
      if (found === null) throw new Error(`no line of an event stream: ${line}`);
      if (fields.has(found[1]!)) throw new Error(`${found[1]} is there twice: ${block}`);
      fields.set(found[1]!, found[2]!);
    }
    const event: ReceivedEvent = { event: fields.get("event")!, id: fields.get("id"), data: JSON.parse(fields.get("data")!) as ReceivedEvent["data"] };
    events.push(event);
    give("event", event);
  }

  response.on("data", (chunk: string) => {
    text += chunk;
    for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
      read(text.slice(0, end));
      text = text.slice(end + 2);
    }
  });
  const ended = new Promise<void>((resolve) => {
    response.once("close", () => {
      isOpen = false;
      resolve();
    });
    response.on("error", () => undefined);
  });

  function take<T>(kind: "event" | "comment"): Promise<T> {
    const first = untaken[kind].shift();
    if (first !== undefined) return Promise.resolve(first as T);
    return new Promise((resolve) => waiting.push({ kind, resolve }));
  }

  const connect = await take<ReceivedEvent>("event");
  const clientId = connect.data.clientId!;
  return {
    clientId, headers: response.headers, events, comments, ended,
    get isOpen() { return isOpen; },
    next: () => take("event"),
    comment: () => take("comment"),
    subscribe: (token, subscriptions, more = {}) => post(url, token, { clientId, subscriptions, ...more }),
    close() {
      sent.destroy();
      response.destroy();
    },
  };
}

export async function post(url: string, token: string | undefined, body: Json | string): Promise<{ status: number; body: Json }> {
  const response = await fetch(`${url}/api/realtime/subscribe`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...(token === undefined ? {} : { Authorization: token }) },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, body: JSON.parse(await response.text()) as Json };
}

/** For what cannot be awaited: looks until it is so. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
