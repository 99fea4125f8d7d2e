// The example receiver, called by a real service.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { createReceiver } from "../../examples/hook-receiver/receiver.js";
import { closeServer, demand, send, startService, type TestService, type TestTenant, type TestUser } from "../support/service.js";

const secret = "a secret that both sides know";

describe("example: hook receiver", () => {
  let on: TestService;
  let tenant: TestTenant;
  let user: TestUser;
  let server: Server;
  let url: string;
  const lines: string[] = [];

  before(async () => {
    server = createServer(createReceiver(secret, (line) => lines.push(line)));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    url = `http://${host}`;
    on = await startService();
    tenant = await on.createTenant("acme");
    user = await on.signUp(tenant, "alice");
    await on.createCollection(tenant, { name: "tasks", fields: [{ name: "title", type: "TEXT" }], createRule: "true", viewRule: "true" });
    await demand(200, on.meta("PATCH", `/api/meta/tenants/${tenant.id}/settings`, { webhookAllowlist: [host] }));
  });
  after(async () => {
    await on.close();
    await closeServer(server);
  });

  async function createWith(path: string, title = " a ") {
    const { body: hook } = await demand(201, on.meta("POST", `/api/meta/tenants/${tenant.id}/hooks`, { event: "beforeCreate", collection: "tasks", url: `${url}${path}`, secret }));
    const answer = await on.request("POST", "/api/collections/tasks", { tenant: "acme", body: { title } });
    await demand(204, on.meta("DELETE", `/api/meta/tenants/${tenant.id}/hooks/${hook.id}`));
    return answer;
  }

  it("lets an operation go on", async () => {
    expect((await createWith("/allow")).body.title).to.equal(" a ");
  });

  it("refuses with an error object, and with a text", async () => {
    const refused = await createWith("/refuse");
    expect([refused.status, refused.body]).to.deep.equal([409, { status: 409, message: "The shop is closed" }]);
    const simply = await createWith("/refuse-simply");
    expect([simply.status, simply.body]).to.deep.equal([400, { error: "Not today" }]);
  });

  it("rewrites the body", async () => {
    expect((await createWith("/rewrite")).body.title).to.equal("a");
  });

  it("signs a user in by issueTokenFor", async () => {
    const { body: hook } = await demand(201, on.meta("POST", `/api/meta/tenants/${tenant.id}/hooks`, { event: "beforeLogin", url: `${url}/sign-in`, secret }));
    const login = (ticket: string) => on.request("POST", "/api/auth/login", { body: { tenant: "acme", username: "x", password: "x", ticket, userId: user.id } });
    const { body } = await demand(200, login("valid"));
    expect((await on.request("GET", "/api/auth/me", { token: body.accessToken })).body.id).to.equal(user.id);
    expect((await login("stolen")).status).to.equal(401);
    await demand(204, on.meta("DELETE", `/api/meta/tenants/${tenant.id}/hooks/${hook.id}`));
  });

  it("hears of what was done", async () => {
    await demand(201, on.meta("POST", `/api/meta/tenants/${tenant.id}/hooks`, { event: "afterCreate", collection: "tasks", url: `${url}/after`, secret }));
    const { body } = await demand(201, on.request("POST", "/api/collections/tasks", { tenant: "acme", body: { title: "x" } }));
    while (lines.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(lines).to.deep.equal([`afterCreate tasks/${body.id}`]);
  });

  it("answers 401 to a wrong signature, a missing one, and another body", async () => {
    const wrong: Record<string, string>[] = [{}, { "x-service-signature": "sha256=00" }, { "content-type": "text/plain" }];
    for (const headers of wrong) {
      const answer = await send(`${url}/allow`, "POST", { body: { a: 1 }, headers });
      expect(answer.status).to.equal(401);
    }
  });
});
