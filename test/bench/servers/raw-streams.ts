// The yardstick of fan-out: sockets in a set, and a loop that writes the same bytes to each of them.
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { announce } from "./announce.js";

const sockets = new Set<Socket>();
const server = createServer((_req, res) => {
  res.writeHead(200, { "Content-Type": "text/event-stream" });
  res.flushHeaders();
  sockets.add(res.socket!);
  res.socket!.once("close", () => sockets.delete(res.socket!));
});
const event = Buffer.from(`event: items\nid: 0123456789abcdef01-1\ndata: {"action":"create","record":${JSON.stringify({ id: crypto.randomUUID(), text: "x".repeat(200) })}}\n\n`);
process.on("message", (message) => {
  const times = /^fire (\d+)$/.exec(String(message))?.[1];
  if (times === undefined) return;
  const bytes = Buffer.concat(Array.from({ length: Number(times) }, () => event));
  const head = Buffer.from(`${bytes.length.toString(16)}\r\n`);
  const end = Buffer.from("\r\n");
  const chunk = Buffer.concat([head, bytes, end]);
  for (const socket of sockets) socket.write(chunk);
  process.send?.({});
});
announce(server.listen(0, "127.0.0.1"));
