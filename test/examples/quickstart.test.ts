// The quickstart against a running server, twice: first with the token that the command line makes, then signed in.
import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { runCommand, runExample, type Running } from "../support/example.js";

const books = new URL("../../examples/quickstart/books.csv", import.meta.url);

describe("quickstart", function () {
  this.timeout(180_000);
  const running: Running[] = [];
  after(async () => {
    await Promise.all(running.map((one) => one.remove()));
  });

  it("books.csv is a list of more than a thousand different books", async () => {
    const lines = (await readFile(books, "utf8")).trim().split("\n").slice(1);
    expect(lines.length).to.be.greaterThan(1_000);
    expect(new Set(lines).size).to.equal(lines.length);
  });

  it("tells the story, with what each may see, and does so again for a superadmin who is there", async () => {
    const server = await runCommand(["start"], { env: { CONNECTOR_HTTP_PORT: "0" } });
    running.push(server);
    const url = await server.said(/listening on (\S+)/);
    const env = { SERVICE_STORAGE: `${server.folder}/data` };
    const first = await runExample("examples/quickstart/quickstart.ts", { args: ["--url", url], env });
    running.push(first);
    expect(await first.ended, first.output()).to.equal(0);
    const story = first.output();
    const all = (await readFile(books, "utf8")).trim().split("\n").length - 1;
    expect(story).to.contain(`${all} of ${all} rows imported`);
    expect(story).to.contain("line 16, year must be a number");
    expect(story).to.contain(`Ben, staff, sees ${all} books`);
    expect(story).to.match(/A guest sees (\d+) books\.\n {3}Ann, a customer, sees \1 books\./);
    expect(story).to.contain("Ben gets 200, Ann 404");
    expect(story).to.contain("Белые ночи (Ф. М. Достоевский)");
    expect(story).to.contain("Ben may not wish in Ann's name: 403");
    expect(story).to.contain("Ann wishes Solaris: Für den Sommer ☀");
    expect(story).to.contain("Ben sees 0 wishes");

    const password = /with the password (\S+)/.exec(story)![1]!;
    const second = await runExample("examples/quickstart/quickstart.ts", { args: ["--url", url, "--password", password], env });
    running.push(second);
    expect(await second.ended, second.output()).to.equal(0);
    expect(second.output()).to.contain("The tenant is bookshop-2.");

    const third = await runExample("examples/quickstart/quickstart.ts", { args: ["--url", url], env });
    running.push(third);
    expect(await third.ended).to.equal(1);
    expect(third.output()).to.contain("There is a superadmin already");
  });
});
