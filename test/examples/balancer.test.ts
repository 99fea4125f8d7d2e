// The balancer of the cluster example, in front of a node that is a plain server. With real nodes: test/mongodb.
import { once } from "node:events";
import { createServer, request, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { createBalancer } from "../../examples/cluster/balancer.js";

describe("the example cluster's balancer", () => {
  let node: Server;
  let balancer: Server;
  /** Resolves when the node's stream has ended. */
  let left: Promise<void>;

  const portOf = (server: Server): number => (server.address() as AddressInfo).port;

  async function ask(method: string, path: string, body?: Buffer): Promise<IncomingMessage> {
    const asked = request({ host: "127.0.0.1", port: portOf(balancer), method, path, agent: false });
    asked.end(body);
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    return answer;
  }

  beforeEach(async () => {
    let leave: () => void;
    left = new Promise((resolve) => (leave = resolve));
    node = createServer((incoming, response) => {
      if (incoming.url === "/stream") {
        response.on("close", () => leave());
        response.writeHead(200, { "Content-Type": "text/event-stream" }).write("event: connect\n\n");
      } else void text(incoming).then((body) => response.end(`${incoming.method} ${body.length}`));
    });
    await new Promise<void>((resolve) => node.listen(0, "127.0.0.1", resolve));
    balancer = createBalancer([`http://127.0.0.1:${portOf(node)}`]);
    await new Promise<void>((resolve) => balancer.listen(0, "127.0.0.1", resolve));
  });
  afterEach(async () => {
    for (const server of [balancer, node]) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it("hands requests with their bodies on; one over 5 MiB is 413", async () => {
    expect(await text(await ask("POST", "/", Buffer.alloc(4_000_000, "x")))).to.equal("POST 4000000");
    expect((await ask("POST", "/", Buffer.alloc(6_000_000, "x"))).statusCode).to.equal(413);
  });

  it("a stream that its client leaves ends at the node too", async () => {
    const stream = await ask("GET", "/stream");
    await once(stream, "data");
    stream.destroy();
    await left;
  });
});
