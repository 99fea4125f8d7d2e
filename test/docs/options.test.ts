// docs/options.md against lib/options.ts: every option with its default, and none that does not exist.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import ts from "typescript";
import { resolveOptions } from "../../lib/options.js";
import { codes, readPage, root, tableRows } from "./pages.js";

const sources = ["lib/options.ts", "lib/mailer/mailer.ts"].map((name) => {
  const path = fileURLToPath(new URL(name, root));
  return ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.ES2023, true);
});

interface Option {
  readonly name: string;
  /** The number in its `@default`, where there is one. */
  readonly number: string | undefined;
}

function interfaceOf(name: string): ts.InterfaceDeclaration {
  const found = sources.flatMap(({ statements }) => [...statements]).find((one): one is ts.InterfaceDeclaration => ts.isInterfaceDeclaration(one) && one.name.text === name);
  if (found === undefined) throw new Error(`there is no interface ${name}`);
  return found;
}

/** The members of an interface by dotted name, those of objects inside it too. */
function optionsOf(members: ts.NodeArray<ts.TypeElement>, prefix = ""): Option[] {
  return members.filter(ts.isPropertySignature).flatMap((member) => {
    const name = prefix + member.name.getText();
    const inner = innerOf(member.type).flatMap((nodes) => optionsOf(nodes, `${name}.`));
    const written = ts.getJSDocTags(member).find((tag) => tag.tagName.text === "default")?.comment;
    const number = /^\d+/.exec(typeof written === "string" ? written : "")?.[0];
    const own = inner.length > 0 && !mayStandAlone(member.type) ? [] : [{ name, number }];
    return [...own, ...inner];
  });
}

function innerOf(type: ts.TypeNode | undefined): ts.NodeArray<ts.TypeElement>[] {
  if (type === undefined) return [];
  if (ts.isUnionTypeNode(type)) return type.types.flatMap(innerOf);
  if (ts.isTypeLiteralNode(type)) return [type.members];
  if (!ts.isTypeReferenceNode(type)) return [];
  const name = type.typeName.getText();
  if (name === "Partial") return innerOf(type.typeArguments?.[0]);
  return name === "SmtpOptions" || name === "Secrets" ? [interfaceOf(name).members] : [];
}

/** An option that may be something else than an object of options. */
function mayStandAlone(type: ts.TypeNode | undefined): boolean {
  if (type === undefined || !ts.isUnionTypeNode(type)) return false;
  return type.types.some((one) => one.kind !== ts.SyntaxKind.UndefinedKeyword && innerOf(one).length === 0);
}

describe("docs: options.md", () => {
  const options = optionsOf(interfaceOf("RecordsServiceOptions").members);
  const rows = tableRows(readPage("docs/options.md")).filter((row) => /^`[a-z][\w.]*`$/i.test(row[0] ?? ""));
  const documented = rows.map((row) => codes(row[0]!)[0]!);

  it("names every option of RecordsServiceOptions, once, and no other", () => {
    expect(options.length).to.be.greaterThan(30);
    expect([...documented].sort()).to.deep.equal(options.map(({ name }) => name).sort());
  });

  it("gives every number that is a default", () => {
    const withNumber = options.filter(({ number }) => number !== undefined);
    expect(withNumber.length).to.be.greaterThan(8);
    const wrong = withNumber.filter(({ name, number }) => !codes(rows[documented.indexOf(name)]?.[2] ?? "").includes(number!));
    expect(wrong).to.deep.equal([]);
  });

  it("has the defaults that the service takes", () => {
    const { accessTokenTtl, refreshTokenTtl, realtime, logRetention, authentication } = resolveOptions({});
    const taken = { accessTokenTtl, refreshTokenTtl, realtime, logRetention, authentication };
    const wrong = options.filter(({ number }) => number !== undefined).filter(({ name, number }) => {
      const value = name.split(".").reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], taken);
      return value !== Number(number);
    });
    expect(wrong).to.deep.equal([]);
  });
});
