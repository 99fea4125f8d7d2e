// listen: the service on a node:http server, by itself or with the Express app around it, in both cases without the swap
// of prototypes that Express makes for every request and response and that costs more than most answers.
import { createServer, type RequestListener, type Server } from "node:http";
import { isIPv6, type AddressInfo } from "node:net";
import type { RecordsService } from "../records-service.js";
import { prototypesOf, type AppPrototypes } from "./app-prototypes.js";

export interface ListenAddress {
  /** @default "127.0.0.1" */
  readonly host?: string | undefined;
  /** 0: a free one. @default 8080 */
  readonly port?: number | undefined;
  /** The Express app that the service is mounted in: the server answers with all of its routes. @default the service's routes alone */
  readonly app?: (RequestListener & AppPrototypes) | undefined;
}

export interface Listening {
  /** `http://HOST:PORT` */
  readonly url: string;
  readonly server: Server;
  /** Takes no new connection, closes the service (requests under way are answered), then every connection. A second call is harmless. */
  close(): Promise<void>;
}

/** Milliseconds. A proxy in front should give up its idle connections earlier. */
const limits = { headersTimeout: 15_000, requestTimeout: 60_000, keepAliveTimeout: 75_000 } as const;

/** Listens, and resolves once the service answers. Rejects, with everything closed again, where the address or the storage cannot be had. */
export function listen(service: RecordsService, address: ListenAddress = {}): Promise<Listening> {
  return listenUntil(service, address, () => service.ready());
}

/** The same, with a `ready` that may be more patient: until it resolves requests are answered with 503. */
export async function listenUntil(service: RecordsService, { host = "127.0.0.1", port = 8080, app }: ListenAddress, ready: () => Promise<void>): Promise<Listening> {
  const options = { ...limits, keepAlive: true, noDelay: true };
  const server = app === undefined ? createServer(options, service) : createServer({ ...options, ...prototypesOf(app) }, app);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= end(service, server));
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host, port }, () => {
        server.off("error", reject);
        resolve();
      });
    });
    await ready();
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
  return { url: `http://${isIPv6(host) ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`, server, close };
}

async function end(service: RecordsService, server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  await service.close();
  server.closeAllConnections();
  await closed;
}
