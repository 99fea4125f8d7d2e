// interface.md and contract 5: POST, PATCH and DELETE of records, ETag and If-Match, races. Values: field-types.test.ts.
import { expect } from "chai";
import { demand, startService, type Answer, type TestService, type TestTenant } from "../support/service.js";

describe("writing records", () => {
  let on: TestService;
  let tenant: TestTenant;
  const at = "/api/collections/notes";
  const missing = "01890000-0000-7000-8000-000000000000";
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> => on.request(method, path, { tenant: tenant.slug, body, headers });
  const add = async (body: object = {}): Promise<Answer> => demand(201, send("POST", at, body));

  before(async () => {
    on = await startService();
    tenant = await on.createTenant("acme");
    await on.createCollection(tenant, {
      name: "notes", listRule: "true", viewRule: "true", createRule: "true", updateRule: "true", deleteRule: "true",
      fields: [{ name: "title", type: "TEXT" }, { name: "a", type: "NUMBER" }, { name: "b", type: "NUMBER" }, { name: "code", type: "TEXT", unique: true }, { name: "meta", type: "JSON" }, { name: "role", type: "TEXT" }, { name: "emailVerified", type: "BOOLEAN" }],
    });
  });
  after(() => on.close());

  it("POST and PATCH answer with exactly the shape of GET by id", async () => {
    const made = await add({ title: "x", meta: { a: [1] } });
    expect(made.body).to.have.all.keys("id", "createdAt", "updatedAt", "title", "a", "b", "code", "meta", "role", "emailVerified");
    const seen = await send("GET", `${at}/${made.body.id}`);
    expect(seen.text).to.equal(made.text);
    expect(seen.headers.etag).to.equal(made.headers.etag);
    const patched = await demand(200, send("PATCH", `${at}/${made.body.id}`, { a: 1 }));
    expect((await send("GET", `${at}/${made.body.id}`)).text).to.equal(patched.text);
    expect(patched.body.createdAt).to.equal(made.body.createdAt);
  });

  it("system fields in a body are ignored, so that a record that was read can be written back", async () => {
    const given = { id: missing, createdAt: "2000-01-01T00:00:00.000Z", updatedAt: "2000-01-01T00:00:00.000Z" };
    const made = await add({ ...given, title: "x" });
    for (const [name, value] of Object.entries(given)) expect(made.body[name]).not.to.equal(value);
    const back = await demand(200, send("PATCH", `${at}/${made.body.id}`, made.body));
    expect({ ...back.body, updatedAt: null }).to.deep.equal({ ...made.body, updatedAt: null });
    await demand(200, send("PATCH", `${at}/${made.body.id}`, { ...made.body, ...given, title: "y" }));
    expect((await send("GET", `${at}/${made.body.id}`)).body).to.include({ id: made.body.id, createdAt: made.body.createdAt, title: "y" });
    expect((await send("GET", `${at}/${missing}`)).status).to.equal(404);
  });

  it("role and emailVerified are ordinary fields elsewhere than on users", async () => {
    expect((await add({ role: "admin", emailVerified: true })).body).to.include({ role: "admin", emailVerified: true });
  });

  it("PATCH changes what it names and nothing else; null empties", async () => {
    const { body } = await add({ title: "x", a: 1, b: 2, meta: { kept: true } });
    expect((await demand(200, send("PATCH", `${at}/${body.id}`, { a: null, meta: { other: 1 } }))).body).to.deep.include({ title: "x", a: null, b: 2, meta: { other: 1 } });
  });

  it("PATCH with no known member: 200, nothing changes, updatedAt stays", async () => {
    const made = await add({ title: "x", a: 1 });
    await new Promise((resolve) => setTimeout(resolve, 5));
    for (const body of [{}, { id: "x" }, { createdAt: "2000-01-01T00:00:00.000Z" }]) {
      const answer = await demand(200, send("PATCH", `${at}/${made.body.id}`, body));
      expect(answer.text).to.equal(made.text);
      expect(answer.headers.etag).to.equal(made.headers.etag);
    }
    const changed = await demand(200, send("PATCH", `${at}/${made.body.id}`, { a: 2 }));
    expect(changed.body.updatedAt > made.body.updatedAt).to.equal(true);
    expect(changed.headers.etag).not.to.equal(made.headers.etag);
  });

  it("an unknown member of a PATCH is 400 with its entry, and nothing of it is written", async () => {
    const { body } = await add({ a: 1 });
    const answer = await send("PATCH", `${at}/${body.id}`, { a: 2, nope: 1 });
    expect([answer.status, answer.body.length, answer.body[0].field]).to.deep.equal([400, 1, "nope"]);
    expect((await send("GET", `${at}/${body.id}`)).body.a).to.equal(1);
  });

  it("a record that is not there is 404 for every method, also with an id of any shape", async () => {
    for (const id of [missing, "x", "..%2f..", "%00", "'", "__proto__", "0".repeat(2000)]) {
      for (const method of ["GET", "PATCH", "DELETE"]) {
        const answer = await send(method, `${at}/${id}`, method === "PATCH" ? { a: 1 } : undefined);
        expect([answer.status, answer.body], `${method} ${id.slice(0, 20)}`).to.deep.equal([404, { error: "Not found" }]);
      }
    }
  });

  it("DELETE answers 204 with no body; a second one 404", async () => {
    const { body } = await add({ code: "freed" });
    const answer = await send("DELETE", `${at}/${body.id}`);
    expect([answer.status, answer.text]).to.deep.equal([204, ""]);
    expect((await send("DELETE", `${at}/${body.id}`)).status).to.equal(404);
    await add({ code: "freed" });
  });

  describe("ETag and If-Match", () => {
    it("every single-record response carries a strong ETag", async () => {
      const made = await add();
      const seen = await send("GET", `${at}/${made.body.id}`);
      for (const { headers } of [made, seen]) expect(headers.etag).to.match(/^"[^"]+"$/);
    });

    it("If-Match with the record's ETag passes, with another one 412 and nothing changes", async () => {
      const made = await add({ a: 1 });
      const path = `${at}/${made.body.id}`;
      const etag = made.headers.etag!;
      const changed = await demand(200, send("PATCH", path, { a: 2 }, { "if-match": etag }));
      for (const method of ["PATCH", "DELETE"]) {
        const answer = await send(method, path, method === "PATCH" ? { a: 3 } : undefined, { "if-match": etag });
        expect(answer.status).to.equal(412);
        expect(answer.body).to.have.all.keys("error");
      }
      expect((await send("GET", path)).text).to.equal(changed.text);
      await demand(200, send("PATCH", path, { a: 4 }, { "if-match": `"other", ${changed.headers.etag}` }));
      await demand(200, send("PATCH", path, { a: 5 }, { "if-match": "*" }));
      expect((await send("PATCH", path, { a: 6 }, { "if-match": `W/${changed.headers.etag}` })).status).to.equal(412);
      const last = await send("GET", path);
      expect(last.body.a).to.equal(5);
      await demand(204, send("DELETE", path, undefined, { "if-match": last.headers.etag! }));
    });

    it("on a record that is not there: 404", async () => {
      expect((await send("PATCH", `${at}/${missing}`, { a: 1 }, { "if-match": '"x"' })).status).to.equal(404);
      expect((await send("DELETE", `${at}/${missing}`, undefined, { "if-match": '"x"' })).status).to.equal(404);
    });

    it("of twenty changes with one ETag exactly one passes", async () => {
      const made = await add({ a: 0 });
      const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => send("PATCH", `${at}/${made.body.id}`, { a: index + 1 }, { "if-match": made.headers.etag! })));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, ...Array.from({ length: 19 }, () => 412)]);
      expect((await send("GET", `${at}/${made.body.id}`)).body.a).to.equal(answers.find(({ status }) => status === 200)!.body.a);
    });

    it("If-None-Match on a view answers 304 with no body", async () => {
      const made = await add();
      const answer = await send("GET", `${at}/${made.body.id}`, undefined, { "if-none-match": made.headers.etag! });
      expect([answer.status, answer.text]).to.deep.equal([304, ""]);
    });
  });

  describe("races", () => {
    it("260 two PATCHes of different fields, 200 rounds: both survive", async () => {
      const { body } = await add({ a: 0, b: 0 });
      for (let round = 1; round <= 200; round += 1) {
        const both = await Promise.all([send("PATCH", `${at}/${body.id}`, { a: round }), send("PATCH", `${at}/${body.id}`, { b: round })]);
        expect(both.map(({ status }) => status)).to.deep.equal([200, 200]);
        expect((await send("GET", `${at}/${body.id}`)).body).to.include({ a: round, b: round });
      }
    });

    it("of parallel creations with one unique value exactly one succeeds, 20 rounds", async () => {
      for (let round = 0; round < 20; round += 1) {
        const answers = await Promise.all(Array.from({ length: 10 }, () => send("POST", at, { code: `race${round}` })));
        expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
        for (const answer of answers.filter(({ status }) => status !== 201)) expect([answer.status, answer.body[0].field]).to.deep.equal([400, "code"]);
        expect((await send("GET", `${at}?filter=code:eq:race${round}&count=true`)).body.total).to.equal(1);
      }
    });

    it("of parallel deletions exactly one succeeds", async () => {
      const { body } = await add();
      const answers = await Promise.all(Array.from({ length: 10 }, () => send("DELETE", `${at}/${body.id}`)));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([204, ...Array.from({ length: 9 }, () => 404)]);
    });

    it("a change beside a deletion leaves no half record", async () => {
      for (let round = 0; round < 20; round += 1) {
        const { body } = await add({ title: "gone" });
        const [change, removal] = await Promise.all([send("PATCH", `${at}/${body.id}`, { a: 1 }), send("DELETE", `${at}/${body.id}`)]);
        expect(removal.status).to.equal(204);
        expect(change.status).to.be.oneOf([200, 404]);
        expect((await send("GET", `${at}/${body.id}`)).status).to.equal(404);
      }
    });
  });
});
