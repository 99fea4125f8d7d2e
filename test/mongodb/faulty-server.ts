// A server that a test may stop, hang and bring back: a stand-in of its own, or a small proxy before the server that is
// given, which nobody but the test is to feel.
import { createServer, connect, type AddressInfo, type Server, type Socket } from "node:net";
import { MongoClient } from "mongodb";
import { databaseOf } from "../support/mongo-url.js";
import { removeDatabases } from "./server.js";
import { startStandIn, type StandIn } from "./stand-ins.js";

export interface FaultyServer {
  /** With the database of the test. */
  readonly url: string;
  /** It takes connections, and answers nothing. */
  hang(): void;
  goOn(): void;
  /** As a crash would end it. */
  kill(): Promise<void>;
  /** On the same address, with the same data. */
  start(): Promise<void>;
  /** Ends it, and removes what the test has made. */
  stop(): Promise<void>;
}

/** A stand-in: hung and killed by signals. Only one that writes to disk has its data after a kill. */
export async function openStandIn(kind: StandIn["kind"]): Promise<FaultyServer> {
  let server = await startStandIn(kind);
  return {
    url: `${server.url}/faults`,
    hang: () => void server.process.kill("SIGSTOP"),
    goOn: () => void server.process.kill("SIGCONT"),
    kill: () => server.kill(),
    async start() {
      server = await startStandIn(kind, server.port, server.folder);
    },
    stop: () => server.stop(),
  };
}

/** A proxy before the primary of the server at the URL. Throws where it speaks TLS. */
export async function openProxy(given: string): Promise<FaultyServer> {
  if (!canBeProxied(given)) throw new Error("a server behind TLS has no proxy here");
  const [host, port] = (await primaryOf(given)).split(":") as [string, string];
  const sockets = new Set<Socket>();
  let hung = false;
  let server: Server;

  async function listen(at: number): Promise<void> {
    server = createServer((client) => {
      const upstream = connect(Number(port), host);
      for (const [from, to] of [[client, upstream], [upstream, client]] as const) {
        sockets.add(from);
        from.pipe(to);
        from.on("error", () => to.destroy());
        from.on("close", () => {
          sockets.delete(from);
          to.destroy();
        });
        if (hung) from.pause();
      }
    });
    await new Promise<void>((done, fail) => {
      server.once("error", fail);
      server.listen(at, "127.0.0.1", done);
    });
  }

  async function kill(): Promise<void> {
    const closed = new Promise((done) => server.close(done));
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  await listen(0);
  const own = (server!.address() as AddressInfo).port;
  const database = `${databaseOf(given)}faults${process.pid}`;
  return {
    url: throughProxy(given, own, database),
    hang() {
      hung = true;
      for (const socket of sockets) {
        socket.unpipe();
        socket.pause();
      }
    },
    goOn() {
      // What was under way is lost, as it is where a network comes back.
      hung = false;
      for (const socket of sockets) socket.destroy();
    },
    kill,
    start: () => listen(own),
    async stop() {
      await kill().catch(() => undefined);
      await removeDatabases(throughProxy(given, `${host}:${port}`, database));
    },
  };
}

/** Whether `openProxy` can stand before it. */
export function canBeProxied(url: string): boolean {
  return url.startsWith("mongodb://") && !/[?&](?:tls|ssl)=true/i.test(url);
}

/** The same server and credentials at another address, and no other member of its set. */
function throughProxy(given: string, address: number | string, database: string): string {
  const [, credentials = "", query = ""] = /^mongodb:\/\/([^@/]*@)?[^/?]+(?:\/[^?]*)?(?:\?(.*))?$/.exec(given)!;
  const kept = query.split("&").filter((each) => each !== "" && !/^(?:replicaSet|directConnection)=/i.test(each));
  return `mongodb://${credentials}${typeof address === "number" ? `127.0.0.1:${address}` : address}/${database}?${[...kept, "directConnection=true"].join("&")}`;
}

/** `host:port` of the member that takes writes. */
async function primaryOf(url: string): Promise<string> {
  const client = await MongoClient.connect(url, { serverSelectionTimeoutMS: 5_000 });
  try {
    const hello = await client.db("admin").command({ hello: 1 }).catch(() => undefined);
    // A server alone names no primary, and not every one knows the command.
    return typeof hello?.["primary"] === "string" ? hello["primary"] : client.options.hosts[0]!.toString();
  } finally {
    await client.close();
  }
}
