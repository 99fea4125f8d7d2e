// The cluster example over the server that TEST_MONGODB_URL names: two nodes killed in turn while clients go on. No
// acknowledged write and no after-hook is lost, and each node hears of the other's changes.
import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { startCluster, type Cluster } from "../../examples/cluster/cluster.js";
import { createRecordsService } from "../../lib/index.js";
import { openStream } from "../support/event-stream.js";
import { closeServer, send, testPassword } from "../support/service.js";
import { mongoUrl, removeDatabases } from "./server.js";

const server = mongoUrl();
const hex = (of: string): string => createHash("sha256").update(of).digest("hex");
const secrets = { application: hex("a"), token: hex("b"), sessionCookie: hex("c"), authenticationCookie: hex("d"), flashCookie: hex("e") };

if (server !== undefined) {
  describe("the cluster example", function () {
    this.timeout(120_000);
    const url = server.withDatabase(`cluster${process.pid}`);
    const delivered = new Set<string>();
    let receiver: Server;
    let cluster: Cluster;
    let token: string;

    before(async () => {
      receiver = createServer((request, response) => {
        let text = "";
        request.on("data", (piece: Buffer) => (text += piece.toString()));
        request.on("end", () => {
          delivered.add((JSON.parse(text) as { data: { record: { id: string } } }).data.record.id);
          response.end("{}");
        });
      });
      await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
      const host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`;

      const service = createRecordsService({ storage: url, secrets, announceSetup: false, logger: { debug() {}, info() {}, warn() {}, error() {} } });
      await service.tenants.create({ slug: "acme" });
      const acme = service.tenant("acme");
      await acme.settings.update({ webhookAllowlist: [host] });
      await acme.collections.create({ name: "notes", fields: [{ name: "title", type: "TEXT" }], listRule: "@auth.id != null", viewRule: "@auth.id != null", createRule: "@auth.id != null" });
      await acme.hooks.create({ event: "afterCreate", collection: "notes", url: `http://${host}/` } as never);
      await acme.users.create({ username: "ada", password: testPassword } as never);
      await service.close();

      cluster = await startCluster({
        environment: {
          STORAGE_URL: url, APPLICATION_SECRET: secrets.application, TOKEN_SECRET: secrets.token, SESSION_COOKIE_SECRET: secrets.sessionCookie,
          AUTHENTICATION_COOKIE_SECRET: secrets.authenticationCookie, FLASH_COOKIE_SECRET: secrets.flashCookie, LOG_LEVEL: "silent",
        },
      });
      const login = await send(`${cluster.url}/api/auth/login`, "POST", { body: { tenant: "acme", username: "ada", password: testPassword } });
      expect(login.status, login.text).to.equal(200);
      token = login.body.accessToken as string;
    });
    after(async () => {
      await cluster?.close();
      if (receiver !== undefined) await closeServer(receiver);
      await removeDatabases(url);
    });

    const create = (base: string, title: string) => send(`${base}/api/collections/notes`, "POST", { token, body: { title } });

    it("a stream on one node hears what is written on the other", async () => {
      const [first, second] = cluster.nodes;
      const stream = await openStream(first!.url);
      try {
        expect((await stream.subscribe(`Bearer ${token}`, ["notes"])).status).to.be.oneOf([200, 204]);
        for (let n = 0; n < 5; n += 1) {
          const made = await create(second!.url, `from afar ${n}`);
          expect((await stream.next()).data.record?.id).to.equal(made.body.id);
        }
      } finally {
        stream.close();
      }
    });

    it("a stream through the balancer is subscribed on the node that has it", async () => {
      for (let n = 0; n < 3; n += 1) {
        const stream = await openStream(cluster.url);
        try {
          expect((await stream.subscribe(`Bearer ${token}`, ["notes"])).status).to.equal(200);
        } finally {
          stream.close();
        }
      }
    });

    it("nodes killed in turn under load: no acknowledged write is lost, and no after-hook", async () => {
      const acknowledged: string[] = [];
      let going = true;
      const clients = Array.from({ length: 4 }, async (_unused, client) => {
        for (let n = 0; going; n += 1) {
          const answer = await create(cluster.url, `${client}.${n}`).catch(() => undefined);
          if (answer?.status === 201) acknowledged.push(answer.body.id as string);
          else await wait(50);
        }
      });
      for (const node of cluster.nodes) {
        const before = acknowledged.length;
        await node.kill();
        while (acknowledged.length < before + 50) await wait(50);
        await node.start();
      }
      going = false;
      await Promise.all(clients);
      expect(acknowledged.length).to.be.above(100);
      for (const id of acknowledged) expect((await send(`${cluster.url}/api/collections/notes/${id}`, "GET", { token })).status).to.equal(200);
      // What a killed node had claimed is handed over when its lease has ended.
      const missing = (): string[] => acknowledged.filter((id) => !delivered.has(id));
      while (missing().length > 0) await wait(250);
    });
  });
}
