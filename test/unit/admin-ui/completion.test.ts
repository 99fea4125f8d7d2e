// What the page offers while a rule is typed.
import { expect } from "chai";
import { complete } from "../../../lib/admin-ui/src/rules/completion.js";
import { faultIn, faultOf, type RuleSubject } from "../../../lib/admin-ui/src/rules/check.js";
import type { Field } from "../../../lib/schema/collection.js";

const text = (name: string): Field => ({ name, type: "TEXT", required: false, unique: false, default: null, minLength: null, maxLength: 5000, pattern: null });
const state: Field = { name: "state", type: "SELECT", required: false, unique: false, default: null, values: ["open", "on hold", "done"] };

const subject = (usage: RuleSubject["usage"]): RuleSubject => ({
  collection: { name: "tasks", fields: [text("owner"), text("outline"), state] },
  userFields: [text("username"), text("password"), text("group")],
  usage,
});

const offered = (source: string, usage: RuleSubject["usage"] = "update") => {
  const [before = "", after = ""] = source.split("|");
  return complete(before + after, before.length, subject(usage))?.suggestions.map((item) => item.text) ?? [];
};

describe("completion of rules", () => {
  it("offers fields that begin with the word", () => {
    expect(offered("o|")).to.deep.equal(["owner", "outline"]);
    expect(offered("owner = @auth.id && st|")).to.deep.equal(["state"]);
  });

  it("offers the members of @auth, never the password", () => {
    expect(offered("@auth.|", "list")).to.deep.equal(["@auth.id", "@auth.username", "@auth.group", "@auth.emailVerified"]);
  });

  it("offers @body and @changed only where they may stand", () => {
    expect(offered("@body.o|", "create")).to.deep.equal(["@body.owner", "@body.outline"]);
    expect(offered("@changed.o|")).to.deep.equal(["@changed.owner", "@changed.outline"]);
    expect(offered("@changed.o|", "view")).to.deep.equal([]);
    expect(offered("@me|", "where")).to.deep.equal([]);
  });

  it("offers the values of a SELECT field after = and in a list", () => {
    expect(offered('state = "o|')).to.deep.equal(['"open"', '"on hold"']);
    expect(offered('state in ["done", "o|')).to.deep.equal(['"open"', '"on hold"']);
  });

  it("keeps quiet inside a string and where nothing is begun", () => {
    expect(offered('owner = "o|"')).to.deep.equal([]);
    expect(offered("owner = |")).to.deep.equal([]);
  });
});

describe("faults of rules", () => {
  it("tells the place and the reason that saving would give", () => {
    expect(faultOf("owner = 3", subject("view"))).to.deep.include({ position: 8 });
    expect(faultOf("owner = @auth.id", subject("view"))).to.equal(null);
    expect(faultOf("owner = ", subject("view"))).to.deep.include({ position: 8 });
  });

  it("reads the place in an answer of the service", () => {
    expect(faultIn("at position 12: unknown field: x")).to.deep.equal({ position: 12, reason: "unknown field: x" });
    expect(faultIn("must be a text")).to.equal(null);
  });
});
