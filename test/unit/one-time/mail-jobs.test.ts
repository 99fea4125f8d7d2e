// Mails wait in the store: a process that dies loses none, none is sent by two, and nothing secret is kept.
import { expect } from "chai";
import type { OneTime } from "../../../lib/auth/one-time/one-time.js";
import { reset, verification } from "../../../lib/auth/one-time/kinds.js";
import { leaseMs, mailJobsTable, putJob } from "../../../lib/auth/one-time/mail-jobs.js";
import { newId } from "../../../lib/core/ids.js";
import { usersTable } from "../../../lib/collections/collection.js";
import type { Mail, Mailer } from "../../../lib/mailer/mailer.js";
import { always } from "../../../lib/storage/filter.js";
import type { Row } from "../../../lib/storage/storage.js";
import { tenantTables } from "../../../lib/tenants/tables.js";
import { rejection } from "../admin/open-admin.js";
import { openOneTime, type OpenedOneTime } from "./open-one-time.js";

const password = "a password of my own";
const address = "alice@example.test";
const minute = 60_000;

describe("mails that wait in the store", () => {
  let opened: OpenedOneTime;
  /** What went to a mailer that does not answer. */
  let unanswered: Mail[];
  beforeEach(async () => {
    opened = await openOneTime();
    unanswered = [];
  });
  afterEach(() => opened.close());

  const jobs = (): Promise<Row[]> => opened.storage.tenant(opened.tenantId).table(mailJobsTable).list({ filter: always, limit: 2000 });
  const put = async (userId: string, kind = reset, to = address): Promise<void> => putJob(await opened.context(), [], kind, userId, to, opened.now);
  const mailbox: Mailer = { async send(mail) { opened.mails.push(mail); } };
  const tokenOf = (mail: Mail | undefined): string => /[A-Za-z0-9_-]{86}/.exec(mail!.text)![0];
  async function forgot(by: OneTime, email = address): Promise<void> {
    await by.forgotPassword(await opened.context(), opened.origin, { email });
  }
  /** A process that looks round and does what it finds. */
  async function look(mailer: Mailer | "none" = mailbox): Promise<void> {
    const process = opened.another(mailer === "none" ? undefined : mailer);
    process.start();
    await process.idle();
    await process.close(1000);
  }
  /** A process that takes what is due, gets no answer from its mailer, and is gone. */
  async function takeAndDie(due = 1): Promise<void> {
    const taken = unanswered.length;
    let begun = (): void => undefined;
    const sending = new Promise<void>((resolve) => { begun = resolve; });
    const process = opened.another({
      send(mail) {
        unanswered.push(mail);
        if (unanswered.length === taken + due) begun();
        return new Promise(() => undefined);
      },
    });
    process.start();
    await sending;
    await process.close(0);
  }

  it("a mail whose process died goes out by another when the lease has ended, and its link is the only one that works", async () => {
    const id = await opened.addUser({ username: "alice", email: address });
    await put(id);
    await takeAndDie();
    opened.now += leaseMs - 1;
    await look();
    expect(opened.mails).to.deep.equal([]);
    opened.now += 1;
    await look();
    expect(opened.mails.map(({ to }) => to)).to.deep.equal([address]);
    expect(await jobs()).to.deep.equal([]);
    const [dead, living] = [tokenOf(unanswered[0]), tokenOf(opened.mails[0])];
    expect(dead).not.to.equal(living);
    expect((await rejection(opened.other.resetPassword(opened.origin, { token: dead, password }))).status).to.equal(400);
    await opened.other.resetPassword(opened.origin, { token: living, password });
    expect((await opened.user(id)).hidden["generation"]).to.equal(2);
  });

  it("a process that lives takes over by itself when the lease of a dead one has ended", async () => {
    await put(await opened.addUser({ username: "alice", email: address }));
    await takeAndDie();
    opened.now += leaseMs - 50;
    let sent = (): void => undefined;
    const sending = new Promise<void>((resolve) => { sent = resolve; });
    const process = opened.another({ async send(mail) { opened.mails.push(mail); sent(); } });
    process.start();
    await process.idle();
    expect(opened.mails).to.deep.equal([]);
    opened.now += 50;
    await sending;
    await process.idle();
    expect(await jobs()).to.deep.equal([]);
  });

  it("two processes that look at the same time send each mail once", async () => {
    const ids = await Promise.all(Array.from({ length: 60 }, (_, n) => opened.addUser({ username: `user${n}`, email: `user${n}@example.test` })));
    await Promise.all(ids.map((id, n) => put(id, reset, `user${n}@example.test`)));
    const processes = [opened.another(mailbox), opened.another(mailbox), opened.other];
    for (const process of processes) process.start();
    await Promise.all(processes.map((process) => process.idle()));
    expect(opened.mails.map(({ to }) => to).sort()).to.deep.equal(ids.map((_id, n) => `user${n}@example.test`).sort());
    for (const { to, text } of opened.mails) {
      const { hidden } = await opened.user(ids[Number(/\d+/.exec(to)![0])]!);
      expect(hidden["resetHash"], text).to.be.a("string");
    }
    expect(await jobs()).to.deep.equal([]);
    expect(opened.lines).to.deep.equal([]);
  });

  it("F15: at most five are sent at a time, and each of them", async () => {
    const ids = await Promise.all(Array.from({ length: 100 }, (_, n) => opened.addUser({ username: `user${n}`, email: `user${n}@example.test` })));
    await Promise.all(ids.map((id, n) => put(id, reset, `user${n}@example.test`)));
    let running = 0;
    let most = 0;
    await look({
      async send(mail) {
        running += 1;
        most = Math.max(most, running);
        // Long enough for the next ones to be taken.
        while (running < 5 && opened.mails.length < 90) await new Promise((resolve) => setImmediate(resolve));
        opened.mails.push(mail);
        running -= 1;
      },
    });
    expect([most, new Set(opened.mails.map(({ to }) => to)).size]).to.deep.equal([5, 100]);
  });

  it("no table holds a token or a link, neither in sight nor hidden, before, while and after a mail goes out", async () => {
    const id = await opened.addUser({ username: "alice", email: address });
    const everything = async (): Promise<string> => {
      const store = opened.storage.tenant(opened.tenantId);
      const rows = await Promise.all([...Object.keys(tenantTables), usersTable].map((table) => store.table(table).list({ filter: always, limit: 1000 })));
      return JSON.stringify(rows.flat().map(({ text, hidden }) => [text, hidden]));
    };
    await put(id);
    await put(id, verification);
    const states = [await everything()];
    expect(states[0]).to.include(address);
    await takeAndDie(2);
    states.push(await everything());
    opened.now += leaseMs;
    await look();
    states.push(await everything());
    const tokens = [...unanswered, ...opened.mails].map(tokenOf);
    expect(tokens).to.have.length(4);
    for (const state of states) for (const secret of [...tokens, "app.test", "token="]) expect(state).not.to.include(secret);
    expect(Object.keys((await (await put(id), jobs()))[0]!.record).sort()).to.deep.equal(["address", "createdAt", "dueAt", "id", "kind", "taken", "updatedAt", "userId"]);
  });

  it("what a removed tenant left is not looked at again and again", async () => {
    await put(await opened.addUser({ username: "alice", email: address }));
    const [acme] = opened.tenants;
    const process = opened.another(mailbox);
    opened.tenants = [{ ...acme! }];
    opened.asked = 0;
    process.start();
    await process.idle();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect([opened.asked, opened.mails]).to.deep.equal([1, []]);
  });

  it("a look at many tenants gives others their turn after each", async () => {
    const [acme] = opened.tenants;
    opened.tenants = Array.from({ length: 300 }, () => ({ ...acme!, id: newId(opened.now) }));
    let turns = 0;
    let looking = true;
    const count = (): void => {
      turns += 1;
      if (looking) setImmediate(count);
    };
    const process = opened.another(mailbox);
    process.start();
    setImmediate(count);
    await process.idle();
    looking = false;
    expect(turns).to.be.at.least(300);
  });

  it("a mail that ended its process three times is given up, and the log says so", async () => {
    await put(await opened.addUser({ username: "alice", email: address }));
    for (let round = 0; round < 3; round += 1) {
      await takeAndDie();
      opened.now += leaseMs;
    }
    await look();
    expect([opened.mails, await jobs()]).to.deep.equal([[], []]);
    expect(opened.messages).to.deep.equal(["a mail was given up: the process that sent it ended three times"]);
    expect(JSON.stringify(opened.lines)).not.to.include(address);
  });

  it("a mail that waited for 30 minutes is dropped, with a mailer or without", async () => {
    const id = await opened.addUser({ username: "alice", email: address });
    for (const mailer of [mailbox, "none"] as const) {
      await put(id);
      opened.now += 30 * minute - 1;
      await look("none");
      expect(await jobs()).to.have.length(1);
      opened.now += 1;
      await look(mailer);
      expect([opened.mails, await jobs()]).to.deep.equal([[], []]);
    }
    expect(opened.messages).to.deep.equal(["a mail was dropped: it waited for 30 minutes"]);
    expect((await opened.user(id)).hidden["resetHash"] ?? null).to.equal(null);
  });

  const changes: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
    "the address was changed": (id) => opened.change(id, { email: "new@example.test" }),
    "the account was switched off": (id) => opened.storage.tenant(opened.tenantId).write({ operations: [{ type: "update", table: usersTable, id, setHidden: { active: false } }] }),
    "the account was deleted": (id) => opened.storage.tenant(opened.tenantId).write({ operations: [{ type: "remove", table: usersTable, id }] }),
    "the address was verified": (id) => opened.change(id, { emailVerified: true }),
    "the feature was switched off": () => opened.set({ emailVerification: { enabled: false, linkUrl: "https://app.test/", requireForLogin: false } }),
    "the link was taken away": () => opened.set({ emailVerification: { enabled: true, linkUrl: "", requireForLogin: false } }),
  };
  for (const [what, change] of Object.entries(changes)) {
    it(`sends and issues nothing where ${what} meanwhile`, async () => {
      const id = await opened.addUser({ username: "alice", email: address });
      await put(id, verification);
      await change(id);
      await look();
      expect([opened.mails, await jobs(), opened.lines]).to.deep.equal([[], [], []]);
      const row = await opened.storage.tenant(opened.tenantId).table(usersTable).find(id);
      expect(row?.hidden["verifyHash"] ?? null).to.equal(null);
    });
  }

  it("sends nothing to an address that is changed in the very moment in which its mail is taken", async () => {
    const id = await opened.addUser({ username: "alice", email: address });
    await put(id);
    opened.beforeTaking = () => opened.change(id, { email: "new@example.test" });
    await look();
    expect([opened.mails, await jobs(), opened.lines]).to.deep.equal([[], [], []]);
    expect((await opened.user(id)).hidden["resetHash"] ?? null).to.equal(null);
  });

  it("sends nothing where the feature is switched off in that moment", async () => {
    const id = await opened.addUser({ username: "alice", email: address });
    await put(id);
    opened.beforeTaking = () => opened.set({ passwordReset: { enabled: false, linkUrl: "https://app.test/reset" } });
    await look();
    expect([opened.mails, await jobs(), opened.lines]).to.deep.equal([[], [], []]);
    expect((await opened.user(id)).hidden["resetHash"] ?? null).to.equal(null);
  });

  it("two requests while the first one waits are one mail; one that comes while it is sent is another, whose link works", async () => {
    const id = await opened.addUser({ username: "alice", email: address });
    await put(id);
    const [waits] = await jobs();
    opened.now += 1;
    await put(id);
    expect((await jobs()).map(({ record }) => record)).to.deep.equal([waits!.record]);
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => { release = resolve; });
    const slow = opened.another({ async send(mail) { opened.mails.push(mail); await gate; } });
    slow.start();
    while (opened.mails.length < 1) await new Promise((resolve) => setImmediate(resolve));
    await forgot(slow);
    while (opened.mails.length < 2) await new Promise((resolve) => setImmediate(resolve));
    release();
    await slow.idle();
    expect(await jobs()).to.deep.equal([]);
    const [older, newer] = opened.mails.map(tokenOf);
    expect((await rejection(slow.resetPassword(opened.origin, { token: older!, password }))).status).to.equal(400);
    await slow.resetPassword(opened.origin, { token: newer!, password });
  });

  it("a process that ends its mail leaves a job alone that was begun anew meanwhile", async () => {
    const id = await opened.addUser({ username: "alice", email: address });
    await put(id);
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => { release = resolve; });
    const slow = opened.another({ async send(mail) { opened.mails.push(mail); await gate; } });
    slow.start();
    while (opened.mails.length < 1) await new Promise((resolve) => setImmediate(resolve));
    await put(id);
    release();
    await slow.idle();
    expect((await jobs()).map(({ record }) => record["taken"])).to.deep.equal([0]);
    await look();
    expect(opened.mails).to.have.length(2);
    expect(await jobs()).to.deep.equal([]);
  });

  it("a mail that could not be sent is logged and given up", async () => {
    await put(await opened.addUser({ username: "alice", email: address }));
    let attempts = 0;
    await look({ async send() { attempts += 1; throw new Error(`550 ${address}`); } });
    opened.now += leaseMs;
    await look();
    expect([attempts, opened.mails, await jobs(), opened.messages]).to.deep.equal([1, [], [], ["a mail could not be sent"]]);
    expect(JSON.stringify(opened.lines)).not.to.include(address);
  });

  it("nothing waits where no mailer or no link is set: the token is issued at once", async () => {
    const id = await opened.addUser({ username: "alice", email: address });
    const before = (await opened.user(id)).hidden["resetHash"];
    const without = opened.another(undefined);
    await forgot(without);
    await without.idle();
    const first = (await opened.user(id)).hidden["resetHash"];
    await opened.set({ passwordReset: { enabled: true, linkUrl: "" } });
    await forgot(opened.oneTime);
    await opened.oneTime.idle();
    const second = (await opened.user(id)).hidden["resetHash"];
    expect(new Set([before, first, second])).to.have.property("size", 3);
    expect([opened.mails, await jobs()]).to.deep.equal([[], []]);
  });

  it("mails go out in a tenant that is older than their table", async () => {
    await opened.addUser({ username: "alice", email: address });
    await opened.storage.tenant(opened.tenantId).write({ operations: [{ type: "drop", table: mailJobsTable }] });
    await look();
    await forgot(opened.oneTime);
    await opened.oneTime.idle();
    expect(opened.mails.map(({ to }) => to)).to.deep.equal([address]);
  });

  it("a thousand mails may wait in a tenant; what comes beyond is dropped, and the log says so once", async () => {
    await opened.addUser({ username: "alice", email: address });
    const at = new Date(opened.now + minute).toISOString();
    const waiting = Array.from({ length: 1000 }, (_, n) => ({ type: "insert" as const, table: mailJobsTable, record: { id: `reset-${n}`, createdAt: at, updatedAt: at, kind: "reset", userId: "nobody", address, taken: 1, dueAt: at } }));
    await opened.storage.tenant(opened.tenantId).write({ operations: waiting });
    for (let round = 0; round < 3; round += 1) {
      await forgot(opened.oneTime);
      await opened.oneTime.idle();
    }
    expect(opened.mails).to.deep.equal([]);
    expect(opened.messages).to.deep.equal(["a mail was dropped: too many wait"]);
    expect(await jobs()).to.have.length(1000);
  });

  it("the end of the service sends what is due in its time, and leaves the rest in the store", async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, (_, n) => opened.addUser({ username: `user${n}`, email: `user${n}@example.test` })));
    await Promise.all(ids.map((id, n) => put(id, reset, `user${n}@example.test`)));
    let begun = 0;
    const hanging = opened.another({ send: () => { begun += 1; return new Promise(() => undefined); } });
    hanging.start();
    while (begun < 5) await new Promise((resolve) => setImmediate(resolve));
    await hanging.close(30);
    expect((await jobs()).map(({ record }) => record["taken"]).sort()).to.deep.equal([...Array(7).fill(0), ...Array(5).fill(1)]);
    await look();
    expect(opened.mails).to.have.length(7);
    opened.now += leaseMs;
    await look();
    expect(opened.mails).to.have.length(12);

    await put(ids[0]!, reset, "user0@example.test");
    const quick = opened.another({ async send(mail) { await new Promise((resolve) => setImmediate(resolve)); opened.mails.push(mail); } });
    await forgot(quick, "user1@example.test");
    await quick.close(5000);
    expect(opened.mails.slice(12).map(({ to }) => to).sort()).to.deep.equal(["user0@example.test", "user1@example.test"]);
    expect(await jobs()).to.deep.equal([]);
  });
});
