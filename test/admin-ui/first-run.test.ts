// First run, as a person does it: from the setup link to the first record, by clicks and typing alone.
import { expect } from "chai";
import { accessibilityFaults, openAdminBrowser, type AdminBrowser } from "./browser.js";

describe("admin page: first run", function () {
  this.timeout(60_000);
  let admin: AdminBrowser;
  before(async () => {
    admin = await openAdminBrowser();
  });
  after(() => admin.close());

  it("goes from the setup token to the first record", async () => {
    const { page, faults } = await admin.visit();
    const { token } = await admin.service.service.createSetupToken();
    await page.goto(`${admin.service.url}/authenticate`);
    await page.waitForURL(/\/admin\/#\/sign-in$/);
    await page.getByRole("link", { name: "Use a setup token" }).click();
    await page.getByLabel("Setup token").fill(token);
    await page.getByLabel("User name").fill("root");
    await page.getByLabel("Password", { exact: true }).fill("correct horse battery");
    await page.getByLabel("Password again").fill("correct horse battery");
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await page.getByRole("button", { name: "Create the superadmin" }).click();

    await page.getByRole("heading", { name: "No tenant yet" }).waitFor();
    await page.getByRole("button", { name: "New tenant" }).click();
    await page.getByLabel("Name").fill("Café Zoë");
    expect(await page.getByLabel("Slug").inputValue()).to.equal("cafe-zoe");
    await page.getByRole("button", { name: "Create the tenant" }).click();

    await page.getByRole("button", { name: "New collection" }).click();
    await page.getByLabel("Name", { exact: true }).fill("orders");
    await page.getByRole("button", { name: "Create the collection" }).click();
    await page.getByRole("button", { name: "New record" }).click();
    await page.getByLabel("title").fill("Two espressi");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("link", { name: "Two espressi" }).waitFor();

    const stored = await admin.service.request("GET", "/api/collections/orders", { tenant: "cafe-zoe", token: (await admin.service.request("POST", "/api/admin/token", { body: { username: "root", password: "correct horse battery" } })).body.accessToken });
    expect(stored.body.items.map((record: { title: string }) => record.title)).to.deep.equal(["Two espressi"]);
    expect(faults).to.deep.equal([]);
    await page.context().close();
  });

  it("tells at its field that a setup token is wrong, and keeps what was typed", async () => {
    const { page } = await admin.visit();
    await page.goto(`${admin.service.url}/admin/#/setup?token=not-the-token`);
    await page.getByLabel("User name").fill("mallory");
    await page.getByLabel("Password", { exact: true }).fill("correct horse battery");
    await page.getByLabel("Password again").fill("correct horse battery");
    await page.getByRole("button", { name: "Create the superadmin" }).click();
    await page.getByText("This token is unknown, used or older than 30 minutes").waitFor();
    expect(await page.getByLabel("User name").inputValue()).to.equal("mallory");
    expect(await page.getByLabel("Setup token").getAttribute("aria-invalid")).to.equal("true");
    expect(page.url()).not.to.contain("not-the-token");
    await page.context().close();
  });
});
