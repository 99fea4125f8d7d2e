// Tells the bench where a server listens, and its CPU time and memory when asked.
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

export function announce(server: Server, more: object = {}): void {
  const tell = (): void => {
    process.send?.({ port: (server.address() as AddressInfo).port, ...more });
  };
  if (server.listening) tell();
  else server.once("listening", tell);
  process.on("message", (message) => {
    if (message === "usage") process.send?.({ cpu: process.cpuUsage(), rss: process.memoryUsage.rss() });
    if (message === "stop") process.exit(0);
  });
}
