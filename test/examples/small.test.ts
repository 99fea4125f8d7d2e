// The small examples: each is booted as a process, and answers a real request.
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { Mail } from "../../lib/mailer/mailer.js";
import { hasherSuite } from "../../lib/testing/hasher.js";
import { mailerSuite } from "../../lib/testing/mailer.js";
import { createFolderMailer } from "../../examples/custom-provider/folder-mailer.js";
import { scryptHasher } from "../../examples/custom-provider/scrypt-hasher.js";
import { runExample, type Running } from "../support/example.js";
import { demand, send, testPassword } from "../support/service.js";

describe("examples", function () {
  this.timeout(120_000);
  let example: Running | undefined;
  afterEach(async () => {
    await example?.remove();
    example = undefined;
  });

  async function boot(name: string): Promise<string> {
    example = await runExample(`examples/${name}/server.ts`, { args: ["0"] });
    return await example.said(/listening on (http:\S+)/);
  }

  /** Names the superadmin by the token of the log. */
  async function superadmin(url: string): Promise<string> {
    const token = await example!.said(/setup token: ([\w-]{43})/);
    await demand(201, send(`${url}/api/admin/setup`, "POST", { body: { token, username: "root", password: testPassword } }));
    return (await demand(200, send(`${url}/api/admin/token`, "POST", { body: { username: "root", password: testPassword } }))).body.accessToken as string;
  }

  it("minimal: the service below /backend, everything else 404 by the app", async () => {
    const url = await boot("minimal");
    expect((await demand(200, send(`${url}/health`, "GET"))).body).to.deep.equal({ db: true, status: "ok" });
    expect((await send(new URL("/health", url).href, "GET")).status).to.equal(404);
  });

  it("existing-app: its own routes and parsers beside the service's", async () => {
    const url = await boot("existing-app");
    expect((await demand(200, send(url, "GET"))).text).to.equal("The app's own page");
    const token = await superadmin(`${url}/backend`);
    const tenant = await demand(201, send(`${url}/backend/api/meta/tenants`, "POST", { token, body: { slug: "shop" } }));
    await demand(201, send(`${url}/backend/api/meta/tenants/${tenant.body.id}/users`, "POST", { token, body: { username: "ann", password: testPassword } }));
    await demand(201, send(`${url}/backend/api/meta/tenants/${tenant.body.id}/collections`, "POST", { token, body: { name: "open", fields: [], listRule: "true" } }));
    // The host's name stands for the tenant.
    await demand(200, send(`${url}/backend/api/collections/open`, "GET", { headers: { host: "shop.example.com" } }));
    await demand(404, send(`${url}/backend/api/collections/open`, "GET"));
    const signedIn = await demand(200, send(`${url}/backend/api/auth/login`, "POST", { body: { tenant: "shop", username: "ann", password: testPassword } }));
    const orders = await demand(200, send(`${url}/orders`, "GET", { token: signedIn.body.accessToken }));
    expect(orders.body).to.deep.equal({ tenant: "shop", user: "ann", orders: [] });
    await demand(401, send(`${url}/orders`, "GET"));
    expect(await example!.end()).to.equal(0);
  });

  it("host-access: system, user and guest in code", async () => {
    const url = await boot("host-access");
    expect(example!.output()).to.contain("written by the system: Call Ann");
    const guest = await demand(200, send(`${url}/my-notes`, "GET"));
    expect(guest.body.map((note: { text: string }) => note.text)).to.deep.equal(["Water the plants"]);
    const ben = await demand(200, send(`${url}/backend/api/auth/login`, "POST", { body: { tenant: "notes", username: "ben", password: "a password of ben's" } }));
    const token = ben.body.accessToken as string;
    expect((await demand(201, send(`${url}/my-notes`, "POST", { token, body: { text: "Read more" } }))).body).to.include({ text: "Read more", public: false });
    expect((await demand(422, send(`${url}/my-notes`, "POST", { token, body: { text: "Now!" } }))).body).to.include({ message: "No shouting" });
    expect((await demand(200, send(`${url}/my-notes`, "GET", { token }))).body).to.have.length(3);
    await demand(401, send(`${url}/my-notes`, "POST", { body: { text: "x" } }));
  });

  it("custom-provider: its own hasher and mailer are at work", async () => {
    const url = await boot("custom-provider");
    const token = await superadmin(url);
    const tenant = await demand(201, send(`${url}/api/meta/tenants`, "POST", { token, body: { slug: "shop" } }));
    await demand(201, send(`${url}/api/meta/tenants/${tenant.body.id}/users`, "POST", { token, body: { username: "ann", email: "ann@example.com", password: testPassword } }));
    await demand(200, send(`${url}/api/auth/login`, "POST", { body: { tenant: "shop", username: "ann", password: testPassword } }));
    await demand(200, send(`${url}/api/meta/tenants/${tenant.body.id}/settings`, "PATCH", { token, body: { passwordReset: { enabled: true, linkUrl: "https://shop.example.com/reset?token={token}" } } }));
    await demand(200, send(`${url}/api/auth/password/forgot`, "POST", { body: { tenant: "shop", email: "ann@example.com" } }));
    // Mails go out after the answer; the end of the process waits for them.
    const folder = join(example!.folder, "mails");
    let mails: string[] = [];
    while (mails.length === 0) mails = await readdir(folder).catch(() => []);
    let mail = "";
    while (mail === "") mail = await readFile(join(folder, mails[0]!), "utf8");
    expect(mail).to.contain("To: ann@example.com").and.to.match(/https:\/\/shop\.example\.com\/reset\?token=[\w-]+/);
  });
});

mailerSuite("folder, of examples/custom-provider", {
  async make() {
    const folder = await mkdtemp(join(tmpdir(), "records-mails-"));
    const read = async (name: string): Promise<Mail> => {
      const [, to, subject, text] = /^To: (.*)\nSubject: (.*)\n\n([^]*)\n$/.exec(await readFile(join(folder, name), "utf8"))!;
      return { to: to!, subject: subject!, text: text! };
    };
    return {
      mailer: createFolderMailer(folder),
      received: async () => await Promise.all((await readdir(folder)).map(read)),
      dispose: () => rm(folder, { recursive: true }),
    };
  },
});

hasherSuite("scrypt, of examples/custom-provider", { make: () => scryptHasher });
