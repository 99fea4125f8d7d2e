// A rule that cannot be read or meant is refused with position and reason.
import { expect } from "chai";
import { compileRule } from "../../../lib/rules/compile.js";
import type { RuleUsage } from "../../../lib/rules/scope.js";
import { faultOf, schemaFor } from "./support.js";

describe("rules: syntax errors carry position and reason", () => {
  const cases: readonly [source: string, position: number, reason: RegExp][] = [
    ["", 0, /empty/],
    ["   ", 0, /empty/],
    ["title =", 7, /ends too early/],
    ["title = 'a", 8, /not closed/],
    ["title = 'a\nb'", 8, /not closed/],
    ["title = '\\x'", 9, /escape/],
    ["title = '\\u{d800}'", 9, /Unicode/],
    ["title = '\\u{0}'", 9, /Unicode/],
    ["title = '\\u{110000}'", 9, /Unicode/],
    ["title == 'a'", 6, /use =/],
    ["flag & flag", 5, /&&/],
    ["flag | flag", 5, /\|\|/],
    ["flag and flag", 5, /use &&/],
    ["not flag", 0, /use ! instead of not/],
    ["NOT (flag)", 0, /use ! instead of NOT/],
    ["(flag", 5, /too early/],
    ["flag)", 4, /unexpected \)/],
    ["n in [1, 2", 10, /too early/],
    ["n in [1,]", 8, /unexpected \]/],
    ["n < 1 < 2", 6, /chained/],
    ["!n = 1", 0, /parentheses/],
    ["(n) = 1", 4, /parentheses/],
    ["n = 1x", 4, /no number/],
    ["n = 1.", 4, /no number/],
    ["n = 1e999", 4, /too large/],
    ["n = -", 4, /no number/],
    ["n ; 1", 2, /unexpected character/],
    ["n = \u0000", 4, /unexpected character/],
    ["title = '\u0000'", 8, /NUL/],
    ["title = '\ud800'", 8, /surrogate/],
    ["@", 0, /after @/],
    ["@auth = 1", 0, /name a field/],
    ["@foo.bar = 1", 0, /@foo is unknown/],
    ["@now.x = 1", 0, /no members/],
    ["@method.x = 1", 0, /no members/],
    ["[1] = 1", 0, /list/],
    ["[1]", 0, /a list is no condition/],
    ["n in [[1]]", 6, /unexpected \[/],
    ["in in [1]", 0, /unexpected in/],
  ];
  for (const [source, position, reason] of cases) {
    it(JSON.stringify(source), () => {
      const fault = faultOf(source);
      expect(fault.position).to.equal(position);
      expect(fault.reason).to.match(reason);
      expect(fault.message).to.equal(`at position ${position}: ${fault.reason}`);
    });
  }
});

describe("rules: the type check refuses what can never be meant", () => {
  const cases: readonly [source: string, position: number, reason: RegExp, usage?: RuleUsage][] = [
    ["titel = 'a'", 0, /no field titel/],
    ["flag && x.y = 1", 8, /no field x/],
    ["title = @auth.nope", 8, /users has no field nope/],
    ["title.x = 1", 0, /no JSON field/],
    ["@auth.group.x = 1", 0, /no JSON field/],
    ["@body.title.x = 1", 0, /no JSON field/],
    ["n = 'x'", 4, /never equal/],
    ["title = 1", 8, /never equal/],
    ["flag = 1", 7, /never equal/],
    ["title = n", 8, /never equal/],
    ["n in [1, 'a']", 9, /never equal/],
    ["n < 'x'", 4, /never equal/],
    ["flag < true", 0, /boolean/],
    ["n ~ 'x'", 0, /number/],
    ["due ~ '2026'", 0, /date/],
    ["title ~ 1", 8, /number/],
    ["title", 0, /no condition/],
    ["null", 0, /no condition/],
    ["n || flag", 0, /no condition/],
    ["n in title", 5, /needs a list/],
    ["n in m", 5, /needs a list/],
    ["due = 'soon'", 6, /no date/],
    ["due < '2026-02-30'", 6, /no date/],
    ["due in ['soon']", 8, /no date/],
    ["due = title", 6, /DATE field/],
    ["title = @now", 0, /DATE field/],
    ["due = @method", 6, /no date/],
    ["due = 5", 6, /never equal/],
    ["cover = 'x'", 0, /FILE/],
    ["cover = cover", 0, /FILE/],
    ["cover", 0, /no condition/],
    ["cover ~ 'x'", 0, /FILE/],
    ["cover in members", 0, /FILE/],
    ["title in [cover]", 10, /FILE/],
    ["@auth.avatar = 1", 0, /FILE/],
    ["@body.cover = null", 0, /files/],
    ["@body.id = 'x'", 0, /set by the service/],
    ["@changed.updatedAt", 0, /set by the service/],
    ["@changed.meta.x", 0, /whole field/],
    ["@changed.nope", 0, /no field nope/],
    ["@auth.password = 'x'", 0, /cannot be read/],
    ["@auth.passwordHash = 'x'", 0, /cannot be read/],
    ["@auth.oldPassword = 'x'", 0, /cannot be read/],
    ["@body.title = 'x'", 0, /create and update rules only/, "view"],
    ["@body.title = 'x'", 0, /create and update rules only/, "list"],
    ["@body.title = 'x'", 0, /create and update rules only/, "delete"],
    ["@changed.title", 0, /update rules only/, "create"],
    ["@changed.title", 0, /update rules only/, "delete"],
    ["@body.title = 'x'", 0, /not in where/, "where"],
    ["@changed.title", 0, /not in where/, "where"],
    ["@method = 'GET'", 0, /where/, "where"],
  ];
  for (const [source, position, reason, usage] of cases) {
    it(`${source}${usage === undefined ? "" : ` in ${usage}`}`, () => {
      const fault = faultOf(source, usage);
      expect(fault.reason).to.match(reason);
      expect(fault.position).to.equal(position);
    });
  }
});

describe("rules on users", () => {
  for (const name of ["password", "passwordHash", "passwordSalt", "oldPassword"]) {
    for (const shape of [`${name} = 'x'`, `@body.${name} = 'x'`, `@changed.${name}`]) {
      it(`${shape} may not be read`, () => expect(faultOf(shape, "update", true).reason).to.match(/cannot be read/));
    }
  }
  for (const shape of ["@body.role = 'x'", "@changed.emailVerified"]) {
    it(`${shape} has no effect`, () => expect(faultOf(shape, "update", true).reason).to.match(/set by the service/));
  }
  for (const source of ["emailVerified", "role = 'user'", "username ~ 'a'", "email != null", "id = @auth.id", "@auth.role = 'admin' && group = @auth.group", "@changed.email"]) {
    it(`${source} can be read`, () => expect(compileRule(source, schemaFor("update", true)).source).to.equal(source));
  }
});

describe("rules: bounds", () => {
  it("5000 characters at most", () => {
    expect(compileRule(`flag${" ".repeat(4996)}`, schemaFor("view")).source).to.have.length(5000);
    expect(faultOf(`flag${" ".repeat(4997)}`).position).to.equal(5000);
  });
  it("nesting of 100 at most", () => {
    expect(compileRule(`${"(".repeat(100)}flag${")".repeat(100)}`, schemaFor("view")).expression.type).to.equal("truth");
    expect(faultOf(`${"(".repeat(101)}flag${")".repeat(101)}`).reason).to.match(/nest/);
    expect(faultOf(`${"!".repeat(101)}flag`).reason).to.match(/nest/);
    expect(faultOf("(".repeat(5000)).reason).to.match(/nest/);
  });
  it("500 comparisons at most", () => {
    expect(compileRule(Array(500).fill("flag").join("||"), schemaFor("view")).expression.type).to.equal("or");
    expect(faultOf(Array(501).fill("flag").join("&&")).reason).to.match(/500/);
  });
  it("paths of 50 members at most", () => {
    expect(faultOf(`meta${".a".repeat(51)} = 1`).reason).to.match(/path/);
  });
});
