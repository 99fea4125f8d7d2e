// Contract 3: what a field of each type takes, stores and refuses, as a table.
import { expect } from "chai";
import { demand, startService, type Answer, type TestService, type TestTenant } from "../support/service.js";

type Case = readonly [value: unknown, stored?: unknown];
interface Table {
  readonly type: string;
  readonly options?: object;
  readonly takes: readonly Case[];
  readonly refuses: readonly unknown[];
}

const long = (length: number, text = "x"): string => text.repeat(length);
const tables: readonly Table[] = [
  { type: "TEXT", takes: [["x"], [""], [" blanks "], ["ünïcode 😀 漢字"], [long(5000)], ["line\nbreak\t"], [long(5000, "😀")]], refuses: [5, true, [], {}, long(5001), ["x"]] },
  { type: "TEXT", options: { minLength: 2, maxLength: 3 }, takes: [["ab"], ["abc"], ["😀😀"], ["😀😀😀"]], refuses: ["a", "abcd", "😀", "😀😀😀😀"] },
  { type: "TEXT", options: { pattern: "^[A-Z]{2}-\\d+$" }, takes: [["AB-1"]], refuses: ["ab-1", "AB-", "xAB-1"] },
  { type: "TEXT", options: { maxLength: 20000 }, takes: [[long(20000)]], refuses: [long(20001)] },
  { type: "NUMBER", takes: [[0], [-1.5], [1e300], [9007199254740991], [0.1]], refuses: ["5", "", true, [], {}] },
  { type: "NUMBER", options: { min: -1, max: 10, integer: true }, takes: [[-1], [10], [5], [5.0]], refuses: [-2, 11, 5.5] },
  { type: "BOOLEAN", takes: [[true], [false]], refuses: ["true", 0, 1, "", []] },
  {
    type: "DATE",
    takes: [
      ["2026-01-31T10:00:00.000Z"], ["2026-01-31T10:00:00Z", "2026-01-31T10:00:00.000Z"], ["2026-01-31T12:00:00+02:00", "2026-01-31T10:00:00.000Z"],
      ["2026-01-31", "2026-01-31T00:00:00.000Z"], ["2024-02-29T23:59:59.999Z"], ["1969-12-31T23:59:59.999Z"],
    ],
    refuses: ["", "yesterday", "2026-02-30T00:00:00Z", "2023-02-29", 1769853600000, "2020", true, "31.01.2026", "2026-01-31T25:00:00Z"],
  },
  { type: "DATE", options: { min: "2026-01-01T00:00:00Z", max: "2026-12-31T00:00:00Z" }, takes: [["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z"]], refuses: ["2025-12-31T23:59:59Z", "2026-12-31T00:00:01Z"] },
  { type: "EMAIL", takes: [["a@example.org"], ["a.b+c@sub.example.test"]], refuses: ["", "a", "a@", "@b.c", "a b@c.de", "a@b@c.de", "Anna <a@b.de>", "a@b.de,c@d.ef", "a@b.de\r\nBcc: x@y.zz", 5] },
  { type: "URL", takes: [["https://example.org/a?b=c#d"], ["http://localhost:8080"]], refuses: ["", "example.org", "javascript:alert(1)", "no url", "http://", 5] },
  { type: "SELECT", options: { values: ["open", "in work", ""].slice(0, 2) }, takes: [["open"], ["in work"]], refuses: ["Open", "", "closed", 0, ["open"]] },
  {
    type: "JSON",
    takes: [[{ a: [1, { b: null }] }], [[]], ["text"], [0], [false], [{}], [{ "$where": 1, "a.b": 2 }], [{ ünï: "😀" }], [long(60_000)]],
    refuses: [long(65 * 1024), { a: long(65 * 1024) }],
  },
];

describe("fields of each type", () => {
  let on: TestService;
  let tenant: TestTenant;
  const rules = { listRule: "true", viewRule: "true", createRule: "true", updateRule: "true", deleteRule: "true" };
  const data = (method: string, path: string, body?: unknown) => on.request(method, `/api/collections/${path}`, { tenant: tenant.slug, body });

  before(async () => {
    on = await startService();
    tenant = await on.createTenant("acme");
    await on.createCollection(tenant, { name: "targets", fields: [], ...rules });
  });
  after(() => on.close());

  const refusal = (answer: Answer, ...fields: string[]): void => {
    expect(answer.status, answer.text).to.equal(400);
    expect(answer.body.map((entry: { field: string }) => entry.field), answer.text).to.have.members(fields);
    for (const entry of answer.body) {
      expect(entry).to.have.all.keys("field", "message");
      expect(entry.message).to.be.a("string").that.is.not.empty;
    }
  };

  tables.forEach(({ type, options = {}, takes, refuses }, index) => {
    describe(`${type} ${index > 0 && Object.keys(options).length > 0 ? JSON.stringify(options) : ""}`, () => {
      const name = `type${index}`;
      before(() => on.createCollection(tenant, { name, fields: [{ name: "value", type, ...options }], ...rules }));

      it("takes what it should, on POST and PATCH, and gives it back", async () => {
        for (const [value, stored = value] of takes) {
          const label = JSON.stringify(value).slice(0, 60);
          const made = await data("POST", name, { value });
          expect(made.status, `${label}: ${made.text.slice(0, 200)}`).to.equal(201);
          expect(made.body.value, label).to.deep.equal(stored);
          expect((await data("GET", `${name}/${made.body.id}`)).body, label).to.deep.equal(made.body);
          await demand(200, data("PATCH", `${name}/${made.body.id}`, { value: null }));
          const patched = await demand(200, data("PATCH", `${name}/${made.body.id}`, { value }));
          expect(patched.body.value, label).to.deep.equal(stored);
        }
      });

      it("refuses the rest with the array naming the field", async () => {
        const { body: record } = await data("POST", name, {});
        expect(record.value).to.equal(null);
        for (const value of refuses) {
          for (const answer of [await data("POST", name, { value }), await data("PATCH", `${name}/${record.id}`, { value })]) {
            expect(answer.status, JSON.stringify(value).slice(0, 60)).to.equal(400);
            refusal(answer, "value");
          }
        }
        expect((await data("GET", `${name}/${record.id}`)).body).to.deep.equal(record);
      });
    });
  });

  it("RELATION takes an id of its collection, and nothing else", async () => {
    await on.createCollection(tenant, { name: "pointing", fields: [{ name: "value", type: "RELATION", collection: "targets" }], ...rules });
    const { body: target } = await data("POST", "targets", {});
    expect((await demand(201, data("POST", "pointing", { value: target.id }))).body.value).to.equal(target.id);
    expect((await demand(201, data("POST", "pointing", { value: null }))).body.value).to.equal(null);
    const { body: other } = await data("POST", "pointing", {});
    for (const value of ["01890000-0000-7000-8000-000000000000", "x", "", 5, [target.id], { id: target.id }, other.id, target.id.toUpperCase()]) {
      refusal(await data("POST", "pointing", { value }), "value");
    }
  });

  it("required: absent, null and empty are refused on create; null on update", async () => {
    const fields = [{ name: "text", type: "TEXT", required: true }, { name: "n", type: "NUMBER", required: true }, { name: "flag", type: "BOOLEAN", required: true }, { name: "free", type: "TEXT" }];
    await on.createCollection(tenant, { name: "needs", fields, ...rules });
    refusal(await data("POST", "needs", {}), "text", "n", "flag");
    refusal(await data("POST", "needs", { text: null, n: null, flag: null }), "text", "n", "flag");
    refusal(await data("POST", "needs", { text: "", n: 0, flag: false }), "text");
    const { body } = await demand(201, data("POST", "needs", { text: "x", n: 0, flag: false }));
    refusal(await data("PATCH", `needs/${body.id}`, { text: null, n: null }), "text", "n");
    await demand(200, data("PATCH", `needs/${body.id}`, { free: "x" }));
  });

  it("a default stands in for an absent member on create, and only there", async () => {
    const fields = [
      { name: "text", type: "TEXT", default: "none" }, { name: "n", type: "NUMBER", default: 0 }, { name: "flag", type: "BOOLEAN", default: false, required: true },
      { name: "day", type: "DATE", default: "2026-01-31" }, { name: "state", type: "SELECT", values: ["open", "done"], default: "open" }, { name: "meta", type: "JSON", default: { a: [] } },
    ];
    await on.createCollection(tenant, { name: "preset", fields, ...rules });
    const { body } = await demand(201, data("POST", "preset", {}));
    expect(body).to.deep.include({ text: "none", n: 0, flag: false, day: "2026-01-31T00:00:00.000Z", state: "open", meta: { a: [] } });
    expect((await demand(201, data("POST", "preset", { text: null, n: 5 }))).body).to.include({ text: null, n: 5, flag: false });
    expect((await demand(200, data("PATCH", `preset/${body.id}`, { text: null, n: null }))).body).to.include({ text: null, n: null });
    expect((await demand(200, data("PATCH", `preset/${body.id}`, { state: "done" }))).body).to.include({ text: null, state: "done" });
  });

  it("all faults of a body are told at once, unknown members one entry each", async () => {
    await on.createCollection(tenant, { name: "many", fields: [{ name: "text", type: "TEXT", maxLength: 1 }, { name: "n", type: "NUMBER" }], ...rules });
    refusal(await data("POST", "many", { text: "xx", n: "x", nope: 1, other: null, toString: 1, hasOwnProperty: 1 }), "text", "n", "nope", "other", "toString", "hasOwnProperty");
    expect((await data("GET", "many?count=true")).body.total).to.equal(0);
  });

  it("a unique field of each comparable type refuses a second one of the same value", async () => {
    const values = { TEXT: "x", NUMBER: 5, BOOLEAN: true, DATE: "2026-01-31", EMAIL: "a@example.org", URL: "https://example.org/", SELECT: "a" } as const;
    for (const [type, value] of Object.entries(values)) {
      const name = `unique${type}`;
      await on.createCollection(tenant, { name, fields: [{ name: "value", type, unique: true, ...(type === "SELECT" ? { values: ["a", "b"] } : {}) }, { name: "note", type: "TEXT" }], ...rules });
      const { body } = await demand(201, data("POST", name, { value }));
      refusal(await data("POST", name, { value }), "value");
      await demand(200, data("PATCH", `${name}/${body.id}`, { value, note: "its own value again" }));
      const { body: other } = await demand(201, data("POST", name, {}));
      refusal(await data("PATCH", `${name}/${other.id}`, { value }), "value");
      await demand(204, data("DELETE", `${name}/${body.id}`));
      await demand(200, data("PATCH", `${name}/${other.id}`, { value }));
    }
  });

  it("unique compares exactly: case and form make a difference", async () => {
    for (const value of ["straße", "STRASSE", "Straße", "é".normalize("NFC"), "é".normalize("NFD"), "a", "a "]) await demand(201, data("POST", "uniqueTEXT", { value }));
  });
});
