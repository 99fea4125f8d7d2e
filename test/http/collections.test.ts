// Contract 3: collections, and their change in place under data. What a field's value may be: field-types.test.ts.
import { expect } from "chai";
import { demand, startService, type Answer, type TestService, type TestTenant } from "../support/service.js";

const open = { listRule: "true", viewRule: "true", createRule: "true", updateRule: "true", deleteRule: "true" };

describe("collections", () => {
  let on: TestService;
  let tenant: TestTenant;
  let names = 0;
  const at = (name = "") => `/api/meta/tenants/${tenant.id}/collections${name === "" ? "" : `/${name}`}`;
  const fresh = (): string => `c${(names += 1)}`;
  const data = (method: string, path: string, body?: unknown) => on.request(method, `/api/collections/${path}`, { tenant: tenant.slug, body });
  const create = async (fields: readonly object[], more: object = {}): Promise<string> => {
    const name = fresh();
    await on.createCollection(tenant, { name, fields, ...open, ...more });
    return name;
  };
  const add = async (name: string, body: object): Promise<Answer["body"]> => (await demand(201, data("POST", name, body))).body;
  const change = (name: string, body: object) => on.meta("PATCH", at(name), body);
  const fieldsOf = async (name: string) => (await demand(200, on.meta("GET", at(name)))).body.fields;

  before(async () => {
    on = await startService();
    tenant = await on.createTenant("acme");
  });
  after(() => on.close());

  const refuses = (answer: Answer, field: RegExp): void => {
    expect(answer.status, answer.text).to.equal(400);
    expect(answer.body[0].field, answer.text).to.match(field);
    expect(answer.body[0].message).to.be.a("string").that.is.not.empty;
  };

  describe("definition", () => {
    it("POST answers 201 with the collection; a new one has all five rules at No access and realtime on", async () => {
      const { body } = await demand(201, on.meta("POST", at(), { name: "plain", fields: [{ name: "title", type: "TEXT" }] }));
      expect(body).to.have.all.keys("id", "name", "system", "fields", "indexes", "listRule", "viewRule", "createRule", "updateRule", "deleteRule", "realtime", "createdAt", "updatedAt");
      expect(body).to.deep.include({ name: "plain", system: false, indexes: [], listRule: null, viewRule: null, createRule: null, updateRule: null, deleteRule: null, realtime: true });
      expect(body.fields).to.have.length(1);
      expect(body.fields[0]).to.deep.include({ name: "title", type: "TEXT", required: false, unique: false, default: null, maxLength: 5000 });
      expect((await demand(200, on.meta("GET", at("plain")))).body).to.deep.equal(body);
      const { body: list } = await demand(200, on.meta("GET", at()));
      expect(list.items.map((one: { name: string }) => one.name)).to.include.members(["users", "plain"]);
    });

    it("options have the defaults of the contract", async () => {
      const name = await create([{ name: "file", type: "FILE" }, { name: "other", type: "RELATION", collection: "plain" }]);
      const [file, other] = await fieldsOf(name);
      expect(file).to.include({ multiple: false, maxFiles: 10, maxSize: 2 * 1024 * 1024 });
      expect(other).to.include({ collection: "plain", onDelete: "restrict" });
    });

    it("a definition that was read can be written back", async () => {
      const name = await create([{ name: "title", type: "TEXT", unique: true }, { name: "s", type: "SELECT", values: ["a"], default: "a" }, { name: "file", type: "FILE", widths: [10] }], { indexes: [{ fields: ["s", "title"], unique: false }] });
      const { body } = await on.meta("GET", at(name));
      const answer = await demand(200, change(name, body));
      expect({ ...answer.body, updatedAt: body.updatedAt }).to.deep.equal(body);
    });

    for (const name of ["", "1a", "_a", "a-b", "a b", "ä", "a".repeat(64), "../x", 5, null, "users"]) {
      it(`refuses the collection name ${JSON.stringify(name).slice(0, 12)}`, async () => {
        refuses(await on.meta("POST", at(), { name, fields: [] }), /^name/);
      });
    }

    it("takes names of 1 and 63 characters", async () => {
      for (const name of ["a", "Z".repeat(63), "A_9"]) await on.createCollection(tenant, { name, fields: [] });
    });

    it("a taken collection name: 400 with the array naming the field, on create and on rename", async () => {
      const name = await create([]);
      refuses(await on.meta("POST", at(), { name, fields: [] }), /^name$/);
      refuses(await change(name, { name: "plain" }), /^name$/);
      await demand(200, on.meta("GET", at(name)));
    });

    for (const name of ["id", "createdAt", "updatedAt", "constructor", "prototype", "__proto__", "1a", "a-b", "", "a".repeat(64), 7]) {
      it(`refuses the field name ${JSON.stringify(name).slice(0, 14)}`, async () => {
        const collection = fresh();
        const body = `{"name":"${collection}","fields":[{"name":${JSON.stringify(name)},"type":"TEXT"}]}`;
        const answer = await on.request("POST", at(), { token: await on.superadminToken(), body, headers: { "content-type": "application/json" } });
        expect(answer.status, answer.text).to.equal(400);
        expect((await on.meta("GET", at(collection))).status).to.equal(404);
      });
    }

    const bad: readonly (readonly [string, readonly object[], RegExp?])[] = [
      ["two fields of one name", [{ name: "a", type: "TEXT" }, { name: "a", type: "NUMBER" }]],
      ["an unknown type", [{ name: "a", type: "STRING" }]],
      ["a missing type", [{ name: "a" }]],
      ["an option of another type", [{ name: "a", type: "NUMBER", maxLength: 5 }]],
      ["an unknown option", [{ name: "a", type: "TEXT", nope: 5 }]],
      ["minLength above maxLength", [{ name: "a", type: "TEXT", minLength: 5, maxLength: 4 }]],
      ["a negative minLength", [{ name: "a", type: "TEXT", minLength: -1 }]],
      ["a pattern that is none", [{ name: "a", type: "TEXT", pattern: "(" }]],
      ["a pattern with a back reference", [{ name: "a", type: "TEXT", pattern: "(a)\\1" }]],
      ["min above max", [{ name: "a", type: "NUMBER", min: 5, max: 4 }]],
      ["SELECT without values", [{ name: "a", type: "SELECT" }]],
      ["SELECT with no value", [{ name: "a", type: "SELECT", values: [] }]],
      ["SELECT with one value twice", [{ name: "a", type: "SELECT", values: ["x", "x"] }]],
      ["RELATION without a collection", [{ name: "a", type: "RELATION" }]],
      ["RELATION to an unknown collection", [{ name: "a", type: "RELATION", collection: "nosuch" }]],
      ["RELATION with an unknown onDelete", [{ name: "a", type: "RELATION", collection: "plain", onDelete: "explode" }]],
      ["maxSize over 4 MiB", [{ name: "a", type: "FILE", maxSize: 4 * 1024 * 1024 + 1 }]],
      ["more than eight widths", [{ name: "a", type: "FILE", widths: [1, 2, 3, 4, 5, 6, 7, 8, 9] }]],
      ["a width of 0", [{ name: "a", type: "FILE", widths: [0] }]],
      ["a width over 4096", [{ name: "a", type: "FILE", widths: [4097] }]],
      ["a width with a fraction", [{ name: "a", type: "FILE", widths: [10.5] }]],
      ["a default of another type", [{ name: "a", type: "NUMBER", default: "5" }]],
      ["a default outside of the limits", [{ name: "a", type: "NUMBER", max: 5, default: 6 }]],
      ["a default that is none of the values", [{ name: "a", type: "SELECT", values: ["x"], default: "y" }]],
      ["a unique JSON field", [{ name: "a", type: "JSON", unique: true }]],
      ["a unique FILE field", [{ name: "a", type: "FILE", unique: true }]],
      ["required that is no boolean", [{ name: "a", type: "TEXT", required: "yes" }]],
      ["a field that is no object", ["a" as unknown as object]],
    ];
    for (const [title, fields] of bad) {
      it(`refuses ${title}, and nothing is written`, async () => {
        const name = fresh();
        refuses(await on.meta("POST", at(), { name, fields }), /^fields/);
        expect((await on.meta("GET", at(name))).status).to.equal(404);
      });
    }

    for (const [title, more, field] of [
      ["an index on an unknown field", { indexes: [{ fields: ["nosuch"], unique: false }] }, /^indexes/],
      ["an index on a JSON field", { indexes: [{ fields: ["meta"], unique: false }] }, /^indexes/],
      ["an index without fields", { indexes: [{ fields: [], unique: false }] }, /^indexes/],
      ["an unknown member", { nope: 1 }, /^nope/],
      ["realtime that is no boolean", { realtime: "on" }, /^realtime/],
      ["a rule on an unknown field", { viewRule: "nosuch = 1" }, /^viewRule/],
      ["a list rule with @body", { listRule: "@body.title = 'x'" }, /^listRule/],
    ] as const) {
      it(`refuses ${title}`, async () => {
        refuses(await on.meta("POST", at(), { name: fresh(), fields: [{ name: "title", type: "TEXT" }, { name: "meta", type: "JSON" }], ...more }), field);
      });
    }

    it("several faults are told at once", async () => {
      const { status, body } = await on.meta("POST", at(), { name: "1", fields: [{ name: "a", type: "NOPE" }], realtime: 5 });
      expect(status).to.equal(400);
      const fields = body.map((entry: { field: string }) => entry.field);
      for (const start of ["name", "fields", "realtime"]) expect(fields.some((field: string) => field.startsWith(start)), start).to.equal(true);
    });

    it("a relation may point to its own collection", async () => {
      const name = fresh();
      await on.createCollection(tenant, { name, fields: [{ name: "parent", type: "RELATION", collection: name }], ...open });
      const root = await add(name, {});
      expect((await add(name, { parent: root.id })).parent).to.equal(root.id);
    });

    it("an unknown collection is 404", async () => {
      for (const method of ["GET", "PATCH", "DELETE"]) expect((await on.meta(method, at("nosuch"), method === "PATCH" ? {} : undefined)).status).to.equal(404);
    });
  });

  describe("change in place", () => {
    it("a field is added: older records hold null, or the default", async () => {
      const name = await create([{ name: "title", type: "TEXT" }]);
      const old = await add(name, { title: "x" });
      const fields = await fieldsOf(name);
      await demand(200, change(name, { fields: [...fields, { name: "n", type: "NUMBER" }, { name: "flag", type: "BOOLEAN", required: true, default: true }] }));
      const { body } = await data("GET", `${name}/${old.id}`);
      expect(body).to.include({ title: "x", n: null, flag: true, updatedAt: old.updatedAt });
      const filtered = await data("GET", `${name}?filter=flag:eq:true`);
      expect(filtered.body.items).to.have.length(1);
      expect((await demand(200, data("PATCH", `${name}/${old.id}`, { n: 5 }))).body).to.include({ n: 5, flag: true });
    });

    it("a new required field needs a default where records exist", async () => {
      const name = await create([]);
      const withField = { fields: [{ name: "title", type: "TEXT", required: true }] };
      await add(name, {});
      refuses(await change(name, withField), /title|fields/);
      expect(await fieldsOf(name)).to.deep.equal([]);
      const empty = await create([]);
      await demand(200, change(empty, withField));
    });

    it("a field made required needs a value in every record", async () => {
      const name = await create([{ name: "title", type: "TEXT" }]);
      const record = await add(name, {});
      const wanted = { fields: [{ name: "title", type: "TEXT", required: true }] };
      const refused = await change(name, wanted);
      refuses(refused, /title|fields/);
      expect(refused.text).to.contain(record.id);
      await demand(200, data("PATCH", `${name}/${record.id}`, { title: "x" }));
      await demand(200, change(name, wanted));
      expect((await data("POST", name, {})).status).to.equal(400);
    });

    it("a field is removed: its values go, also where it comes back", async () => {
      const name = await create([{ name: "title", type: "TEXT" }, { name: "secret", type: "TEXT" }]);
      const record = await add(name, { title: "x", secret: "y" });
      await demand(200, change(name, { fields: [{ name: "title", type: "TEXT" }] }));
      expect((await data("GET", `${name}/${record.id}`)).body).not.to.have.property("secret");
      expect((await data("GET", `${name}?filter=secret:eq:y`)).status).to.equal(400);
      expect((await data("POST", name, { secret: "y" })).status).to.equal(400);
      await demand(200, change(name, { fields: [{ name: "title", type: "TEXT" }, { name: "secret", type: "TEXT" }] }));
      expect((await data("GET", `${name}/${record.id}`)).body).to.include({ title: "x", secret: null });
    });

    it("a type change that a stored value cannot satisfy is refused, and says which record and field", async () => {
      const name = await create([{ name: "value", type: "TEXT" }]);
      await add(name, { value: "12" });
      const bad = await add(name, { value: "twelve" });
      const answer = await change(name, { fields: [{ name: "value", type: "NUMBER" }] });
      expect(answer.status).to.equal(400);
      expect(answer.text).to.contain(bad.id).and.contain("value");
      expect((await fieldsOf(name))[0].type).to.equal("TEXT");
      expect((await data("GET", `${name}/${bad.id}`)).body.value).to.equal("twelve");
    });

    it("a type change that every stored value satisfies is made", async () => {
      const name = await create([{ name: "value", type: "TEXT" }]);
      const record = await add(name, { value: "open" });
      await demand(200, change(name, { fields: [{ name: "value", type: "SELECT", values: ["open", "done"] }] }));
      expect((await data("GET", `${name}/${record.id}`)).body.value).to.equal("open");
      expect((await data("POST", name, { value: "other" })).status).to.equal(400);
      const empty = await create([{ name: "value", type: "TEXT" }]);
      await add(empty, {});
      await demand(200, change(empty, { fields: [{ name: "value", type: "NUMBER" }] }));
      expect((await add(empty, { value: 5 })).value).to.equal(5);
    });

    it("a value removed from SELECT that a record holds is refused", async () => {
      const name = await create([{ name: "value", type: "SELECT", values: ["a", "b"] }]);
      const record = await add(name, { value: "b" });
      const answer = await change(name, { fields: [{ name: "value", type: "SELECT", values: ["a"] }] });
      expect(answer.status).to.equal(400);
      expect(answer.text).to.contain(record.id);
      await demand(200, change(name, { fields: [{ name: "value", type: "SELECT", values: ["b", "c"] }] }));
    });

    it("unique over values that collide is refused; over others it holds from then on", async () => {
      const name = await create([{ name: "code", type: "TEXT" }]);
      await add(name, { code: "a" });
      const twin = await add(name, { code: "a" });
      refuses(await change(name, { fields: [{ name: "code", type: "TEXT", unique: true }] }), /code|fields/);
      await demand(204, data("DELETE", `${name}/${twin.id}`));
      await demand(200, change(name, { fields: [{ name: "code", type: "TEXT", unique: true }] }));
      refuses(await data("POST", name, { code: "a" }), /^code$/);
      await demand(200, change(name, { fields: [{ name: "code", type: "TEXT" }] }));
      await add(name, { code: "a" });
    });

    it("indexes are added and removed in place; a unique one over several fields holds", async () => {
      const name = await create([{ name: "a", type: "TEXT" }, { name: "b", type: "NUMBER" }]);
      await add(name, { a: "x", b: 1 });
      await add(name, { a: "x", b: 2 });
      await demand(200, change(name, { indexes: [{ fields: ["a"], unique: false }, { fields: ["a", "b"], unique: true }] }));
      const { status, body } = await data("POST", name, { a: "x", b: 1 });
      expect(status).to.equal(400);
      expect(["a", "b"]).to.include(body[0].field);
      expect((await data("GET", `${name}?sort=a:asc`)).body.items).to.have.length(2);
      await demand(200, change(name, { indexes: [] }));
      await add(name, { a: "x", b: 1 });
      expect((await change(name, { indexes: [{ fields: ["a", "b"], unique: true }] })).status).to.equal(400);
    });

    it("absent values do not collide in a unique field", async () => {
      const name = await create([{ name: "code", type: "TEXT", unique: true }]);
      await add(name, {});
      await add(name, { code: null });
      await add(name, { code: "a" });
      refuses(await data("POST", name, { code: "a" }), /^code$/);
    });

    it("rules change alone; fields stay", async () => {
      const name = await create([{ name: "title", type: "TEXT" }]);
      await add(name, { title: "x" });
      const { body } = await demand(200, change(name, { listRule: null, viewRule: "title = 'x'" }));
      expect(body).to.include({ listRule: null, viewRule: "title = 'x'", createRule: "true" });
      expect(body.fields).to.have.length(1);
      expect((await data("GET", name)).status).to.equal(401);
    });

    it("a rule that no longer type-checks after a schema change is refused with that change", async () => {
      const name = await create([{ name: "owner", type: "TEXT" }], { viewRule: "owner = @auth.id" });
      refuses(await change(name, { fields: [] }), /^(viewRule|fields)/);
      refuses(await change(name, { fields: [{ name: "owner", type: "NUMBER" }] }), /^(viewRule|fields)/);
      await demand(200, change(name, { fields: [], viewRule: null }));
    });

    it("renaming keeps the data, and relations to it", async () => {
      const name = await create([{ name: "title", type: "TEXT" }]);
      const record = await add(name, { title: "x" });
      const child = await create([{ name: "of", type: "RELATION", collection: name, onDelete: "cascade" }]);
      const entry = await add(child, { of: record.id });
      const next = fresh();
      expect((await demand(200, change(name, { name: next }))).body.name).to.equal(next);
      expect((await data("GET", `${next}/${record.id}`)).body).to.include({ title: "x" });
      expect((await data("GET", name)).status).to.equal(404);
      expect((await fieldsOf(child))[0].collection).to.equal(next);
      expect((await data("GET", `${child}/${entry.id}?expand=of`)).status).to.equal(200);
      await demand(204, data("DELETE", `${next}/${record.id}`));
      expect((await data("GET", `${child}/${entry.id}`)).status).to.equal(404);
    });

    it("a change beside writes loses none of them", async () => {
      const name = await create([{ name: "n", type: "NUMBER" }]);
      const writes = Array.from({ length: 40 }, (_, n) => data("POST", name, { n }));
      const changes = [change(name, { fields: [{ name: "n", type: "NUMBER" }, { name: "more", type: "TEXT", default: "d" }] }), change(name, { indexes: [{ fields: ["n"], unique: false }] })];
      for (const answer of await Promise.all(writes)) expect(answer.status, answer.text).to.equal(201);
      for (const answer of await Promise.all(changes)) expect(answer.status, answer.text).to.equal(200);
      const { body } = await data("GET", `${name}?limit=100&count=true`);
      expect(body.total).to.equal(40);
      for (const item of body.items) expect(item.more).to.be.oneOf(["d", null]);
    });
  });

  describe("removal", () => {
    it("DELETE answers 204; the records are gone, also where the name comes back", async () => {
      const name = await create([{ name: "title", type: "TEXT" }]);
      const record = await add(name, { title: "x" });
      await demand(204, on.meta("DELETE", at(name)));
      expect((await data("GET", name)).body).to.deep.equal({ error: "Not found" });
      await on.createCollection(tenant, { name, fields: [{ name: "title", type: "TEXT" }], ...open });
      expect((await data("GET", name)).body.items).to.deep.equal([]);
      expect((await data("GET", `${name}/${record.id}`)).status).to.equal(404);
    });

    it("a collection that others point to is kept", async () => {
      const name = await create([]);
      const child = await create([{ name: "of", type: "RELATION", collection: name }]);
      const answer = await on.meta("DELETE", at(name));
      expect(answer.status).to.be.oneOf([400, 409]);
      expect(answer.text).to.contain(child);
      await demand(204, on.meta("DELETE", at(child)));
      await demand(204, on.meta("DELETE", at(name)));
    });
  });

  describe("users", () => {
    it("starts with list, view and update at Own records, create and delete at No access, and four core fields", async () => {
      const { body } = await demand(200, on.meta("GET", at("users")));
      expect(body).to.include({ name: "users", system: true, listRule: "id = @auth.id", viewRule: "id = @auth.id", createRule: null, deleteRule: null, realtime: false });
      expect(body.updateRule).to.contain("id = @auth.id");
      expect(body.fields.map((field: { name: string }) => field.name)).to.have.members(["username", "email", "role", "password"]);
      expect(body.fields.find((field: { name: string }) => field.name === "username")).to.include({ required: true, unique: true });
    });

    it("takes more fields, which behave like fields of any collection, and gives them up again", async () => {
      const fields = await fieldsOf("users");
      await demand(200, change("users", { fields: [...fields, { name: "team", type: "SELECT", values: ["red", "blue"], default: "red" }] }));
      const user = await on.signUp(tenant, "anna");
      const as = { token: user.token };
      expect((await on.request("GET", "/api/auth/me", as)).body.team).to.equal("red");
      expect((await on.request("PATCH", `/api/collections/users/${user.id}`, { ...as, body: { team: "green" } })).body[0].field).to.equal("team");
      expect((await demand(200, on.request("PATCH", `/api/collections/users/${user.id}`, { ...as, body: { team: "blue" } }))).body.team).to.equal("blue");
      expect((await on.request("GET", "/api/collections/users?filter=team:eq:blue", as)).body.items).to.have.length(1);
      await demand(200, change("users", { fields }));
      expect((await on.request("GET", "/api/auth/me", as)).body).not.to.have.property("team");
    });

    for (const name of ["emailVerified", "passwordHash", "passwordSalt", "oldPassword", "active", "generation"]) {
      it(`has no room for a field ${name}`, async () => {
        refuses(await change("users", { fields: [...(await fieldsOf("users")), { name, type: "TEXT" }] }), /^fields/);
      });
    }

    it("cannot be renamed, deleted, or made realtime", async () => {
      expect((await change("users", { name: "people" })).status).to.equal(400);
      expect((await on.meta("DELETE", at("users"))).status).to.equal(400);
      expect((await change("users", { realtime: true })).status).to.equal(400);
      expect((await on.meta("GET", at("users"))).body).to.include({ name: "users", realtime: false });
    });

    it("realtime false may be written back", async () => {
      await demand(200, change("users", { realtime: false }));
    });

    it("a rule on users may not read password", async () => {
      for (const rule of ["password = 'x'", "@auth.password = 'x'", "@auth.passwordHash != null"]) refuses(await change("users", { viewRule: rule }), /^viewRule/);
    });
  });
});
