// Several service processes and a load balancer over one MongoDB.
import { fork, type ChildProcess } from "node:child_process";
import { createServer, type AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { createBalancer } from "./balancer.js";

export interface ClusterNode {
  readonly url: string;
  readonly process: ChildProcess | undefined;
  start(): Promise<void>;
  /** As a crash would end it. */
  kill(): Promise<void>;
  /** Drains, then ends. */
  stop(): Promise<void>;
}

export interface Cluster {
  /** Of the balancer. */
  readonly url: string;
  readonly nodes: readonly ClusterNode[];
  close(): Promise<void>;
}

export interface ClusterOptions {
  /** The same on every node: STORAGE_URL and all secrets. */
  readonly environment: Readonly<Record<string, string>>;
  /** What becomes of the nodes' standard output: their setup tokens and logs. @default "ignore" */
  readonly output?: "inherit" | "ignore";
  /** @default 2 */
  readonly count?: number;
  /** Port of the balancer. @default any free one */
  readonly port?: number;
}

export async function startCluster({ environment, output = "ignore", count = 2, port = 0 }: ClusterOptions): Promise<Cluster> {
  const ports = await freePorts(count);
  const nodes = ports.map((each) => createNode({ ...environment, CONNECTOR_HTTP_PORT: String(each) }, output, `http://127.0.0.1:${each}`));
  for (const node of nodes) await node.start();
  const balancer = createBalancer(nodes.map(({ url }) => url));
  await new Promise<void>((resolve) => balancer.listen(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`,
    nodes,
    async close() {
      balancer.closeAllConnections();
      await new Promise((resolve) => balancer.close(resolve));
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}

function createNode(environment: Readonly<Record<string, string>>, output: "inherit" | "ignore", url: string): ClusterNode {
  let child: ChildProcess | undefined;

  async function end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const ending = child;
    child = undefined;
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
    const ended = new Promise((resolve) => ending.once("exit", resolve));
    ending.kill(signal);
    await ended;
  }

  return {
    url,
    get process() {
      return child;
    },
    async start() {
      const started = fork(fileURLToPath(new URL("./node.ts", import.meta.url)), [], { env: { ...process.env, ...environment }, execArgv: ["--import", "tsx"], stdio: ["ignore", output, "inherit", "ipc"] });
      child = started;
      await new Promise<void>((resolve, reject) => {
        started.once("message", () => resolve());
        started.once("exit", (code) => reject(new Error(`the node ended with ${code} before it listened`)));
      });
    },
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
  };
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return server;
  }));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
