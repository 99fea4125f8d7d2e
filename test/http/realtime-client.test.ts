// records-service/client in Node against the whole service.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { request } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { ConnectionError, createClient, RecordsError, type Change, type Client, type FileReference } from "../../lib/client/index.js";
import { until } from "../support/event-stream.js";
import { demand, startService, testPassword, type TestService, type TestTenant } from "../support/service.js";

interface Task {
  title: string;
  rank: number | null;
  owner: string | null;
  file: FileReference | null;
  pictures: FileReference[];
}
type Collections = { tasks: Task; private: { title: string; owner: string } };

describe("client", () => {
  let service: TestService;
  let tenant: TestTenant;
  let client: Client<Collections>;
  const clients: Client<Collections>[] = [];

  function open(url = service.url, options = {}): Client<Collections> {
    const opened = createClient<Collections>({ url, tenant: tenant.slug, realtime: { minDelay: 20, maxDelay: 200 }, ...options });
    clients.push(opened);
    return opened;
  }

  async function signedIn(username: string, url?: string, options = {}): Promise<Client<Collections>> {
    const opened = open(url, options);
    await opened.auth.login({ username, password: testPassword });
    return opened;
  }

  before(async () => {
    service = await startService();
    tenant = await service.createTenant();
    const field = (name: string, type: string, more = {}) => ({ name, type, ...more });
    await service.createCollection(tenant, {
      name: "tasks", listRule: "true", viewRule: "true", createRule: "@auth.id != null", updateRule: "@auth.id != null", deleteRule: "@auth.id != null",
      fields: [field("title", "TEXT", { required: true }), field("rank", "NUMBER"), field("owner", "TEXT"), field("file", "FILE"), field("pictures", "FILE", { multiple: true })],
    });
    await service.createCollection(tenant, {
      name: "private", listRule: "owner = @auth.id", viewRule: "owner = @auth.id", createRule: "true",
      fields: [field("title", "TEXT"), field("owner", "TEXT")],
    });
    for (const name of ["alice", "bob"]) await service.signUp(tenant, name, { email: `${name}@example.com` });
  });
  beforeEach(async () => {
    client = await signedIn("alice");
  });
  afterEach(() => {
    for (const opened of clients.splice(0)) opened.close();
  });
  after(() => service.close());

  describe("requests", () => {
    it("creates, reads, lists, changes and deletes records", async () => {
      const tasks = client.collection("tasks");
      const created = await tasks.create({ title: "one", rank: 1 });
      expect(created).to.include({ title: "one", rank: 1 });
      expect(await tasks.get(created.id)).to.deep.equal(created);
      const changed = await tasks.update(created.id, { rank: 2 });
      expect(changed).to.include({ title: "one", rank: 2 });
      const page = await tasks.list({ where: "rank = 2", count: true, fields: ["title"], sort: "title:asc", limit: 1 });
      expect(page).to.deep.include({ items: [{ id: created.id, title: "one" }], hasMore: false, total: 1 });
      await tasks.delete(created.id);
      expect(await tasks.get(created.id).catch((error: unknown) => error)).to.be.instanceOf(RecordsError).and.include({ status: 404 });
    });

    it("walks over all records", async () => {
      const { batch } = client;
      for (let start = 0; start < 250; start += 50) {
        await batch(Array.from({ length: 50 }, (_, index) => ({ method: "POST" as const, collection: "tasks", body: { title: `walk ${start + index}` } })));
      }
      const titles: string[] = [];
      for await (const { title } of client.collection("tasks").each({ where: "title ~ 'walk'" })) titles.push(title);
      expect(titles).to.deep.equal(Array.from({ length: 250 }, (_, index) => `walk ${index}`));
    });

    it("guards a change by the record as it was read", async () => {
      const tasks = client.collection("tasks");
      const read = await tasks.create({ title: "guarded" });
      await tasks.update(read.id, { title: "first" }, { ifUnchanged: read });
      const late = await tasks.update(read.id, { title: "second" }, { ifUnchanged: read }).catch((error: unknown) => error);
      expect(late).to.be.instanceOf(RecordsError).and.include({ status: 412 });
      const lost = await tasks.delete(read.id, { ifUnchanged: { ...read } }).catch((error: unknown) => error);
      expect(lost).to.be.instanceOf(TypeError);
    });

    it("stores, reads and removes files", async () => {
      const tasks = client.collection("tasks");
      const created = await tasks.create({ title: "with files", rank: 3, owner: null, file: new File(["hello"], "hello.txt"), pictures: [new File(["a"], "a.txt"), new File(["b"], "b.txt")] });
      expect(created).to.include({ title: "with files", rank: 3, owner: "" });
      expect(created.pictures.map(({ name }) => name)).to.deep.equal(["a.txt", "b.txt"]);
      expect(await (await client.files.download(created.file!)).text()).to.equal("hello");
      expect(client.files.url(created.file!, { width: 100 })).to.equal(`${service.url}/api/collections/tasks/${created.id}/files/file?width=100`);
      const { token } = await client.files.token();
      const response = await fetch(client.files.url(created.pictures[1]!, { token }));
      expect([response.status, await response.text()]).to.deep.equal([200, "b"]);
      await client.files.delete(created.pictures[0]!);
      expect((await tasks.get(created.id)).pictures.map(({ name }) => name)).to.deep.equal(["b.txt"]);
    });

    it("tells validation failures by field", async () => {
      const error = await client.collection("tasks").create({ rank: 1 }).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(RecordsError);
      expect((error as RecordsError).status).to.equal(400);
      expect((error as RecordsError).fields.map(({ field }) => field)).to.deep.equal(["title"]);
    });

    it("tells a lost connection apart from a refusal", async () => {
      const lost = createClient({ url: "http://127.0.0.1:1", tenant: "acme" });
      expect(await lost.collection("tasks").list().catch((error: unknown) => error)).to.be.instanceOf(ConnectionError);
      const controller = new AbortController();
      controller.abort(new Error("enough"));
      expect(await client.collection("tasks").list({ signal: controller.signal }).catch((error: unknown) => error)).to.have.property("message", "enough");
    });

    it("works with an API key", async () => {
      const me = await client.auth.me();
      const { body } = await demand(201, service.meta("POST", `/api/meta/tenants/${tenant.id}/api-keys`, { name: "test", userId: me.id }));
      const machine = open(service.url, { apiKey: body.key });
      expect(await machine.auth.me()).to.deep.equal(me);
    });
  });

  describe("sign-in", () => {
    it("refuses a wrong password, and stays signed out", async () => {
      const other = open();
      const error = await other.auth.login({ username: "alice", password: "this is the wrong one" }).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(RecordsError).and.include({ status: 401, message: "Invalid credentials" });
      expect(other.auth.isSignedIn).to.equal(false);
    });

    it("registers, and asks for mails", async () => {
      await demand(200, service.meta("PATCH", `/api/meta/tenants/${tenant.id}/settings`, {
        selfRegistration: true, passwordReset: { enabled: true, linkUrl: "https://app.test/reset#{token}" }, emailVerification: { enabled: true, linkUrl: "https://app.test/verify#{token}" },
      }));
      const fresh = open();
      const user = await fresh.auth.register({ username: "carol", password: testPassword, email: "carol@example.com" });
      expect(user).to.include({ username: "carol" });
      const tokenOf = async (ask: () => Promise<void>): Promise<string> => {
        const before = service.mails.length;
        await ask();
        await until(() => service.mails.length > before);
        return /#([A-Za-z0-9_-]+)/.exec(JSON.stringify(service.mails.at(-1)))![1]!;
      };
      await fresh.auth.confirmVerification(await tokenOf(() => fresh.auth.requestVerification("carol@example.com")));
      await fresh.auth.resetPassword(await tokenOf(() => fresh.auth.forgotPassword("carol@example.com")), "quite another password");
      await fresh.auth.login({ username: "carol", password: "quite another password" });
      expect(await fresh.auth.me()).to.include({ emailVerified: true });
    });

    it("refreshes an expired token by itself, once, and repeats the request", async () => {
      let refreshes = 0;
      const counting = await signedIn("alice", service.url, {
        fetch: (input: string, init: RequestInit) => {
          if (input.endsWith("/refresh")) refreshes += 1;
          return fetch(input, init);
        },
      });
      service.clock.advance(901_000);
      const answers = await Promise.all(Array.from({ length: 10 }, () => counting.auth.me()));
      expect(new Set(answers.map(({ id }) => id)).size).to.equal(1);
      expect(refreshes).to.equal(1);
    });

    it("keeps the session in the given storage", async () => {
      const values = new Map<string, string>();
      const storage = { getItem: (key: string) => values.get(key) ?? null, setItem: (key: string, value: string) => void values.set(key, value), removeItem: (key: string) => void values.delete(key) };
      await signedIn("alice", service.url, { storage });
      const reloaded = open(service.url, { storage });
      expect((await reloaded.auth.me()) as object).to.include({ username: "alice" });
      await reloaded.auth.logout();
      expect([values.size, reloaded.auth.isSignedIn]).to.deep.equal([0, false]);
    });

    it("is told when the session ends elsewhere", async () => {
      const told: boolean[] = [];
      client.auth.onChange((isSignedIn) => told.push(isSignedIn));
      await (await signedIn("alice")).auth.logout();
      const error = await client.auth.me().catch((reason: unknown) => reason);
      expect(error).to.include({ status: 401 });
      expect(told).to.deep.equal([false]);
    });
  });

  describe("realtime", () => {
    /** A way to the service that can be cut. */
    let way: { server: Server; url: string; target: string; cut(): void; isBlocked: boolean };

    beforeEach(async () => {
      const open = new Set<() => void>();
      const server = createServer((req: IncomingMessage, res: ServerResponse) => {
        if (way.isBlocked) {
          res.destroy();
          return;
        }
        const onward = request(`${way.target}${req.url}`, { method: req.method, headers: req.headers }, (answer) => {
          res.writeHead(answer.statusCode!, answer.headers);
          answer.pipe(res).on("error", () => undefined);
          answer.on("error", () => res.destroy());
        });
        const end = (): void => {
          onward.destroy();
          res.destroy();
        };
        open.add(end);
        onward.on("error", () => res.destroy());
        res.on("close", () => {
          onward.destroy();
          open.delete(end);
        });
        req.pipe(onward);
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      way = {
        server, isBlocked: false, target: service.url, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        cut() {
          for (const end of [...open]) end();
        },
      };
    });
    afterEach(async () => {
      for (const opened of clients.splice(0)) opened.close();
      way.server.closeAllConnections();
      await new Promise((resolve) => way.server.close(resolve));
    });

    const titlesOf = (changes: readonly Change<{ title: string }>[]): string[] => changes.map((change) => (change.action === "resync" ? "resync" : `${change.action} ${change.record.title}`));

    it("tells changes, to each listener what it asked for", async () => {
      const tasks = client.collection("tasks");
      const one = await tasks.create({ title: "one" });
      const all: Change<Task>[] = [];
      const single: Change<Task>[] = [];
      const first = tasks.subscribe((change) => all.push(change));
      const second = tasks.subscribe((change) => single.push(change), { id: one.id });
      await Promise.all([first.ready, second.ready]);
      expect(client.realtime.state).to.equal("live");
      const two = await tasks.create({ title: "two" });
      await tasks.update(one.id, { title: "one, changed" });
      await tasks.delete(two.id);
      await until(() => all.length === 3 && single.length === 1);
      expect(titlesOf(all)).to.deep.equal(["create two", "update one, changed", "delete two"]);
      expect(titlesOf(single)).to.deep.equal(["update one, changed"]);
      first.close();
      const again = tasks.subscribe((change) => single.push(change), { id: one.id });
      await again.ready;
      await tasks.update(one.id, { title: "again" });
      await until(() => single.length === 3);
      expect(all).to.have.length(3);
      second.close();
      again.close();
      await until(() => client.realtime.state === "idle");
    });

    it("goes on after a lost connection without a gap or a double", async () => {
      const far = await signedIn("alice", way.url);
      const tasks = client.collection("tasks");
      const heard: string[] = [];
      const states: string[] = [];
      far.realtime.onState((state) => states.push(state));
      await far.collection("tasks").subscribe((change) => heard.push(...titlesOf([change]))).ready;
      const expected: string[] = [];
      for (let round = 0; round < 5; round += 1) {
        if (round > 0) {
          way.isBlocked = round % 2 === 0;
          way.cut();
          await until(() => far.realtime.state !== "live");
        }
        for (let index = 0; index < 3; index += 1) {
          await tasks.create({ title: `${round} ${index}` });
          expected.push(`create ${round} ${index}`);
        }
        way.isBlocked = false;
        await until(() => heard.length >= expected.length && far.realtime.state === "live");
      }
      expect(heard).to.deep.equal(expected);
      expect(states).to.include("waiting");
    });

    it("tells that it had to resync where the history does not reach back", async () => {
      const short = await startService({ realtime: { history: 3 } });
      const house = await short.createTenant();
      await short.createCollection(house, { name: "tasks", viewRule: "true", fields: [{ name: "title", type: "TEXT" }] });
      await short.signUp(house, "alice");
      way.target = short.url;
      const [near, far] = [short.url, way.url].map((url) => createClient<Collections>({ url, tenant: house.slug, realtime: { minDelay: 20, maxDelay: 50 } }));
      const heard: string[] = [];
      let told = 0;
      for (const [one, listen] of [[near, () => { told += 1; }], [far, (change: Change<Task>) => heard.push(...titlesOf([change]))]] as const) {
        await one!.auth.login({ username: "alice", password: testPassword });
        await one!.collection("tasks").subscribe(listen).ready;
      }
      way.isBlocked = true;
      way.cut();
      await until(() => far!.realtime.state === "waiting");
      const system = short.service.tenant(house.slug).as("system").collection<{ title: string }>("tasks");
      for (let index = 0; index < 300; index += 1) await system.create({ title: String(index) });
      await until(() => told === 300);
      way.isBlocked = false;
      await until(() => heard.length > 0);
      await system.create({ title: "live" });
      await until(() => heard.length === 2);
      expect(heard).to.deep.equal(["resync", "create live"]);
      near!.close();
      far!.close();
      await short.close();
    });

    it("renews the stream in time, so that it outlives its token", async () => {
      const brief = await startService({ accessTokenTtl: 2 });
      const house = await brief.createTenant();
      await brief.createCollection(house, { name: "tasks", viewRule: "true", createRule: "true", fields: [{ name: "title", type: "TEXT" }] });
      await brief.signUp(house, "alice");
      const far = createClient<Collections>({ url: brief.url, tenant: house.slug });
      await far.auth.login({ username: "alice", password: testPassword });
      const heard: string[] = [];
      const states: string[] = [];
      await far.collection("tasks").subscribe((change) => heard.push(...titlesOf([change]))).ready;
      far.realtime.onState((state) => states.push(state));
      const began = Date.now();
      await until(() => Date.now() - began > 4_500);
      await far.collection("tasks").create({ title: "late" });
      await until(() => heard.length === 1);
      expect(states).to.deep.equal([]);
      far.close();
      await brief.close();
    });

    it("ends with the session, and begins anew with the next user", async () => {
      const far = await signedIn("alice");
      const heard: string[] = [];
      await far.collection("private").subscribe((change) => heard.push(...titlesOf([change]))).ready;
      const { id: alice } = await far.auth.me();
      await far.collection("private").create({ title: "of alice", owner: alice });
      await until(() => heard.length === 1);
      await far.auth.logout();
      await until(() => far.realtime.state === "signedOut");
      await far.auth.login({ username: "bob", password: testPassword });
      await until(() => far.realtime.state === "live");
      const { id: bob } = await far.auth.me();
      await far.collection("private").create({ title: "of alice again", owner: alice });
      await far.collection("private").create({ title: "of bob", owner: bob });
      await until(() => heard.length === 3);
      expect(heard).to.deep.equal(["create of alice", "resync", "create of bob"]);
    });

    it("refuses an unknown collection alone", async () => {
      const far = await signedIn("bob");
      const heard: string[] = [];
      const refused: number[] = [];
      const good = far.collection("tasks").subscribe((change) => heard.push(...titlesOf([change])));
      const bad = far.collection<{ title: string }>("nothing").subscribe(() => undefined, { onError: ({ status }) => refused.push(status) });
      const users = far.collection<{ title: string }>("users").subscribe(() => undefined, { onError: ({ status }) => refused.push(status) });
      expect(await bad.ready.catch((error: unknown) => error)).to.be.instanceOf(RecordsError).and.include({ status: 404 });
      expect(await users.ready.catch((error: unknown) => error)).to.be.instanceOf(RecordsError).and.include({ status: 400 });
      await good.ready;
      await client.collection("tasks").create({ title: "told" });
      await until(() => heard.length === 1);
      expect(refused.sort()).to.deep.equal([400, 404]);
    });

    it("a key that the service refuses ends its subscriptions", async () => {
      const machine = open(service.url, { apiKey: "pk_nothing" });
      const error = await machine.collection("tasks").subscribe(() => undefined).ready.catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(RecordsError).and.include({ status: 401 });
      await until(() => machine.realtime.state === "idle");
    });

    it("a connection that falls silent counts as lost", async () => {
      const far = await signedIn("alice", service.url, { realtime: { silence: 100, minDelay: 20 } });
      const states: string[] = [];
      far.realtime.onState((state) => states.push(state));
      await far.collection("tasks").subscribe(() => undefined).ready;
      await until(() => states.filter((state) => state === "live").length >= 2);
    });
  });
});
