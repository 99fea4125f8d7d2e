// Dialogs and states that no screen shows by itself: nothing for axe-core to find in them, no sideways scrolling.
import { expect } from "chai";
import type { Page } from "playwright-core";
import { accessibilityFaults, openAdminBrowser, superadmin, type AdminBrowser } from "./browser.js";
import { makeLibrary, type Library } from "./library.js";

interface Scene {
  readonly name: string;
  readonly place: string;
  readonly act: (page: Page) => Promise<void>;
}

const click = (name: string | RegExp) => async (page: Page) => page.getByRole("button", { name }).first().click();

const scenes: readonly Scene[] = [
  { name: "a new tenant", place: "tenants?new=1", act: async (page) => page.getByLabel("Slug").waitFor() },
  { name: "a new collection", place: "t/city-library?new=1", act: async (page) => page.getByText("First fields").waitFor() },
  { name: "a new record with errors", place: "t/city-library/c/books/r/new", act: async (page) => {
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.locator("[aria-invalid=true]").first().waitFor();
  } },
  { name: "a filter with suggestions", place: "t/city-library/c/books", act: async (page) => {
    await page.getByRole("textbox", { name: "Filter" }).pressSequentially("a");
    await page.locator(".completion [role=option]").first().waitFor();
  } },
  { name: "a filter with a fault", place: "t/city-library/c/books?where=nothing", act: async (page) => page.locator(".pointer").waitFor() },
  { name: "the choice of columns", place: "t/city-library/c/books", act: async (page) => page.getByText("Columns", { exact: true }).click() },
  { name: "a file", place: "t/city-library/c/books?where=title%3D%22The%20Left%20Hand%20of%20Darkness%22", act: async (page) => {
    await page.getByRole("link", { name: "The Left Hand of Darkness" }).click();
    await page.getByRole("button", { name: "cover.png", exact: true }).click();
    await page.getByRole("link", { name: "200 px wide" }).waitFor();
  } },
  { name: "a question with a name", place: "t/city-library/c/books/schema", act: async (page) => {
    await click("Delete books")(page);
    await page.getByLabel("Type books to confirm").waitFor();
  } },
  { name: "a new field and one that goes", place: "t/city-library/c/books/schema", act: async (page) => {
    await click("Remove price")(page);
    await click("Add a field")(page);
    await page.getByRole("group", { name: "New field" }).getByLabel("Type").selectOption("FILE");
    await page.getByRole("group", { name: "New field" }).getByText("More options").click();
  } },
  { name: "a new key", place: "t/city-library/keys?new=1", act: async (page) => page.getByLabel("Acts as").waitFor() },
  { name: "a new hook", place: "t/city-library/hooks/new", act: async (page) => {
    await page.getByText("More options").click();
    await page.getByLabel("Event").selectOption("beforeRequest");
  } },
  { name: "the answer to a test", place: "t/city-library/hooks", act: async (page) => {
    await page.getByRole("link", { name: "beforeCreate" }).click();
    await click("Send a sample")(page);
    await page.getByText("sha256=").waitFor();
  } },
  { name: "the second factor", place: "account", act: async (page) => {
    await click("Set it up")(page);
    await page.getByLabel("Your password").fill(superadmin.password);
    await click("Go on")(page);
    await page.getByRole("img", { name: "QR code" }).waitFor();
  } },
  { name: "a place that is not there", place: "t/city-library/c/nothing", act: async (page) => page.getByText("There is nothing here").waitFor() },
  { name: "a record that is not there", place: "t/city-library/c/books/r/01900000-0000-7000-8000-000000000000", act: async (page) => page.getByRole("alert").waitFor() },
  { name: "a session that has ended", place: "t/city-library/log", act: async (page) => {
    await page.context().clearCookies();
    await click("Load again")(page);
    await page.getByRole("dialog", { name: "Sign in again" }).waitFor();
  } },
];

describe("admin page: dialogs", function () {
  this.timeout(60_000);
  let admin: AdminBrowser;
  let library: Library;
  before(async () => {
    admin = await openAdminBrowser();
    library = await makeLibrary(admin.service);
  });
  after(async () => {
    await library.close();
    await admin.close();
  });

  for (const [width, colorScheme] of [[1280, "dark"], [380, "light"]] as const) {
    for (const { name, place, act } of scenes) {
      it(`shows ${name}, ${width} pixels wide`, async () => {
        const { page, faults } = await admin.signedIn(`#/${place}`, { viewport: { width, height: 780 }, colorScheme });
        await act(page);
        expect(await accessibilityFaults(page)).to.deep.equal([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).to.be.at.most(width);
        expect(faults).to.deep.equal([]);
        await page.context().close();
      });
    }
  }

  it("opens and closes the menu on a phone", async () => {
    const { page } = await admin.signedIn("#/t/city-library", { viewport: { width: 380, height: 780 } });
    await page.getByRole("button", { name: "Open the menu" }).click();
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("heading", { name: "Settings" }).waitFor();
    await page.getByRole("button", { name: "Open the menu" }).waitFor();
    await page.context().close();
  });
});
