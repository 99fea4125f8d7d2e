// Acceptance: the interface's table of limits, row by row, as far as they show from outside.
import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { file, form, text, type Part } from "../support/multipart.js";
import { demand, startService } from "../support/service.js";
import { eventually, startProcess, type Account, type Backend, type Receiver, type Tenant } from "./backend.js";
import { openScene, openToAll, type Scene } from "./scene.js";

describe("acceptance: limits", () => {
  let scene: Scene;
  let backend: Backend;
  let receiver: Receiver;
  let tenant: Tenant;
  let ann: Account;
  before(async () => {
    ({ backend, receiver, tenant, ann } = scene = await openScene());
    await tenant.collection({ name: "many", fields: [{ name: "n", type: "NUMBER" }, { name: "text", type: "TEXT" }, { name: "json", type: "JSON" }, { name: "file", type: "FILE" }, { name: "files", type: "FILE", multiple: true }], ...openToAll });
    for (const part of [0, 1]) {
      const requests = Array.from({ length: 60 }, (_, index) => ({ method: "POST", collection: "many", body: { n: part * 60 + index } }));
      await demand(200, backend.call("POST", "/api/batch", { token: ann.token, body: { requests } }));
    }
  });
  after(() => scene.end());
  const list = async (query: string) => (await demand(200, backend.call("GET", `/api/collections/many?${query}`, { token: ann.token }))).body;
  const post = (body: object) => backend.call("POST", "/api/collections/many", { token: ann.token, body });
  const numbers = (body: { items: { n: number }[] }) => body.items.map(({ n }) => n);

  it("limit: 25 by default and for 0 and below, at most 100; offset: negatives count as 0", async () => {
    for (const [query, length, limit] of [["", 25, 25], ["limit=0", 25, 25], ["limit=-3", 25, 25], ["limit=1", 1, 1], ["limit=100", 100, 100], ["limit=101", 100, 100], ["limit=500", 100, 100], ["limit=99999999", 100, 100]] as const) {
      const body = await list(query);
      expect([body.items.length, body.limit, body.offset, body.hasMore], query).to.deep.equal([length, limit, 0, true]);
    }
    expect(numbers(await list("offset=-5&limit=2"))).to.deep.equal([0, 1]);
    const end = await list("offset=110&limit=100");
    expect([end.items.length, end.offset, end.hasMore]).to.deep.equal([10, 110, false]);
    expect((await list("offset=1000")).items).to.deep.equal([]);
    expect((await list("count=true&limit=1")).total).to.equal(120);
  });

  it("insertion order without sort; pages neither repeat nor drop", async () => {
    const pages = await Promise.all([0, 50, 100].map((offset) => list(`offset=${offset}&limit=50`)));
    expect(pages.flatMap(numbers)).to.deep.equal(Array.from({ length: 120 }, (_, n) => n));
    const seen: number[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const body: { items: { n: number }[]; nextCursor: string | null } = await list(`limit=50&sort=n:desc${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`);
      seen.push(...numbers(body));
      cursor = body.nextCursor;
    }
    expect(seen).to.deep.equal(Array.from({ length: 120 }, (_, n) => 119 - n));
  });

  it("filter: one field, eq, colons kept", async () => {
    await demand(201, post({ n: 1000, text: "a:b:c" }));
    expect(numbers(await list(`filter=${encodeURIComponent("text:eq:a:b:c")}`))).to.deep.equal([1000]);
    expect(numbers(await list("filter=n:eq:7"))).to.deep.equal([7]);
  });

  it("password: 16 to 1024 characters, counted in code points", async () => {
    const make = (username: string, password: string) => tenant.meta("POST", "/users", { username, password });
    for (const [index, word] of ["p".repeat(15), "p".repeat(1025), "😀".repeat(15), ""].entries()) expect((await make(`bad${index}`, word)).status, word.slice(0, 20)).to.equal(400);
    for (const [index, word] of ["p".repeat(16), "p".repeat(1024), "😀".repeat(16)].entries()) {
      await demand(201, make(`good${index}`, word));
      await demand(200, tenant.login(`good${index}`, word));
    }
  });

  it("batch: at most 100; subscriptions and JSON 64 KiB likewise", async () => {
    const batch = (length: number) => backend.call("POST", "/api/batch", { token: ann.token, body: { requests: Array.from({ length }, (_, n) => ({ method: "POST", collection: "many", body: { n: 2000 + n } })) } });
    expect((await batch(101)).status).to.equal(400);
    expect((await list("count=true&limit=1")).total).to.equal(121);
    const answer = await demand(200, batch(100));
    expect(answer.body.results).to.have.length(100);
    expect(answer.body.results[0]).to.have.all.keys("status", "body");
    expect((await post({ json: "x".repeat(65_000) })).status).to.equal(201);
    expect((await post({ json: "x".repeat(66_000) })).status).to.equal(400);
    expect((await post({ text: "x".repeat(5000) })).status).to.equal(201);
    expect((await post({ text: "x".repeat(5001) })).status).to.equal(400);
  });

  it("files: 2 MiB by default, ten of a multiple field by default", async () => {
    const upload = (...parts: Part[]) => {
      const { body, headers } = form(text("n", "1"), ...parts);
      return backend.call("POST", "/api/collections/many", { token: ann.token, body, headers });
    };
    await demand(201, upload(file("file", Buffer.alloc(2 * 1024 * 1024))));
    const over = await upload(file("file", Buffer.alloc(2 * 1024 * 1024 + 1)));
    expect([over.status, over.body.map((entry: { field: string }) => entry.field)]).to.deep.equal([400, ["file"]]);
    await demand(201, upload(...Array.from({ length: 10 }, (_, n) => file("files", `f${n}`))));
    expect((await upload(...Array.from({ length: 11 }, (_, n) => file("files", `f${n}`)))).status).to.equal(400);
  });

  it("hooks: 5000 ms before, 30000 ms after, at most 30000", async () => {
    const make = (event: string, timeoutMs?: number) => tenant.meta("POST", "/hooks", { collection: "many", event, url: receiver.url, enabled: false, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
    expect((await make("beforeCreate")).body.timeoutMs).to.equal(5000);
    expect((await make("afterCreate")).body.timeoutMs).to.equal(30_000);
    expect((await make("beforeCreate", 30_000)).status).to.equal(201);
    expect((await make("beforeCreate", 1)).status).to.equal(201);
    for (const ms of [30_001, 0, -1, 1.5]) expect((await make("afterCreate", ms)).status, String(ms)).to.equal(400);
  });

  it("no rate limit: two hundred requests in a row are answered", async () => {
    const answers = await Promise.all(Array.from({ length: 200 }, () => backend.call("GET", "/api/collections/many?limit=1", { token: ann.token })));
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
  });

  it("each secret has at least 64 hex characters", async () => {
    const names = ["APPLICATION_SECRET", "TOKEN_SECRET", "SESSION_COOKIE_SECRET", "AUTHENTICATION_COOKIE_SECRET", "FLASH_COOKIE_SECRET"];
    const good = Object.fromEntries(names.map((name) => [name, randomBytes(32).toString("hex")]));
    await Promise.all([randomBytes(32).toString("hex").slice(1), "g".repeat(64)].map(async (bad) => {
      const running = await startProcess({ ...good, APPLICATION_MODE: "prod", TOKEN_SECRET: bad });
      expect(await running.ended).to.equal(1);
      expect(running.output()).to.contain("TOKEN_SECRET").and.not.contain(bad);
      await running.remove();
    }));
  });

  describe("by a clock that is moved", () => {
    const minutes = 60_000;

    it("reset and verification tokens live 30 minutes; access tokens 15; refresh tokens 30 days", async () => {
      const service = await startService();
      try {
        const here = await service.createTenant();
        const user = await service.signUp(here, "ann", { email: "ann@example.org" });
        await service.meta("PATCH", `/api/meta/tenants/${here.id}/settings`, { passwordReset: { enabled: true, linkUrl: "https://a.example.org/{token}" }, emailVerification: { enabled: true, linkUrl: "https://a.example.org/{token}" } });
        const issue = async (path: string) => {
          const before = service.mails.length;
          await service.request("POST", `/api/auth/${path}`, { body: { tenant: here.slug, email: "ann@example.org" } });
          const mail = await eventually(async () => service.mails[before]);
          return /a\.example\.org\/([\w-]+)/.exec(mail.text)![1]!;
        };
        const me = () => service.request("GET", "/api/auth/me", { token: user.token });
        await demand(200, me());
        for (const [request, confirm, more] of [["password/forgot", "password/reset", { password: "a password of some length" }], ["verify/request", "verify/confirm", {}]] as const) {
          const late = await issue(request);
          service.clock.advance(30 * minutes + 1);
          expect((await service.request("POST", `/api/auth/${confirm}`, { body: { token: late, ...more } })).body).to.deep.equal({ error: "Invalid or expired token" });
          if (confirm === "verify/confirm") {
            const timely = await issue(request);
            service.clock.advance(29 * minutes);
            await demand(204, service.request("POST", `/api/auth/${confirm}`, { body: { token: timely, ...more } }));
          }
        }
        expect((await me()).status).to.equal(401);
        const pair = (await demand(200, service.request("POST", "/api/auth/refresh", { body: { refreshToken: user.refreshToken } }))).body;
        service.clock.advance(30 * 24 * 60 * minutes + 1000);
        expect((await service.request("POST", "/api/auth/refresh", { body: { refreshToken: pair.refreshToken } })).status).to.equal(401);
      } finally {
        await service.close();
      }
    });

    it("a spent refresh token, used again after ten seconds, ends its whole family", async () => {
      const service = await startService();
      try {
        const here = await service.createTenant();
        const user = await service.signUp(here, "ann");
        const refresh = (refreshToken: string) => service.request("POST", "/api/auth/refresh", { body: { refreshToken } });
        const second = (await demand(200, refresh(user.refreshToken))).body;
        expect((await refresh(user.refreshToken)).status).to.equal(401);
        const third = (await demand(200, refresh(second.refreshToken))).body;
        service.clock.advance(10_001);
        expect((await refresh(user.refreshToken)).status).to.equal(401);
        expect((await refresh(third.refreshToken)).status).to.equal(401);
      } finally {
        await service.close();
      }
    });

    it("a setup token lives 30 minutes", async () => {
      const service = await startService();
      try {
        const setup = (token: string) => service.request("POST", "/api/admin/setup", { body: { token, username: "root", password: "a password of some length" } });
        const { token } = await service.service.createSetupToken();
        service.clock.advance(30 * minutes + 1);
        expect((await setup(token)).body).to.deep.equal({ error: "Invalid or expired token" });
        const second = await service.service.createSetupToken();
        service.clock.advance(29 * minutes);
        await demand(201, setup(second.token));
      } finally {
        await service.close();
      }
    });
  });
});
