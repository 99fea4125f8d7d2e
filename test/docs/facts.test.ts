// Other facts that stand in the code and in the pages: environment names, settings, field types, exports, events.
import { readFileSync } from "node:fs";
import { expect } from "chai";
import express from "express";
import { defaultSettings } from "../../lib/core/tenant.js";
import { hookEvents } from "../../lib/hooks/definition.js";
import * as service from "../../lib/index.js";
import * as testing from "../../lib/testing/index.js";
import { readEnvironment } from "../../lib/standalone/environment.js";
import { startService } from "../support/service.js";
import { allPages, codes, readPage, root, tableRows } from "./pages.js";

/** What stands in backticks in the first cell of each row. */
const firstCodes = (path: string): Set<string> => new Set(tableRows(readPage(path)).flatMap((row) => codes(row[0] ?? "")));

describe("docs: facts", () => {
  it("deployment.md names every variable of the environment that is read, and no other", () => {
    const read = new Set<string>();
    readEnvironment(new Proxy({}, {
      get: (_target, name) => {
        read.add(String(name));
        return undefined;
      },
    }));
    expect(read.size).to.be.greaterThan(20);
    const documented = [...firstCodes("docs/deployment.md")].filter((name) => /^[A-Z][A-Z_]+$/.test(name));
    expect(documented.sort()).to.deep.equal([...read].sort());
  });

  it("http-api.md names every setting of a tenant with its default", () => {
    const rows = tableRows(readPage("docs/http-api.md"));
    for (const [name, value] of Object.entries(defaultSettings)) {
      const row = rows.find((cells) => cells[0] === `\`${name}\``);
      const written = row === undefined ? undefined : row[1]!.replaceAll("`", "").replace(/(\w+):/g, '"$1":');
      expect(written === undefined ? undefined : JSON.parse(written), name).to.deep.equal(value);
    }
  });

  it("http-api.md names every type of field", () => {
    const documented = [...firstCodes("docs/http-api.md")].filter((name) => /^[A-Z]+$/.test(name));
    const declared = /export type FieldType =([^;]+);/.exec(readFileSync(new URL("lib/schema/collection.ts", root), "utf8"))![1]!;
    expect(documented.sort()).to.deep.equal([...declared.matchAll(/"([A-Z]+)"/g)].map((match) => match[1]!).sort());
  });

  it("hooks.md names every event", () => {
    const { text } = readPage("docs/hooks.md");
    expect(hookEvents.filter((event) => !text.includes(event))).to.deep.equal([]);
  });

  it("in-code.md names every member of the service and of a tenant", async () => {
    const scene = await startService();
    try {
      const names = firstCodes("docs/in-code.md");
      const documented = new Set([...names].flatMap((name) => name.split(/[^\w]/)));
      const bare = express.Router();
      const own = Object.keys(scene.service).filter((name) => !(name in bare));
      const tenant = Object.keys(scene.service.tenant("any")).filter((name) => name !== "slug");
      expect(own.length + tenant.length).to.be.greaterThan(15);
      expect([...own, ...tenant].filter((name) => !documented.has(name))).to.deep.equal([]);
    } finally {
      await scene.close();
    }
  });

  it("what the pages import from the package is exported", () => {
    const missing = allPages().flatMap(({ path, text }) => [...text.matchAll(/^import (type )?\{ ([^}]+) \} from "records-service(\/testing)?";$/gm)].flatMap(([, typesOnly, names, sub]) =>
      names!.split(",").map((name) => name.trim()).filter((name) => typesOnly === undefined && !name.startsWith("type ") && !Object.hasOwn(sub === undefined ? service : testing, name)).map((name) => `${path}: ${name}`)));
    expect(missing).to.deep.equal([]);
  });

  it("every file that the pages name in lib is there", () => {
    const missing = allPages().filter(({ path }) => path.startsWith("docs/") && !path.startsWith("docs/decisions/")).flatMap(({ path, text }) =>
      [...text.replace(/^```.*?^```$/gms, "").matchAll(/`((?:core|storage|blobs|mailer|hasher|schema|rules|tenants|collections|records|users|auth|api-keys|files|hooks|realtime|admin|logs|transfer|backup|http|host|standalone)\/[\w/-]+\.ts)`/g)]
        .map((match) => match[1]!).filter((file) => {
          try {
            readFileSync(new URL(`lib/${file}`, root));
            return false;
          } catch {
            return true;
          }
        }).map((file) => `${path}: ${file}`));
    expect(missing).to.deep.equal([]);
  });
});
