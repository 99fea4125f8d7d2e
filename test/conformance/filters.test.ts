// Random filters on random records: the store's query, its condition in a unit and matches() give one answer.
import { expect } from "chai";
import fc from "fast-check";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "../../lib/core/record.js";
import { compareText, type FieldOperand, type Filter, type Operand, type ValueKind } from "../../lib/storage/filter.js";
import { matches } from "../../lib/storage/matches.js";
import { createSqliteStorage } from "../../lib/storage/sqlite/sqlite.js";
import type { IndexDefinition, Sort, Storage } from "../../lib/storage/storage.js";
import { id, numbers, pages, record } from "../../lib/testing/storage-case.js";

const texts = fc.oneof(
  fc.constantFrom("", "a", "A", "ab", "b", "1", "true", "null", "é", "É", "\u212a", "k", "İ", "\u{1f600}", "\uffee", "a\u0000", "'\"\\", "%", "_"),
  fc.string({ unit: "grapheme", maxLength: 3 }),
);
const figures = fc.oneof(fc.constantFrom(0, 1, -1, 1.5, 2, 1e21, 2 ** 53, 2 ** 62, -(2 ** 63)), fc.double({ noNaN: true, noDefaultInfinity: true }));
const scalars = fc.oneof(texts, figures, fc.boolean(), fc.constant(null));
const memberNames = fc.constantFrom("a", "b", "a.b", "", "'", "\"", "\\", "$", "é", "0", "\u0001");
const json: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof({ depthSize: "small", withCrossShrink: true }, scalars, fc.array(tie("value"), { maxLength: 3 }), fc.dictionary(memberNames, tie("value"), { maxKeys: 3 })),
})).value;

const kinds = { name: "text", title: "text", size: "number", limit: "number", flag: "boolean", second: "boolean", data: "json", tags: "json" } as const satisfies Record<string, ValueKind>;
const byKind = { text: texts, number: figures, boolean: fc.boolean(), json } as const;

const fields: fc.Arbitrary<Readonly<Record<string, Json>>> = fc.record(
  Object.fromEntries(Object.entries(kinds).map(([name, kind]) => [name, fc.option(byKind[kind] as fc.Arbitrary<Json>, { freq: 4 })])) as Record<string, fc.Arbitrary<Json>>,
  { requiredKeys: [] as string[] },
);

const fieldOperand: fc.Arbitrary<FieldOperand> = fc.oneof(
  fc.constantFrom(...Object.entries(kinds)).map(([field, kind]) => ({ field, kind })),
  fc.tuple(fc.constantFrom("data", "tags"), fc.array(memberNames, { minLength: 1, maxLength: 2 })).map(([field, path]) => ({ field, kind: "json" as const, path })),
);
const operand: fc.Arbitrary<Operand> = fc.oneof(fieldOperand, scalars.map((value) => ({ value })));
const jsonOperand = fieldOperand.filter(({ kind }) => kind === "json");

const filters: fc.Arbitrary<Filter> = fc.letrec<{ filter: Filter; leaf: Filter }>((tie) => ({
  filter: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    tie("leaf"),
    fc.array(tie("filter"), { maxLength: 3 }).map((list): Filter => ({ op: "all", filters: list })),
    fc.array(tie("filter"), { maxLength: 3 }).map((list): Filter => ({ op: "any", filters: list })),
    tie("filter").map((filter): Filter => ({ op: "not", filter })),
  ),
  leaf: fc.oneof(
    fc.tuple(fieldOperand, scalars).map(([field, value]): Filter => ({ op: "is", field, value })),
    fc.tuple(fieldOperand, fieldOperand).map(([left, right]): Filter => ({ op: "same", left, right })),
    fc.tuple(operand, operand, fc.boolean()).map(([left, right, orEqual]): Filter => ({ op: "less", left, right, orEqual })),
    fc.tuple(operand, operand).map(([text, part]): Filter => ({ op: "contains", text, part })),
    fc.tuple(fieldOperand, fc.array(scalars, { maxLength: 20 })).map(([field, values]): Filter => ({ op: "in", field, values })),
    fc.tuple(jsonOperand, operand).map(([list, item]): Filter => ({ op: "includes", list, item })),
  ),
})).filter;

const sorts: fc.Arbitrary<Sort | undefined> = fc.option(
  fc.tuple(fc.constantFrom("name", "size", "flag"), fc.boolean()).map(([field, descending]): Sort => ({ field, kind: kinds[field as "name" | "size" | "flag"], descending })),
  { nil: undefined },
);

const indexes: readonly IndexDefinition[] = [
  { fields: [{ field: "name", kind: "text" }], unique: false },
  { fields: [{ field: "size", kind: "number" }, { field: "name", kind: "text" }], unique: false },
  { fields: [{ field: "flag", kind: "boolean" }], unique: false },
];

function expected(rows: readonly Readonly<Record<string, Json>>[], filter: Filter, sort: Sort | undefined): number[] {
  const found = rows.map((each, index) => ({ value: sort === undefined ? null : (each[sort.field] ?? null), n: index + 1, record: record(index + 1, each) }))
    .filter((each) => matches(filter, each.record));
  found.sort((a, b) => compareValues(a.value, b.value) || a.n - b.n);
  if (sort?.descending === true) found.reverse();
  return found.map(({ n }) => n);
}

function compareValues(a: Json, b: Json): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  if (typeof a === "string" && typeof b === "string") return compareText(a, b);
  return Number(a) - Number(b);
}

describe("the store's queries and matches()", function () {
  this.timeout(120_000);
  let storage: Storage;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "records-filters-"));
    storage = createSqliteStorage({ folder });
    await storage.open();
  });

  after(async () => {
    await storage.close();
    await rm(folder, { recursive: true });
  });

  it("one meaning of a filter: in a list, in a count, as a condition of a write, in memory", async () => {
    let tenant = 0;
    await fc.assert(fc.asyncProperty(
      fc.array(fields, { minLength: 1, maxLength: 8 }), fc.array(fc.tuple(filters, sorts, fc.integer({ min: 1, max: 4 })), { minLength: 1, maxLength: 8 }), fc.boolean(),
      async (rows, questions, indexed) => {
        tenant += 1;
        const store = storage.tenant(`random-${tenant}`);
        await store.write({ operations: [
          { type: "define", table: "things", indexes: indexed ? indexes : [] },
          ...rows.map((each, index) => ({ type: "insert", table: "things", record: record(index + 1, each) }) as const),
        ] });
        const things = store.table("things");
        for (const [filter, sort, limit] of questions) {
          const stored = (await things.list({ filter: { op: "all", filters: [] }, limit: 100 })).map((row) => row.record as Readonly<Record<string, Json>>);
          const wanted = expected(stored, filter, sort);
          expect(numbers(await things.list({ filter, sort, limit: 100 }))).to.deep.equal(wanted);
          expect(await pages(store, { filter, sort, limit })).to.deep.equal(wanted);
          expect(await things.count(filter)).to.equal(wanted.length);
          const touched = await store.write({ operations: rows.map((_unused, index) => ({ type: "update", table: "things", id: id(index + 1), where: filter, optional: true }) as const) });
          expect(numbers(touched.rows.filter((row) => row !== undefined))).to.deep.equal([...wanted].sort((a, b) => a - b));
        }
        await storage.dropTenant(`random-${tenant}`);
      },
    ), { numRuns: Number(process.env["FILTER_RUNS"] ?? 150) });
  });
});
