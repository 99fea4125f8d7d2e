// A small load balancer: requests go round among the nodes that answer /health, and go to the next one where a node
// cannot be reached. Any reverse proxy does this; this one is here so that the example runs by itself.
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import httpProxy from "http-proxy";

/** Milliseconds between two looks at the nodes. */
const interval = 250;
/** Bytes. Bodies are read ahead, so that they can be sent a second time; the service takes none that is larger. */
const longestBody = 5 * 1024 * 1024;

/** @param targets `http://host:port` of each node */
export function createBalancer(targets: readonly string[]): Server {
  const proxy = httpProxy.createProxyServer({ xfwd: true });
  // http-proxy looks at the request alone, which has ended here: a stream that its client leaves would stay open for good.
  proxy.on("proxyReq", (sent, _incoming, response) => response.on("close", () => sent.destroy()));
  const healthy = new Set(targets);
  let turn = 0;

  function look(target: string): void {
    const sent = request(`${target}/health`, { timeout: 2_500 }, (response) => {
      response.resume();
      if (response.statusCode === 200) healthy.add(target);
      else healthy.delete(target);
    });
    sent.on("timeout", () => sent.destroy());
    sent.on("error", () => healthy.delete(target));
    sent.end();
  }

  function candidates({ url = "", socket }: IncomingMessage): string[] {
    turn += 1;
    // A stream lives on one node, and its subscriptions are told to that one: both come from the same address.
    const first = url.includes("/api/realtime") ? [...(socket.remoteAddress ?? "")].reduce((sum, character) => sum + character.charCodeAt(0), 0) : turn;
    const round = targets.map((_target, index) => targets[(index + first) % targets.length]!);
    return [...round.filter((target) => healthy.has(target)), ...round.filter((target) => !healthy.has(target))];
  }

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(incoming);
    if (body === undefined) {
      response.writeHead(413, { "Content-Type": "application/json", "Connection": "close" }).end('{"error":"The body is larger than 5 MiB"}');
      return;
    }
    const queue = candidates(incoming);
    const next = (): void => {
      const target = queue.shift();
      if (target === undefined) {
        response.writeHead(502, { "Content-Type": "application/json" }).end('{"error":"No node can be reached"}');
        return;
      }
      proxy.web(incoming, response, { target, buffer: Readable.from(body.length === 0 ? [] : [body]) }, (error) => {
        healthy.delete(target);
        // Only where the node was never reached: a request that got there may have been done.
        if ((error as NodeJS.ErrnoException).code === "ECONNREFUSED" && !response.headersSent) next();
        else if (response.headersSent) response.destroy();
        else response.writeHead(502, { "Content-Type": "application/json" }).end('{"error":"The node went away"}');
      });
    };
    next();
  }

  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => response.destroy());
  });
  const timer = setInterval(() => targets.forEach(look), interval);
  server.on("close", () => {
    clearInterval(timer);
    proxy.close();
  });
  return server;
}

/** Undefined where it is too long. */
async function readBody(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of incoming) {
    length += (piece as Buffer).length;
    // Read to its end, so that the client hears the answer.
    if (length <= longestBody) pieces.push(piece as Buffer);
  }
  return length > longestBody ? undefined : Buffer.concat(pieces);
}
