// Contract 10 "Options" and "Secrets".
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { createRecordsService, OptionsError, type RecordsServiceOptions } from "../../lib/index.js";
import { cheapHasher, demand, startService } from "../support/service.js";

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const secretNames = ["application", "token", "sessionCookie", "authenticationCookie", "flashCookie"];

describe("options", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "records-options-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  function refusal(options: unknown): string {
    try {
      void createRecordsService(options as RecordsServiceOptions).close();
    } catch (error) {
      expect(error).to.be.instanceOf(OptionsError);
      return (error as Error).message;
    }
    throw new Error(`accepted: ${JSON.stringify(options)}`);
  }

  it("one error lists everything wrong", () => {
    const message = refusal({
      storage: 5, mode: "fast", accessTokenTtl: -1, refreshTokenTtl: "long", authentication: { hashing: { concurrency: 0, timeout: "x", memory: -5, nope: 1 } },
      realtime: { heartbeat: 0 }, logRetention: { days: "x" }, mailer: {}, hasher: { hash: 1 }, logger: 5, clock: {}, resolveTenant: "acme", defaultTenant: "-", unknownOption: true,
    });
    for (const name of [
      "storage", "mode", "accessTokenTtl", "refreshTokenTtl", "authentication.hashing.concurrency", "authentication.hashing.timeout", "authentication.hashing.memory", "authentication.hashing.nope",
      "realtime.heartbeat", "logRetention.days", "mailer", "hasher", "logger", "clock", "resolveTenant", "defaultTenant", "unknownOption",
    ]) expect(message, name).to.contain(name);
  });

  it("what is no object of options is refused", () => {
    for (const options of [null, 5, "x", []]) expect(() => createRecordsService(options as never)).to.throw();
  });

  it("a misspelt option is named", () => {
    expect(refusal({ storge: "./data" })).to.contain("storge");
  });

  it("no option is needed, and nothing is opened before the first use", async () => {
    const path = join(folder, "unopened");
    const service = createRecordsService({ storage: path, hasher: cheapHasher, logger: quiet });
    await service.close();
    expect(await readdir(path)).to.deep.equal(["secrets.json"]);
  });

  it("a storage folder that cannot be written to is a fault of the option storage", async () => {
    await writeFile(join(folder, "a file"), "");
    expect(refusal({ storage: join(folder, "a file", "data") })).to.contain("storage: the folder").and.contain("cannot be written to (ENOTDIR)");
  });

  it("a text that is neither a folder nor a mongodb:// URL is no storage, and what may be a password is not repeated", () => {
    for (const storage of ["mongo://ann:passw0rd@host/x", "mongodbs://ann:passw0rd@host/x", "http://ann:passw0rd@host", " mongodb://ann:passw0rd@host/x", "postgres://ann:passw0rd@host/x"]) {
      expect(refusal({ storage }), storage).to.contain("storage must be a folder, or a URL that begins with mongodb://").and.not.contain("passw0rd");
    }
    expect(refusal({ storage: "  " })).to.contain("storage must name a folder");
  });

  it("the database of a mongodb:// URL is checked with all other options", () => {
    for (const name of ["a.b", "a%20b", "a%", "a".repeat(31), "admin", "local", "Config"]) {
      expect(refusal({ storage: `mongodb://ann:passw0rd@host/${name}`, adminUi: 5 }), name).to.contain("storage cannot be used").and.contain("adminUi").and.not.contain("passw0rd");
    }
  });

  it("a mongodb:// URL that the driver does not take is told by ready(), without its values", async () => {
    const secrets = Object.fromEntries(secretNames.map((name, index) => [name, String(index + 1).repeat(64)])) as never;
    for (const [url, told] of [["mongodb://ann:passw0rd@127.0.0.1:1/x?nope=1", "option nope is not supported"], ["mongodb://ann:passw0rd@127.0.0.1:99999/x", "127.0.0.1:99999"], ["mongodb://127.0.0.1:1/x?minPoolSize=passw0rd", "minPoolSize"]] as const) {
      const service = createRecordsService({ storage: url, secrets, hasher: cheapHasher, logger: quiet });
      const error = await service.ready().then(() => undefined, (reason: unknown) => reason);
      expect(error, url).to.be.instanceOf(OptionsError);
      expect((error as Error).message).to.contain("storage: the mongodb:// URL cannot be used").and.contain(told).and.not.contain("passw0rd");
      await service.close();
    }
  });

  it("a folder may be called anything, mongodb too", async () => {
    const service = createRecordsService({ storage: join(folder, "mongodb-data"), hasher: cheapHasher, logger: quiet });
    await service.close();
    const before = process.cwd();
    process.chdir(folder);
    try {
      await createRecordsService({ storage: "mongodb", hasher: cheapHasher, logger: quiet }).close();
    } finally {
      process.chdir(before);
    }
  });

  it("equal secrets are warned of, by name and without their value", async () => {
    const secrets = Object.fromEntries(secretNames.map((name, index) => [name, (index < 2 ? "ab" : String(index).repeat(2)).repeat(32)]));
    const warnings: unknown[][] = [];
    const service = createRecordsService({ mode: "prod", storage: join(folder, "equal"), secrets: secrets as never, hasher: cheapHasher, logger: { ...quiet, warn: (...told: unknown[]) => void warnings.push(told) } });
    await service.close();
    expect(warnings).to.have.length(1);
    expect(warnings[0]![0]).to.deep.equal({ secrets: ["application", "token"] });
    expect(JSON.stringify(warnings)).to.not.contain("abab");
  });

  it("in prod mode all secrets must be given, each of at least 64 hex characters; every missing one is named, no value is shown", async () => {
    const none = refusal({ mode: "prod", storage: join(folder, "prod") });
    for (const name of secretNames) expect(none, name).to.contain(name);
    const short = "deadbeef".repeat(7);
    const text = refusal({ mode: "prod", storage: join(folder, "prod"), secrets: { application: short, token: "g".repeat(64), sessionCookie: "a1".repeat(32) } });
    for (const name of ["application", "token", "authenticationCookie", "flashCookie"]) expect(text, name).to.contain(name);
    expect(text).not.to.contain(short).and.not.contain("g".repeat(64));
    const secrets = Object.fromEntries(secretNames.map((name, index) => [name, String(index + 1).repeat(64)]));
    const service = createRecordsService({ mode: "prod", storage: join(folder, "prod"), secrets: secrets as never, hasher: cheapHasher, logger: quiet });
    await service.ready();
    await service.close();
  });

  it("otherwise they are made once and kept in the data folder, readable by the owner alone; tokens outlive a restart", async () => {
    const first = await startService({ folder: join(folder, "dev") });
    const tenant = await first.createTenant();
    const user = await first.signUp(tenant, "alice");
    await first.close();
    const files = await readdir(join(folder, "dev"));
    const kept = files.filter((name) => /secret/i.test(name));
    expect(kept, files.join(", ")).to.have.length(1);
    expect((await stat(join(folder, "dev", kept[0]!))).mode & 0o777).to.equal(0o600);
    // The system database beside it holds the superadmin's hash.
    expect((await stat(join(folder, "dev"))).mode & 0o777, "the folder itself").to.equal(0o700);
    const second = await startService({ folder: join(folder, "dev") });
    try {
      expect((await demand(200, second.request("GET", "/api/auth/me", { token: user.token }))).body.id).to.equal(user.id);
      await demand(200, second.request("POST", "/api/auth/refresh", { body: { refreshToken: user.refreshToken } }));
    } finally {
      await second.close();
    }
  });

  it("accessTokenTtl and refreshTokenTtl are seconds", async () => {
    const on = await startService({ accessTokenTtl: 60, refreshTokenTtl: 120 });
    try {
      const tenant = await on.createTenant();
      await on.signUp(tenant, "alice");
      const { body } = await demand(200, on.login(tenant, "alice"));
      expect(body.expiresIn).to.equal(60);
      on.clock.advance(61_000);
      expect((await on.request("GET", "/api/auth/me", { token: body.accessToken })).status).to.equal(401);
      on.clock.advance(60_000);
      expect((await on.request("POST", "/api/auth/refresh", { body: { refreshToken: body.refreshToken } })).status).to.equal(401);
    } finally {
      await on.close();
    }
  });

  it("by default an access token lasts 15 minutes", async () => {
    const on = await startService();
    try {
      const tenant = await on.createTenant();
      await on.signUp(tenant, "alice");
      expect((await on.login(tenant, "alice")).body.expiresIn).to.equal(900);
    } finally {
      await on.close();
    }
  });

  it("adminUi: false serves no admin page", async () => {
    const on = await startService({ adminUi: false });
    try {
      for (const path of ["/admin/", "/authenticate"]) expect((await on.request("GET", path)).status, path).to.equal(404);
    } finally {
      await on.close();
    }
  });

  it("what a provider throws shows in the log only", async () => {
    const on = await startService({ hasher: { ...cheapHasher, hash: async (password) => { if (password === "one that the hasher fails on") throw new Error("the secret inside"); return cheapHasher.hash(password); } } });
    try {
      const tenant = await on.createTenant();
      const answer = await on.meta("POST", `/api/meta/tenants/${tenant.id}/users`, { username: "alice", password: "one that the hasher fails on" });
      expect([answer.status, answer.body]).to.deep.equal([500, { error: "Internal server error" }]);
      expect(on.logged.some(({ level, fields }) => level === "error" && JSON.stringify(fields).includes("the secret inside"))).to.equal(true);
    } finally {
      await on.close();
    }
  });
});
