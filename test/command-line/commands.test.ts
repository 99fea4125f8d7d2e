// The command `records-service`, run as a process on the package as it is built.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, stat, writeFile, chmod } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { commands } from "../../lib/command-line/commands.js";
import { createRecordsService, type RecordsService } from "../../lib/index.js";

const main = fileURLToPath(new URL("../../dist/command-line/main.cjs", import.meta.url));

interface Outcome {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

describe("command line", function () {
  // Each command is a process, and a machine may have other things to do.
  this.timeout(180_000);
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "records-commands-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function run(words: readonly string[], { env = {}, input = "" }: { env?: Record<string, string>; input?: string } = {}): Promise<Outcome> {
    const { PATH = "", HOME = "" } = process.env;
    const child = spawn(process.execPath, [main, ...words], { cwd: folder, env: { PATH, HOME, ...env } });
    let out = "";
    let err = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => void (out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => void (err += text));
    child.stdin.on("error", () => undefined).end(input);
    const [status] = (await once(child, "close")) as [number | null];
    return { status, out, err };
  }
  const json = async (...words: string[]) => {
    const outcome = await run([...words, "--json"]);
    expect(outcome.status, outcome.err).to.equal(0);
    return JSON.parse(outcome.out);
  };
  /** The same storage in this process. */
  async function inService<T>(use: (service: RecordsService) => Promise<T>): Promise<T> {
    const silent = { debug() {}, info() {}, warn() {}, error() {} };
    const service = createRecordsService({ storage: join(folder, "data"), logger: silent, announceSetup: false });
    try {
      await service.ready();
      return await use(service);
    } finally {
      await service.close();
    }
  }

  it("without a word, and with a wrong one, it says what there is and ends with 2; help ends with 0", async () => {
    const [none, wrong, help, helped] = await Promise.all([run([]), run(["frobnicate"]), run(["help"]), run(["backup", "--help"])]);
    expect(none.status).to.equal(2);
    for (const { name, summary } of commands) expect(none.out).to.contain(name).and.to.contain(summary);
    expect([wrong.status, wrong.err]).to.deep.equal([2, 'There is no command "frobnicate": see  records-service help\n']);
    expect([help.status, help.out]).to.deep.equal([0, none.out]);
    expect(helped.status).to.equal(0);
    expect(helped.out).to.match(/^records-service backup <tenant> \[file\] \[options\]\n/);
  });

  it("wrong options and parameters end with 2 and the usage, wrong settings with 1 and every fault", async () => {
    const [unknown, few, many, settings] = await Promise.all([
      run(["tenants", "--nope"]), run(["restore", "acme"]), run(["tenants", "x"]), run(["tenants"], { env: { APPLICATION_MODE: "production", STORAGE_URL: "postgres://x" } }),
    ]);
    expect(unknown.status).to.equal(2);
    expect(unknown.err).to.contain("--nope").and.to.contain("usage: records-service tenants");
    expect([few.status, few.err]).to.deep.equal([2, "restore takes tenant, file\nusage: records-service restore <tenant> <file> [options]\n"]);
    expect(many.err).to.contain("tenants takes no parameters");
    expect(settings.status).to.equal(1);
    expect(settings.err).to.contain("- APPLICATION_MODE must be one of dev, prod").and.to.contain("- STORAGE_URL must begin with mongodb://");
  });

  it("tenants makes and lists tenants; setup-token makes a token that works, with --first only while there is no superadmin", async () => {
    const made = await json("tenants", "--create", "acme", "--name", "Acme & Söhne");
    expect(made).to.include({ slug: "acme", name: "Acme & Söhne" });
    expect((await run(["tenants"])).out).to.match(/^acme {2}[0-9a-f-]{36} {2}\S+Z {2}Acme & Söhne\n$/);
    expect((await json("tenants")).items).to.have.length(1);
    const taken = await run(["tenants", "--create", "acme"]);
    expect([taken.status, taken.err]).to.deep.equal([3, "slug: is taken by another tenant\n"]);
    expect((await run(["setup-token"])).out).to.match(/^setup token: [\w-]{43}\nvalid until \S+Z\n$/);
    expect((await json("setup-token", "--first")).token).to.match(/^[\w-]{43}$/);
  });

  it("imports a CSV with a dry run before, and exports it again", async () => {
    await inService(async (service) => {
      await service.tenant("acme").collections.create({ name: "books", fields: [{ name: "title", type: "TEXT", required: true, unique: true }, { name: "year", type: "NUMBER" }] });
    });
    await writeFile(join(folder, "bad.csv"), "title,year\nOne,1\n,2\nThree,three\n");
    const bad = await run(["import", "acme", "books", "bad.csv"]);
    expect(bad.status).to.equal(1);
    expect(bad.out).to.equal("row 2 (line 3): title is required\nrow 3 (line 4): year must be a number\n1 of 3 rows can be imported\n");
    expect(bad.err.trim().split("\n").at(-1)).to.equal("Nothing was imported");
    await writeFile(join(folder, "books.csv"), `title;year\n${Array.from({ length: 1_000 }, (_, index) => `Bücher ${index};${index}`).join("\n")}\n`);
    const dry = await json("import", "acme", "books", "books.csv", "--delimiter", ";", "--dry-run");
    expect(dry).to.include({ dryRun: true, rows: 1_000, valid: 1_000, imported: 0 });
    const real = await run(["import", "acme", "books", "books.csv", "--delimiter", ";"]);
    expect(real.out).to.equal("1000 of 1000 records are imported\n");
    const steps = real.err.trim().split("\n").map((line) => JSON.parse(line) as { step: string; done: number; ended?: boolean });
    expect(steps.filter(({ ended }) => ended === true).map(({ step, done }) => [step, done])).to.deep.equal([["check", 1_000], ["write", 1_000]]);

    const out = await run(["export", "acme", "books", "--format", "csv"]);
    expect(out.out.split("\r\n")).to.have.length(1_002);
    expect(out.err).to.equal("");
    await json("export", "acme", "books", "books.json");
    expect(JSON.parse(await readFile(join(folder, "books.json"), "utf8"))).to.have.length(1_000);
    expect(((await stat(join(folder, "books.json"))).mode & 0o777).toString(8)).to.equal("600");
    const again = await run(["import", "acme", "books", "-", "--format", "ndjson"], { input: '{"title":"from standard input"}\n' });
    expect([again.status, again.out]).to.deep.equal([0, "1 of 1 records are imported\n"]);
    expect((await run(["import", "acme", "books", "-"])).status).to.equal(2);
    expect((await run(["import", "acme", "nope", "bad.csv"])).status).to.equal(3);
    expect((await run(["import", "acme", "books", "missing.csv"])).err).to.equal("There is no file missing.csv that can be read\n");
  });

  it("backs a tenant up and restores it into a new one; a tenant that was made for a bad archive is removed again", async () => {
    const made = await json("backup", "acme", "acme.zip");
    expect(made).to.include({ tenant: "acme", file: "acme.zip", records: 1_001, files: 0 });
    expect(((await stat(join(folder, "acme.zip"))).mode & 0o777).toString(8)).to.equal("600");
    const named = await run(["backup", "acme"]);
    expect(named.out).to.match(/^acme-\d{4}-\d\d-\d\d\.zip: 1001 records and 0 files, \d+ bytes\n$/);
    const restored = await run(["restore", "copy", "acme.zip"]);
    expect([restored.status, restored.out]).to.deep.equal([0, "2 collections, 1001 records, 0 users, 0 files, 0 hooks and 0 API keys are restored into copy\n"]);
    await inService(async (service) => {
      expect((await service.tenant("copy").as("system").collection("books").list({ count: true })).total).to.equal(1_001);
    });
    await writeFile(join(folder, "bad.zip"), (await readFile(join(folder, "acme.zip"))).subarray(0, 1_000));
    const bad = await run(["restore", "another", "bad.zip"]);
    expect(bad.status).to.equal(3);
    expect(bad.err).to.contain("This is no backup");
    expect((await json("tenants")).items.map(({ slug }: { slug: string }) => slug)).to.deep.equal(["acme", "copy"]);
    const occupied = await run(["restore", "copy", "acme.zip"]);
    expect([occupied.status, occupied.err.trim().split("\n").at(-1)]).to.deep.equal([3, "The tenant is not empty: make a new one to restore into"]);
    expect((await run(["backup", "nobody"])).err).to.equal("Unknown tenant\n");
    expect((await readdir(folder)).filter((name) => name.endsWith(".part") || name.startsWith("nobody"))).to.deep.equal([]);
  });

  it("works beside a running server, which sees what was written at once", async () => {
    await inService(async (service) => {
      expect((await run(["tenants", "--create", "beside"])).status).to.equal(0);
      expect((await service.tenant("beside").get()).slug).to.equal("beside");
      const started = await service.createSetupToken();
      await run(["tenants"]);
      // A command that only reads leaves the server's setup token alone.
      expect(started.token).to.match(/^[\w-]{43}$/);
    });
  });

  it("copies everything to another folder and compares it", async () => {
    const copied = await json("copy", "data", "elsewhere");
    expect(copied).to.include({ tenants: 3 });
    const there = await run(["tenants", "--json"], { env: { SERVICE_STORAGE: "elsewhere" } });
    expect(JSON.parse(there.out).items.map(({ slug }: { slug: string }) => slug)).to.deep.equal(["acme", "copy", "beside"]);
  });

  it("copy takes --from and --to too, and refuses what is no storage, without leaving anything", async () => {
    expect(await json("copy", "--from", "data", "--to", "elsewhere")).to.include({ tenants: 3 });
    const nowhere = await run(["copy", "nowhere", "new"]);
    expect([nowhere.status, nowhere.err]).to.deep.equal([3, "There is no storage in the folder nowhere\n"]);
    const same = await run(["copy", "data", "./data/"]);
    expect([same.status, same.err]).to.deep.equal([3, "from and to are the same\n"]);
    const typo = await run(["copy", "data", "mongo://ann:passw0rd@127.0.0.1:1/x"]);
    expect(typo.status).to.equal(2);
    expect(typo.err).to.contain("to must be a folder, or a URL that begins with mongodb://").and.not.contain("passw0rd");
    expect((await run(["copy", "data"])).status).to.equal(2);
    expect((await readdir(folder)).filter((name) => /new|nowhere|mongo/.test(name))).to.deep.equal([]);
  });

  it("doctor finds everything in order, or says what is not", async () => {
    const mail = createServer((socket) => void socket.end("220 mail.example.com ESMTP\r\n")).listen(0, "127.0.0.1");
    await once(mail, "listening");
    const { port } = mail.address() as AddressInfo;
    const good = await run(["doctor", "--json"], { env: { SMTP_HOST: "127.0.0.1", SMTP_PORT: String(port) } });
    expect(good.status, good.out).to.equal(0);
    const { checks } = JSON.parse(good.out) as { checks: { check: string; status: string; detail: string }[] };
    const found = (name: string) => checks.find(({ check }) => check === name)!;
    for (const name of ["node", "settings", "storage", "secrets", "images", "clock", "thread pool", "mail"]) expect(found(name).status, name).to.equal("ok");
    expect(found("mail").detail).to.contain("220 mail.example.com");
    expect(found("storage").detail).to.contain("3 tenants");
    mail.close();

    await chmod(join(folder, "data", "secrets.json"), 0o644);
    const bad = await run(["doctor"], { env: { SMTP_HOST: "127.0.0.1", SMTP_PORT: String(port), CONNECTOR_HTTP_PORT: "x" } });
    await chmod(join(folder, "data", "secrets.json"), 0o600);
    expect(bad.status).to.equal(1);
    expect(bad.out).to.match(/^FAIL settings: /m);
    const open = await run(["doctor"], { env: { SMTP_HOST: "127.0.0.1", SMTP_PORT: String(port) } });
    expect(open.status).to.equal(1);
    expect(open.out).to.match(/^FAIL mail: 127\.0\.0\.1:\d+ does not greet/m);
    expect(open.err).to.match(/^\d of 10 checks failed$/m);
  });
});
