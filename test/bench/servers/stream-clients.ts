// Consumers of event streams: many raw sockets in one process, which count the events that come.
import { Agent, request } from "node:http";
import { connect } from "node:net";

interface Open {
  readonly url: string;
  readonly count: number;
  /** Used in turn; none: no subscription is made. */
  readonly tokens: readonly string[];
  readonly collection: string;
}

const marker = '"action":';
let received = 0;
let expected = 0;
let first = 0n;

function counted(events: number): void {
  if (received === 0) first = process.hrtime.bigint();
  received += events;
  if (received < expected || expected === 0) return;
  expected = 0;
  process.send?.({ firstNs: String(first), lastNs: String(process.hrtime.bigint()) });
}

const agent = new Agent({ keepAlive: true, maxSockets: 32 });

function subscribe(url: string, token: string, clientId: string, collection: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify({ clientId, subscriptions: [collection] });
    request(`${url}/api/realtime/subscribe`, { method: "POST", agent, headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) } }, (res) => {
      res.resume().once("end", () => (res.statusCode === 200 ? resolve() : reject(new Error(`subscribe: ${res.statusCode}`))));
    }).once("error", reject).end(body);
  });
}

function openOne({ url, tokens, collection }: Open, index: number): Promise<void> {
  const { port, pathname } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), "127.0.0.1");
    let head = "";
    let open = false;
    socket.once("error", reject);
    socket.on("data", (chunk: Buffer) => {
      const text = chunk.toString("latin1");
      if (open) {
        const events = text.split(marker).length - 1;
        if (events > 0) counted(events);
        return;
      }
      head += text;
      if (tokens.length === 0) {
        open = head.includes("\r\n\r\n");
        if (open) resolve();
        return;
      }
      const clientId = /"clientId":"([^"]+)"/.exec(head)?.[1];
      if (clientId === undefined) return;
      open = true;
      subscribe(url, tokens[index % tokens.length]!, clientId, collection).then(resolve, reject);
    });
    socket.write(`GET ${pathname === "/" ? "" : pathname}/api/realtime HTTP/1.1\r\nHost: bench\r\n\r\n`);
  });
}

process.on("message", (message: { open?: Open; expect?: number } | string) => {
  if (message === "stop") process.exit(0);
  if (typeof message === "string") return;
  if (message.open !== undefined) {
    const given = message.open;
    void (async () => {
      for (let at = 0; at < given.count; at += 200) {
        await Promise.all(Array.from({ length: Math.min(200, given.count - at) }, (_, offset) => openOne(given, at + offset)));
      }
      process.send?.({ opened: given.count });
    })();
  }
  if (message.expect !== undefined) {
    received = 0;
    expected = message.expect;
    process.send?.({ ready: true });
  }
});
process.send?.({ port: 0 });
