// Mails of several nodes over one MongoDB: none is sent by two, and a killed node's are sent by one that lives.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { reset } from "../../lib/auth/one-time/kinds.js";
import { leaseMs, mailJobsTable, putJob } from "../../lib/auth/one-time/mail-jobs.js";
import { always } from "../../lib/storage/filter.js";
import { createMongoStorage } from "../../lib/storage/mongodb/mongodb.js";
import { demand, send, startService, type Answer } from "../support/service.js";
import { openSilentSmtp } from "../support/silent-smtp.js";
import { openOneTime, type OpenedOneTime } from "../unit/one-time/open-one-time.js";
import { makeNodesFolder, type NodesFolder } from "./nodes-folder.js";
import { mongoUrl, removeDatabases } from "./server.js";

const server = mongoUrl();

if (server !== undefined) {
  describe("mails of several nodes: claims", function () {
    this.timeout(60_000);
    const url = server.withDatabase(`mails${process.pid}`);
    let opened: OpenedOneTime;
    before(async () => { opened = await openOneTime(() => createMongoStorage({ url })); });
    after(async () => {
      await opened.close();
      await removeDatabases(url);
    });

    it("two nodes that look at the same time send each mail once, with the token that counts", async () => {
      const count = 40;
      const context = await opened.context();
      const ids: string[] = [];
      for (let n = 0; n < count; n += 1) {
        ids.push(await opened.addUser({ username: `user${n}`, email: `user${n}@example.test` }));
        await putJob(context, [], reset, ids[n]!, `user${n}@example.test`, opened.now);
      }
      for (const process of [opened.oneTime, opened.other]) process.start();
      await Promise.all([opened.oneTime.idle(), opened.other.idle()]);
      expect(opened.mails.map(({ to }) => to).sort()).to.deep.equal(ids.map((_id, n) => `user${n}@example.test`).sort());
      expect(await opened.storage.tenant(opened.tenantId).table(mailJobsTable).count(always)).to.equal(0);
      for (let n = 0; n < count; n += 1) await opened.other.resetPassword(opened.origin, { token: opened.token(`user${n}@example.test`), password: "a password of my own" });
      expect(opened.lines).to.deep.equal([]);
    });
  });

  describe("mails of several nodes: a killed one", function () {
    this.timeout(120_000);
    let nodes: NodesFolder;
    let child: ChildProcess | undefined;
    before(async () => { nodes = await makeNodesFolder(server); });
    after(async () => {
      child?.kill("SIGKILL");
      await nodes.remove();
    });

    it("its mail is sent by a node that lives, and only that one's link works", async () => {
      const smtp = await openSilentSmtp();
      const { mails, port } = smtp;
      // Its clock is ahead, so that the test need not wait a whole lease.
      const ahead = leaseMs - 12_000;
      const living = await startService({ folder: nodes.folder, mailer: { host: "127.0.0.1", port, from: "service@example.test" }, clock: { now: () => Date.now() + ahead } });
      let second: typeof living | undefined;
      try {
        const acme = await living.createTenant("acme");
        await demand(200, living.meta("PATCH", `/api/meta/tenants/${acme.id}/settings`, { passwordReset: { enabled: true, linkUrl: "https://app.test/reset" } }));
        await living.signUp(acme, "alice", { email: "alice@example.test" });

        child = spawn(process.execPath, ["--import=tsx", fileURLToPath(new URL("../http/mail-host.ts", import.meta.url)), nodes.folder, String(port)], { stdio: ["ignore", "pipe", "inherit"] });
        const [line] = (await once(child.stdout!, "data")) as [Buffer];
        await demand(200, send(`${line.toString().trim()}/api/auth/password/forgot`, "POST", { body: { tenant: "acme", email: "alice@example.test" } }));
        await smtp.arrived(1);
        // A node that looks while the mail is under way, and lives on.
        second = await startService({ folder: nodes.folder, mailer: { host: "127.0.0.1", port, from: "service@example.test" }, clock: { now: () => Date.now() + ahead } });
        expect(mails).to.have.length(1);
        child.kill("SIGKILL");
        await once(child, "exit");
        expect(mails).to.have.length(1);

        smtp.answer();
        await smtp.arrived(2);
        const tokens = mails.map((mail) => /token=([A-Za-z0-9_-]{86})/.exec(mail)![1]);
        const redeem = (token: unknown): Promise<Answer> => living.request("POST", "/api/auth/password/reset", { body: { token, password: "another long password" } });
        expect((await redeem(tokens[0])).status).to.equal(400);
        expect((await redeem(tokens[1])).status).to.equal(204);
      } finally {
        await second?.close();
        await living.close();
        expect(mails).to.have.length(2);
        await smtp.close();
      }
    });
  });
}
