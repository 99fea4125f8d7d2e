// Contract 4 and 11, sentence by sentence: what a rule says of a record.
import { expect } from "chai";
import type { Json } from "../../../lib/core/record.js";
import type { RuleContext } from "../../../lib/rules/rule.js";
import { answer } from "./support.js";

type Case = readonly [rule: string, values: Readonly<Record<string, Json>>, expected: boolean, context?: Partial<RuleContext>];
const guest = { auth: null };

const groups: Readonly<Record<string, readonly Case[]>> = {
  "compares with = and !=": [
    ['title = "a"', { title: "a" }, true],
    ['title = "a"', { title: "A" }, false],
    ['"a" = title', { title: "a" }, true],
    ['title != "a"', { title: "b" }, true],
    ["n = 1", { n: 1 }, true],
    ["n = -1.5e1", { n: -15 }, true],
    ["n = 0", { n: 0 }, true],
    ["flag = true", { flag: true }, true],
    ["flag = false", { flag: null }, false],
    ["n = m", { n: 2, m: 2 }, true],
    ["n = m", { n: 2, m: 3 }, false],
    ["id = \"r1\"", {}, true],
  ],
  "compares exactly with null, and an absent field is null": [
    ["title = null", {}, true],
    ["title = null", { title: null }, true],
    ["title = null", { title: "" }, false],
    ["null = title", {}, true],
    ["title != null", { title: "" }, true],
    ["title != null", {}, false],
    ["@auth.id = null", {}, true, guest],
    ["@auth.id != null", {}, true],
    ["@auth.id != null", {}, false, guest],
    ["@auth.vip = null", {}, true],
    ["meta.color = null", { meta: { size: 1 } }, true],
    ["meta.color = null", { meta: ["color"] }, true],
    ["meta = null", { meta: {} }, false],
    ["null = null", {}, true],
    ["cover = null", { cover: null }, true],
    ["cover != null", { cover: { id: "f" } }, true],
  ],
  "= is false where either side is null at run time": [
    ["owner = @auth.id", {}, false, guest],
    ["owner = @auth.id", { owner: null }, false, guest],
    ["owner = @auth.id", { owner: "u1" }, true],
    ["n = m", { n: null, m: null }, false],
    ["meta.a = meta.b", { meta: {} }, false],
    ["@auth.id = @auth.email", {}, false, guest],
    ["title = @body.title", { title: null }, false, { body: {} }],
  ],
  "!= is the exact opposite of =": [
    ["owner != @auth.id", {}, true, guest],
    ["owner != @auth.id", { owner: "u1" }, false],
    ["n != m", { n: null, m: null }, true],
    ['title != "a"', {}, true],
  ],
  "orders numbers, texts and dates, and is false with null": [
    ["n < 3", { n: 2 }, true],
    ["n < 3", { n: 3 }, false],
    ["n <= 3", { n: 3 }, true],
    ["n > 3", { n: 4 }, true],
    ["n >= 3", { n: 3 }, true],
    ["3 > n", { n: 2 }, true],
    ["n < 3", {}, false],
    ["n >= 3", { n: null }, false],
    ["n < null", { n: 1 }, false],
    ['title < "b"', { title: "a" }, true],
    ['title > "\\u{ff5e}"', { title: "\u{10000}" }, true],
    ["n < m", { n: 1, m: 2 }, true],
    ["meta.n > 3", { meta: { n: "4" } }, false],
    ["@auth.level >= n", { n: 3 }, true],
    ["@auth.level >= n", { n: 3 }, false, guest],
  ],
  "~ is contains without case, !~ its exact opposite": [
    ['title ~ "LLo"', { title: "Hello" }, true],
    ['title ~ "%"', { title: "Hello" }, false],
    ['title ~ ""', { title: "x" }, true],
    ['title ~ ""', {}, false],
    ['title !~ "x"', {}, true],
    ['title !~ "L"', { title: "Hello" }, false],
    ['"hello" ~ title', { title: "ELL" }, true],
    ["title ~ @auth.group", { title: "the RED one" }, true],
    ["title ~ @auth.group", { title: "the RED one" }, false, guest],
    ['status ~ "PE"', { status: "open" }, true],
    ['mail ~ "@Example."', { mail: "a@example.test" }, true],
    ['meta.tag ~ "a"', { meta: { tag: ["a"] } }, false],
  ],
  "in looks into lists": [
    ['status in ["open","new"]', { status: "new" }, true],
    ['status in ["open","new"]', { status: "done" }, false],
    ['status in ["open",null]', {}, false],
    ["status in []", { status: "open" }, false],
    ["!(status in [])", {}, true],
    ["@auth.id in members", { members: ["u2", "u1"] }, true],
    ["@auth.id in members", { members: "u1" }, false],
    ["@auth.id in members", { members: [null] }, false, guest],
    ["@auth.id in meta.editors", { meta: { editors: ["u1"] } }, true],
    ["owner in @auth.teams", { owner: "red" }, true],
    ["n in @auth.teams", { n: 7 }, true],
    ["n in @auth.teams", { n: 7 }, false, guest],
    ["title in members", { title: "x", members: ["x"] }, true],
    ["1 in members", { members: ["1"] }, false],
    ["@auth.id in [owner, title]", { title: "u1" }, true],
    ["title in [owner, \"x\"]", { title: "o", owner: "o" }, true],
    ["@method in [\"PATCH\", \"PUT\"]", {}, true],
  ],
  "a bare boolean operand": [
    ["flag", { flag: true }, true],
    ["flag", { flag: false }, false],
    ["flag", {}, false],
    ["!flag", {}, true],
    ["!flag", { flag: true }, false],
    ["!!flag", { flag: true }, true],
    ["meta.public", { meta: { public: true } }, true],
    ["meta.public", { meta: { public: "true" } }, false],
    ["@auth.emailVerified", {}, true],
    ["@auth.emailVerified", {}, false, guest],
    ["true", {}, true],
    ["false", {}, false],
  ],
  "&& binds tighter than ||, ! tightest": [
    ["true || false && false", {}, true],
    ["(true || false) && false", {}, false],
    ["!false && false", {}, false],
    ["!(false && false)", {}, true],
    ["flag && n = 1 || title = 'x'", { title: "x" }, true],
  ],
  "no coercion between types": [
    ['"1" = 1', {}, false],
    ['"1" != 1', {}, true],
    ["meta.n = 1", { meta: { n: "1" } }, false],
    ["meta.n = 1", { meta: { n: true } }, false],
    ["meta.n = true", { meta: { n: 1 } }, false],
    ["title = @body.title", { title: "1" }, false, { body: { title: 1 } }],
    ["meta = meta", { meta: {} }, false],
  ],
  "a DATE compares with a timestamp string": [
    ['due = "2026-01-31"', { due: "2026-01-31T00:00:00.000Z" }, true],
    ['due = "2026-01-31T01:00:00+01:00"', { due: "2026-01-31T00:00:00.000Z" }, true],
    ['due < "2026-02-01T00:00:00.000Z"', { due: "2026-01-31T00:00:00.000Z" }, true],
    ['due in ["2026-01-31"]', { due: "2026-01-31T00:00:00.000Z" }, true],
    ['"2026-01-31" in [due, done]', { done: "2026-01-31T00:00:00.000Z" }, true],
    ["due < @now", { due: "2026-01-31T00:00:00.000Z" }, true],
    ["createdAt <= @now", {}, true],
    ["due >= @auth.since", { due: "2026-01-31T00:00:00.000Z" }, true],
    ["due = @auth.group", { due: "2026-01-31T00:00:00.000Z" }, false],
    ["due != @auth.group", { due: "2026-01-31T00:00:00.000Z" }, true],
    ["@body.due > due", { due: "2026-01-31T00:00:00.000Z" }, true, { body: { due: "2026-02-01" } }],
    ["@body.due > due", { due: "2026-01-31T00:00:00.000Z" }, false, { body: { due: "tomorrow" } }],
    ["@body.due = null", {}, false, { body: { due: "tomorrow" } }],
  ],
  "@body is the incoming value, @changed tells what an update changes": [
    ["@body.title = 'x'", { title: "y" }, true, { body: { title: "x" } }],
    ["@body.title = null", { title: "y" }, true, { body: {} }],
    ["@body.title = null", { title: "y" }, true],
    ["@body.meta.a = 1", {}, true, { body: { meta: { a: 1 } } }],
    ["!@changed.owner", {}, true],
    ["@changed.owner", {}, true, { changed: new Set(["owner"]) }],
    ["@changed.cover = false", {}, true, { changed: new Set(["owner"]) }],
    ["@method = 'PATCH'", {}, true],
  ],
  "reads own members only, never what a prototype has": [
    ["meta.constructor = null", { meta: {} }, true],
    ["meta.__proto__ = null", { meta: {} }, true],
    ["@auth.teams.length = null", {}, true],
    ["@body.meta.toString = null", {}, true, { body: { meta: {} } }],
  ],
};

describe("rules: what they say", () => {
  for (const [name, cases] of Object.entries(groups)) {
    describe(name, () => {
      for (const [rule, values, expected, context] of cases) {
        const of = [JSON.stringify(values), ...(context === undefined ? [] : [context.auth === null ? "guest" : "context"])].join(", ");
        it(`${rule} on ${of} is ${expected}`, () => {
          expect(answer(rule, values, context ?? {})).to.equal(expected);
        });
      }
    });
  }
});
