// A process that is killed between the answer and the mail: the mail goes out after all, once, with a link that works.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { demand, send, startService, type Answer } from "../support/service.js";
import { openSilentSmtp } from "../support/silent-smtp.js";

describe("kill -9 between the answer and the mail", () => {
  it("a restart sends the mail, and only its link works", async function () {
    this.timeout(60_000);
    const folder = await mkdtemp(join(tmpdir(), "mail-killed-"));
    const smtp = await openSilentSmtp();
    const { mails, port } = smtp;
    const mailer = { host: "127.0.0.1", port, from: "service@example.test" };
    try {
      const first = await startService({ folder });
      const acme = await first.createTenant("acme");
      await demand(200, first.meta("PATCH", `/api/meta/tenants/${acme.id}/settings`, { passwordReset: { enabled: true, linkUrl: "https://app.test/reset" } }));
      await first.signUp(acme, "alice", { email: "alice@example.test" });
      await first.close();

      const child = spawn(process.execPath, ["--import=tsx", fileURLToPath(new URL("./mail-host.ts", import.meta.url)), folder, String(port)], { stdio: ["ignore", "pipe", "inherit"] });
      const [line] = (await once(child.stdout, "data")) as [Buffer];
      const answer = await send(`${line.toString().trim()}/api/auth/password/forgot`, "POST", { body: { tenant: "acme", email: "alice@example.test" } });
      expect([answer.status, answer.body]).to.deep.equal([200, {}]);
      await smtp.arrived(1);
      child.kill("SIGKILL");
      await once(child, "exit");

      smtp.answer();
      // The lease of the dead process is over by this clock.
      const second = await startService({ folder, mailer, clock: { now: () => Date.now() + 60_000 } });
      await smtp.arrived(2);
      expect(mails).to.have.length(2);
      const tokens = mails.map((mail) => /token=([A-Za-z0-9_-]{86})/.exec(mail)![1]);
      const reset = (token: unknown): Promise<Answer> => second.request("POST", "/api/auth/password/reset", { body: { token, password: "another long password" } });
      expect((await reset(tokens[0])).status).to.equal(400);
      expect((await reset(tokens[1])).status).to.equal(204);
      expect((await second.login(acme, "alice", "another long password")).status).to.equal(200);
      await second.close();
      expect(mails).to.have.length(2);
    } finally {
      await smtp.close();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
