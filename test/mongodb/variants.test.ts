// Image variants of several nodes over one MongoDB: the job of a killed node is done by one that lives.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import sharp from "sharp";
import { demand, startService, type TestService } from "../support/service.js";
import { makeNodesFolder, type NodesFolder } from "./nodes-folder.js";
import { mongoUrl } from "./server.js";

const server = mongoUrl();

if (server !== undefined) {
  describe("image variants of several nodes", function () {
    this.timeout(120_000);
    let nodes: NodesFolder;
    let child: ChildProcess | undefined;
    before(async () => { nodes = await makeNodesFolder(server); });
    after(async () => {
      child?.kill("SIGKILL");
      await nodes.remove();
    });

    it("an image whose node was killed over it is scaled by a node that lives", async () => {
      const first = await startService({ folder: nodes.folder });
      const acme = await first.createTenant("acme");
      await first.createCollection(acme, { name: "docs", fields: [{ name: "photo", type: "FILE", widths: [50] }], viewRule: "true" });
      await first.close();

      child = spawn(process.execPath, ["--import=tsx", fileURLToPath(new URL("./variant-host.ts", import.meta.url)), nodes.folder], { stdio: ["ignore", "pipe", "inherit"] });
      const [line] = (await once(child.stdout!, "data")) as [Buffer];
      const path = `/api/collections/docs/${line.toString().trim()}/files/photo`;
      // A node that looks while the image is under way, and lives on. Its clock is ahead, so that the test need not wait a whole lease.
      const living: TestService = await startService({ folder: nodes.folder, clock: { now: () => Date.now() + 108_000 } });
      try {
        const width = async (): Promise<number> => (await sharp((await demand(200, living.request("GET", `${path}?width=50`, { tenant: "acme" }))).bytes).metadata()).width;
        // Without a variant the original is served.
        expect(await width()).to.equal(200);
        child.kill("SIGKILL");
        await once(child, "exit");
        while ((await width()) !== 50) await wait(250);
      } finally {
        await living.close();
      }
    });
  });
}
