// What a superadmin manages: schema, rules, users, keys, hooks, settings, logs, live view, import, tenants.
import { readFile } from "node:fs/promises";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { demand, testPassword } from "../support/service.js";
import { openAdminBrowser, type AdminBrowser, type Visit } from "./browser.js";
import { makeLibrary, type Library } from "./library.js";

describe("admin page: management", function () {
  this.timeout(60_000);
  let admin: AdminBrowser;
  let library: Library;
  let visit: Visit;
  let page: Page;
  before(async () => {
    admin = await openAdminBrowser();
    library = await makeLibrary(admin.service);
  });
  after(async () => {
    await library.close();
    await admin.close();
  });
  beforeEach(async () => {
    visit = await admin.signedIn();
    page = visit.page;
  });
  afterEach(async () => {
    expect(visit.faults).to.deep.equal([]);
    await page.context().close();
  });

  const open = async (place: string) => page.goto(`${admin.service.url}/admin/#/t/city-library${place}`);
  const meta = async (path: string) => (await demand(200, admin.service.meta("GET", `/api/meta/tenants/${library.tenant.id}${path}`))).body;

  describe("schema", () => {
    it("adds a field, tells errors at it, and saves", async () => {
      await open("/c/books/schema");
      await page.getByRole("button", { name: "Add a field" }).click();
      const added = page.getByRole("group", { name: "New field" });
      await added.getByLabel("Type").selectOption("SELECT");
      await page.keyboard.press("Tab");
      await added.getByLabel("Name").fill("1 language");
      const named = page.getByRole("group", { name: "Field 1 language" });
      await named.getByLabel("Values").fill("de\nen");
      await page.getByRole("button", { name: "Save the schema" }).click();
      await named.getByText("must start with a letter").waitFor();
      await named.getByLabel("Name").fill("language");
      await page.getByRole("button", { name: "Save the schema" }).click();
      await page.getByText("The schema is saved.").waitFor();
      const { fields } = await meta("/collections/books");
      expect(fields.at(-1)).to.include({ name: "language", type: "SELECT" });
      expect(fields.at(-1).values).to.deep.equal(["de", "en"]);
    });

    it("asks by name before a field with data goes", async () => {
      await open("/c/books/schema");
      await page.getByRole("button", { name: "Remove notes" }).click();
      await page.getByText("removed when you save").waitFor();
      await page.getByRole("button", { name: "Save the schema" }).click();
      const dialog = page.getByRole("dialog", { name: "Remove the field notes?" });
      const confirm = dialog.getByRole("button", { name: "Remove and save" });
      expect(await confirm.isDisabled()).to.equal(true);
      await dialog.getByLabel("Type notes to confirm").fill("notes");
      await confirm.click();
      await page.getByText("The schema is saved.").waitFor();
      expect((await meta("/collections/books")).fields.map((field: { name: string }) => field.name)).not.to.include("notes");
    });

    it("adds an index on two fields", async () => {
      await open("/c/books/schema");
      await page.getByRole("button", { name: "Add an index" }).click();
      await page.getByLabel("Index 2, field 1").selectOption("state");
      await page.getByRole("group", { name: "Index 2" }).getByRole("button", { name: "Then by" }).click();
      await page.getByLabel("Index 2, field 2").selectOption("price");
      await page.getByRole("button", { name: "Save the schema" }).click();
      await page.getByText("The schema is saved.").waitFor();
      expect((await meta("/collections/books")).indexes.at(-1)).to.deep.equal({ fields: ["state", "price"], unique: false });
    });
  });

  describe("rules", () => {
    it("takes presets, shows a fault with its place while one types, and saves", async () => {
      await open("/c/books/rules");
      await page.getByLabel("Delete: preset").selectOption("Own records");
      expect(await page.getByLabel("Delete rule").inputValue()).to.equal("owner = @auth.id");
      await page.getByLabel("Delete: preset").selectOption("custom");
      await page.getByLabel("Delete rule").fill("owner = @auth.id && pages > 3");
      await page.getByText("unknown field: the collection has no field pages").waitFor();
      expect(await page.getByText("At position 21").count()).to.equal(1);
      await page.getByLabel("Delete rule").fill("owner = @auth.id && ye");
      await page.getByLabel("Delete rule").press("End");
      await page.keyboard.type("a");
      await page.getByRole("option", { name: "year" }).waitFor();
      await page.keyboard.press("Tab");
      await page.keyboard.type(" > 3");
      await page.getByRole("button", { name: "Save the rules" }).click();
      await page.getByText("The rules are saved.").waitFor();
      expect((await meta("/collections/books")).deleteRule).to.equal("owner = @auth.id && year > 3");
    });

    it("shows at its rule what the service refuses", async () => {
      await open("/c/books/rules");
      await page.getByLabel("List: preset").selectOption("custom");
      await page.getByLabel("List rule").fill("@changed.title");
      await page.getByRole("button", { name: "Save the rules" }).click();
      await page.getByText("@changed can be used in update rules only").first().waitFor();
      await page.getByRole("button", { name: "Undo the changes" }).click();
      expect(await page.getByLabel("List rule").inputValue()).to.equal("true");
    });
  });

  describe("try it", () => {
    it("says who may do what, which part of the rule decides, and which hooks follow", async () => {
      await open("/c/books/rules");
      await page.getByRole("button", { name: "Try it" }).click();
      await page.getByText("is required").waitFor();
      await page.getByLabel("Record").fill(library.bookId);
      await page.getByRole("button", { name: "Try it" }).click();
      await page.getByText("Allowed, 200.").waitFor();
      await page.getByLabel("As").selectOption({ label: "grace" });
      await page.getByLabel("Do").selectOption("update");
      await page.getByLabel("Body").fill('{ "price": 1 }');
      await page.getByRole("button", { name: "Try it" }).click();
      await page.getByText("Refused, 403.").waitFor();
      const part = page.locator(".parts .parts li").first();
      expect(await part.innerText()).to.contain("fails").and.contain("owner = @auth.id").and.contain(library.ada.id);
      await page.getByLabel("As").selectOption({ label: "ada" });
      await page.getByLabel("Do").selectOption("create");
      await page.getByRole("button", { name: "Try it" }).click();
      await page.getByText("The body would be refused: title is required").waitFor();
      expect(await page.getByRole("status").getByRole("link", { name: "beforeCreate" }).count()).to.equal(1);
    });
  });

  describe("users", () => {
    it("adds an account with a role, and switches it off", async () => {
      await open("/c/users");
      await page.getByRole("button", { name: "New account" }).click();
      const sheet = page.locator("dialog.sheet");
      await sheet.getByLabel("username").fill("linus");
      await sheet.getByLabel("role").fill("librarian");
      await sheet.getByLabel("password").fill("short");
      await sheet.getByRole("button", { name: "Add", exact: true }).click();
      await sheet.locator("[aria-invalid=true]").waitFor();
      await sheet.getByLabel("password").fill(testPassword);
      await sheet.getByRole("button", { name: "Add", exact: true }).click();
      await page.getByRole("link", { name: "linus" }).click();
      expect((await admin.service.login(library.tenant, "linus")).status).to.equal(200);
      await sheet.getByLabel("Active").uncheck();
      await sheet.getByRole("button", { name: "Save" }).click();
      await page.getByText("Saved.").waitFor();
      expect((await admin.service.login(library.tenant, "linus")).status).to.equal(401);
      expect(await sheet.getByLabel("role").inputValue()).to.equal("librarian");
    });
  });

  describe("API keys", () => {
    it("shows a key once, binds it, and revokes it", async () => {
      await open("/keys");
      await page.getByRole("button", { name: "New API key" }).click();
      await page.getByLabel("Name").fill("nightly report");
      await page.getByLabel("Acts as").selectOption({ label: "grace" });
      await page.getByLabel("Only from").fill("10.0.0.300");
      await page.getByRole("button", { name: "Make the key" }).click();
      await page.getByRole("dialog").locator("[aria-invalid=true]").waitFor();
      await page.getByLabel("Only from").fill("127.0.0.9/8");
      await page.getByRole("button", { name: "Make the key" }).click();
      const key = await page.getByRole("textbox", { name: "API key" }).innerText();
      expect(key).to.match(/^pk_[\w-]{43}$/);
      await page.getByRole("button", { name: "I have copied it" }).click();
      await page.getByRole("row", { name: /nightly report/ }).getByText("127.0.0.0/8").waitFor();
      expect((await admin.service.request("GET", "/api/auth/me", { token: key })).status).to.equal(200);
      await page.getByRole("button", { name: "Revoke nightly report" }).click();
      await page.getByRole("button", { name: "Revoke the key" }).click();
      await page.getByRole("row", { name: /nightly report/ }).getByText("revoked").waitFor();
      expect((await admin.service.request("GET", "/api/auth/me", { token: key })).status).to.equal(401);
      expect(await page.content()).not.to.contain(key);
    });
  });

  describe("hooks", () => {
    it("makes a hook, shows its secret once, tests it, and lists its calls", async () => {
      const { webhookAllowlist } = await meta("/settings");
      await open("/hooks");
      await page.getByRole("link", { name: "New hook" }).click();
      await page.getByLabel("Event").selectOption("afterUpdate");
      await page.getByLabel("Address").fill("http://127.0.0.1:1/elsewhere");
      await page.getByRole("button", { name: "Create the hook" }).click();
      await page.locator("[aria-invalid=true]").waitFor();
      await page.getByLabel("Address").fill(`http://${webhookAllowlist[0]}/after`);
      await page.getByRole("button", { name: "Create the hook" }).click();
      expect(await page.getByRole("textbox", { name: "Secret" }).innerText()).to.have.length.above(20);
      await page.getByRole("button", { name: "I have copied it" }).click();
      const before = library.calls.length;
      await page.getByRole("button", { name: "Send a sample" }).click();
      await page.getByText("sha256=").waitFor();
      expect(library.calls.length).to.equal(before + 1);
      await page.getByRole("link", { name: "Calls of this hook" }).click();
      await page.getByRole("heading", { name: "Hooks" }).waitFor();
    });
  });

  describe("settings", () => {
    it("opens self-registration, and tells a wrong entry at its field", async () => {
      await open("/settings");
      await page.getByLabel("Self-registration").check();
      await page.getByLabel("Webhook allowlist").fill("no port");
      await page.getByRole("button", { name: "Save the settings" }).click();
      await page.locator("[aria-invalid=true]").waitFor();
      const { webhookAllowlist } = await meta("/settings");
      await page.getByLabel("Webhook allowlist").fill(`127.0.0.1:9999\n${webhookAllowlist[0]}`);
      await page.getByRole("button", { name: "Save the settings" }).click();
      await page.getByText("The settings are saved.").waitFor();
      expect(await meta("/settings")).to.deep.include({ selfRegistration: true, webhookAllowlist: ["127.0.0.1:9999", webhookAllowlist[0]] });
    });
  });

  describe("live view", () => {
    it("shows a change as it happens", async () => {
      await open("/c/loans/live");
      await page.getByText("live", { exact: true }).waitFor();
      const token = await admin.service.superadminToken();
      const { id } = (await demand(201, admin.service.request("POST", "/api/collections/loans", { token, tenant: "city-library", body: { due: "2027-01-01T00:00:00.000Z" } }))).body;
      await page.getByRole("link", { name: id }).waitFor();
      expect(await page.locator(".event").first().innerText()).to.contain("created");
    });
  });

  describe("request log", () => {
    it("finds a request by its id", async () => {
      const answer = await admin.service.request("GET", "/api/collections/nothing-here", { tenant: "city-library" });
      await open(`/log?requestId=${String(answer.headers["x-request-id"])}`);
      await page.getByRole("rowheader", { name: "GET /api/collections/nothing-here" }).waitFor();
      expect(await page.locator("tbody tr").count()).to.equal(1);
    });
  });

  describe("import and export", () => {
    it("checks a file first, names the bad row, then imports", async () => {
      await open("/c/books/transfer");
      const file = (text: string) => ({ name: "more.csv", mimeType: "text/csv", buffer: Buffer.from(text) });
      await page.getByLabel("File").setInputFiles(file("title,year\nOrlando,1928\nThe Waves,soon\n"));
      await page.getByText("1 of 2 rows cannot be imported").waitFor();
      expect(await page.getByRole("row", { name: /year/ }).count()).to.equal(1);
      await page.getByLabel("File").setInputFiles(file("title,year\nOrlando,1928\nThe Waves,1931\n"));
      await page.getByRole("button", { name: "Import 2 records" }).click();
      await page.getByText("2 of 2 rows are now records of books.").waitFor();
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: "CSV" }).click();
      expect((await download).suggestedFilename()).to.equal("city-library-books.csv");
    });
  });

  describe("backup", () => {
    it("downloads an archive and restores it into an empty tenant, never over another", async () => {
      await demand(201, admin.service.meta("POST", "/api/meta/tenants", { slug: "branch" }));
      await open("/backup");
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: "Download a backup" }).click();
      const archive = await (await download).path();
      await page.getByLabel("Archive").setInputFiles({ name: "library.zip", mimeType: "application/zip", buffer: await readFile(archive) });
      await page.getByRole("button", { name: "Restore" }).click();
      await page.getByText("This tenant is not empty.").waitFor();
      await page.goto(`${admin.service.url}/admin/#/t/branch/backup`);
      await page.reload();
      await page.getByLabel("Archive").setInputFiles({ name: "broken.zip", mimeType: "application/zip", buffer: (await readFile(archive)).subarray(0, 2000) });
      await page.getByRole("button", { name: "Restore" }).click();
      await page.getByRole("alert").waitFor();
      await page.getByLabel("Archive").setInputFiles({ name: "library.zip", mimeType: "application/zip", buffer: await readFile(archive) });
      await page.getByRole("button", { name: "Restore" }).click();
      await page.getByText("The backup is restored.").waitFor();
      await page.getByRole("link", { name: "books" }).click();
      await page.getByRole("link", { name: "Kindred" }).waitFor();
      await demand(204, admin.service.meta("DELETE", `/api/meta/tenants/${(await admin.service.meta("GET", "/api/meta/tenants")).body.items.find((tenant: { slug: string }) => tenant.slug === "branch").id}`));
    });
  });

  describe("the API of a collection", () => {
    it("gives samples that work, with the real names and an id", async () => {
      await open("/c/books/api");
      await page.getByRole("button", { name: "fetch" }).click();
      const sample = await page.getByRole("region", { name: "Read one sample" }).filter({ hasText: /books\/[0-9a-f-]{36}/ }).innerText();
      expect(sample).to.contain(`${admin.service.url}/api/collections/books/`).and.not.to.contain("RECORD_ID");
      const id = /books\/([0-9a-f-]{36})/.exec(sample)?.[1];
      expect((await admin.service.request("GET", `/api/collections/books/${id}`, { tenant: "city-library" })).status).to.equal(200);
    });
  });

  describe("keyboard", () => {
    it("reaches the content, the screens and a record without a mouse", async () => {
      await open("");
      await page.reload();
      await page.getByRole("heading", { name: "Collections" }).waitFor();
      await page.keyboard.press("Tab");
      expect(await page.evaluate(() => document.activeElement?.textContent)).to.equal("Skip to the content");
      await page.keyboard.press("Enter");
      expect(await page.evaluate(() => document.activeElement?.tagName)).to.equal("MAIN");
      await page.getByRole("link", { name: "books" }).first().focus();
      await page.keyboard.press("Enter");
      await page.getByRole("link", { name: "Kindred" }).focus();
      await page.keyboard.press("Enter");
      const sheet = page.getByRole("dialog", { name: "Kindred" });
      await sheet.waitFor();
      await page.keyboard.press("Escape");
      await sheet.waitFor({ state: "detached" });
    });
  });

  describe("removing", () => {
    it("deletes a tenant only once its name is typed", async () => {
      await demand(201, admin.service.meta("POST", "/api/meta/tenants", { slug: "short-lived" }));
      await page.goto(`${admin.service.url}/admin/#/tenants`);
      await page.reload();
      await page.getByRole("link", { name: "short-lived" }).click();
      await page.getByRole("link", { name: "Settings" }).click();
      await page.getByRole("button", { name: "Delete short-lived" }).click();
      await page.getByLabel("Type short-lived to confirm").fill("short-lived");
      await page.getByRole("button", { name: "Delete the tenant" }).click();
      await page.getByText("The tenant short-lived is deleted.").waitFor();
      expect((await admin.service.meta("GET", "/api/meta/tenants")).body.items.map((tenant: { slug: string }) => tenant.slug)).to.deep.equal(["city-library"]);
    });
  });

  // The last: it ends every other session, that of the test too.
  describe("account", () => {
    it("changes the password, with the present one as proof, and stays signed in", async () => {
      await page.goto(`${admin.service.url}/admin/#/account`);
      const change = async (present: string, next: string, again = next) => {
        await page.getByLabel("Present password").fill(present);
        await page.getByLabel("New password", { exact: true }).fill(next);
        await page.getByLabel("New password again").fill(again);
        await page.getByRole("button", { name: "Change the password" }).click();
      };
      await change(testPassword, "another long password", "another long passwort");
      await page.getByText("The two passwords differ.").waitFor();
      await change("not the present one", "another long password");
      await page.locator("[aria-invalid=true]").waitFor();
      await change(testPassword, "another long password");
      await page.getByText("The password is changed.").waitFor();
      await page.getByRole("link", { name: "Tenants" }).click();
      await page.getByRole("link", { name: "City Library" }).waitFor();
      await page.goto(`${admin.service.url}/admin/#/account`);
      await change("another long password", testPassword);
      await page.getByText("The password is changed.").waitFor();
    });
  });
});
