// Records as a person works with them: filter, sort, pages, editing, files, a conflict, deleting.
import { expect } from "chai";
import type { Page } from "playwright-core";
import { demand } from "../support/service.js";
import { openAdminBrowser, type AdminBrowser, type Visit } from "./browser.js";
import { makeLibrary, type Library } from "./library.js";

describe("admin page: records", function () {
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
    visit = await admin.signedIn("#/t/city-library/c/books");
    page = visit.page;
    await page.getByRole("status").filter({ hasText: "record" }).first().waitFor();
  });
  afterEach(async () => {
    expect(visit.faults).to.deep.equal([]);
    await page.context().close();
  });

  const field = (label: string) => page.locator("dialog.sheet").getByLabel(label);
  const titles = () => page.locator("tbody th a").allInnerTexts();
  const stored = async (id: string) => (await demand(200, admin.service.request("GET", `/api/collections/books/${id}`, { tenant: "city-library" }))).body;

  it("filters by an expression with completion, and keeps it in the address", async () => {
    const filter = page.getByRole("textbox", { name: "Filter" });
    await filter.pressSequentially("auth");
    await page.getByRole("option", { name: "author" }).waitFor();
    await page.keyboard.press("Enter");
    await filter.pressSequentially(' ~ "le guin"');
    await page.keyboard.press("Enter");
    await page.getByText("2 records match").waitFor();
    expect((await titles()).sort()).to.deep.equal(["The Dispossessed", "The Left Hand of Darkness"]);
    await page.reload();
    await page.getByText("2 records match").waitFor();
    await page.getByRole("button", { name: "Show all" }).click();
    await page.getByText("12 records").waitFor();
  });

  it("tells the count of the records that it shows, even when the count is there before they are", async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => { release = resolve; });
    const counted = page.waitForResponse((response) => response.url().includes("count=true") && response.url().includes("where="));
    await page.route((url) => url.searchParams.has("where") && !url.searchParams.has("count"), async (request) => {
      await released;
      await request.continue();
    });
    await page.getByRole("textbox", { name: "Filter" }).fill('author ~ "le guin"');
    await page.getByRole("button", { name: "Apply" }).click();
    await (await counted).finished();
    await page.getByText("Counting…").waitFor();
    expect(await titles()).to.have.length(12);
    release();
    await page.getByText("2 records match").waitFor();
    expect(await titles()).to.have.length(2);
  });

  it("completes the values of a choice", async () => {
    const filter = page.getByRole("textbox", { name: "Filter" });
    await filter.pressSequentially('state = "l');
    await page.getByRole("option", { name: '"lost"' }).click();
    expect(await filter.inputValue()).to.equal('state = "lost"');
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("1 record match").waitFor();
  });

  it("shows the fault of a filter with its place while one types", async () => {
    await page.getByRole("textbox", { name: "Filter" }).fill("titel = 1");
    await page.getByText("unknown field: the collection has no field titel").waitFor();
    expect(await page.locator(".pointer mark").innerText()).to.equal("t");
  });

  it("sorts by a column in both directions", async () => {
    const first = (title: string) => page.locator("tbody tr").first().getByRole("link", { name: title }).waitFor();
    await page.getByRole("button", { name: "year" }).click();
    await first("Frankenstein");
    expect(await page.getByRole("columnheader", { name: "year" }).getAttribute("aria-sort")).to.equal("ascending");
    await page.getByRole("button", { name: "year" }).click();
    await first("Kindred");
    expect(page.url()).to.contain("sort=year%3Adesc");
  });

  it("changes a record, and sends only what was changed", async () => {
    await page.getByRole("link", { name: "Solaris" }).click();
    await field("price").fill("10.5");
    const sent = page.waitForRequest((request) => request.method() === "PATCH");
    await page.getByRole("button", { name: "Save" }).click();
    expect((await sent).postDataJSON()).to.deep.equal({ price: 10.5 });
    await page.getByText("Saved.").waitFor();
    const id = /\/r\/([^?]+)/.exec(page.url())?.[1] ?? "";
    expect((await stored(id)).price).to.equal(10.5);
  });

  it("tells errors at their fields, its own and the service's", async () => {
    await page.getByRole("link", { name: "Solaris" }).click();
    await field("notes").fill("{ broken");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("This is no JSON").waitFor();
    await field("notes").fill("[1, 2]");
    await field("year").fill("3000");
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator("[aria-invalid=true]").waitFor();
    await page.waitForFunction(() => document.activeElement?.getAttribute("aria-invalid") === "true");
    await field("year").fill("1961");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
  });

  it("says that somebody else has changed the record, and keeps both sides", async () => {
    await page.getByRole("link", { name: "Kindred" }).click();
    await field("price").fill("20");
    const id = /\/r\/([^?]+)/.exec(page.url())?.[1] ?? "";
    const token = await admin.service.superadminToken();
    await demand(200, admin.service.request("PATCH", `/api/collections/books/${id}`, { token, tenant: "city-library", body: { state: "lost" } }));
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Somebody else has changed this record meanwhile: state.").waitFor();
    expect(await field("price").inputValue()).to.equal("20");
    await page.getByRole("button", { name: "Save mine over it" }).click();
    await page.getByText("Saved.").waitFor();
    const now = await stored(id);
    expect([now.price, now.state]).to.deep.equal([20, "lost"]);
  });

  it("asks before unsaved changes are left", async () => {
    await page.getByRole("link", { name: "Solaris" }).click();
    await field("author").fill("Somebody");
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "Leave without saving?" }).waitFor();
    await page.getByRole("button", { name: "Stay here" }).click();
    expect(await field("author").inputValue()).to.equal("Somebody");
    await page.goBack();
    await page.getByRole("heading", { name: "Leave without saving?" }).waitFor();
    await page.getByRole("button", { name: "Leave and drop the changes" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(page.url()).not.to.contain("/r/");
  });

  it("uploads, shows and removes a file", async () => {
    await page.getByRole("link", { name: "Solaris" }).click();
    const gif = Buffer.from("R0lGODlhAQABAIAAAP8AAP///ywAAAAAAQABAAACAkQBADs=", "base64");
    await page.getByLabel("File for cover").setInputFiles({ name: "dot.gif", mimeType: "image/gif", buffer: gif });
    await page.getByText("uploaded when you save").waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    await page.getByRole("button", { name: "dot.gif", exact: true }).click();
    const picture = page.getByRole("img", { name: "dot.gif" });
    await picture.waitFor();
    expect(await picture.evaluate(async (element: HTMLImageElement) => { await element.decode(); return element.naturalWidth; })).to.equal(1);
    await page.getByRole("dialog", { name: "dot.gif" }).getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Remove dot.gif" }).click();
    const saved = page.waitForResponse((response) => response.request().method() === "PATCH");
    await page.getByRole("button", { name: "Save" }).click();
    await saved;
    await page.waitForFunction(() => document.querySelector(".file-row") === null && document.querySelector("[aria-busy=true]") === null);
    const id = /\/r\/([^?]+)/.exec(page.url())?.[1] ?? "";
    expect((await stored(id)).cover).to.equal(null);
  });

  it("refuses a file that is too large before it is sent", async () => {
    await page.getByRole("link", { name: "Solaris" }).click();
    await page.getByLabel("File for cover").setInputFiles({ name: "huge.png", mimeType: "image/png", buffer: Buffer.alloc(3 * 1024 * 1024) });
    await page.getByText("huge.png: larger than 2.0 MiB.").waitFor();
  });

  it("deletes what is selected, after asking", async () => {
    for (const title of ["Mrs Dalloway", "Frankenstein"]) await page.getByRole("checkbox", { name: `Select ${title}` }).check();
    await page.getByRole("button", { name: "Delete 2 selected" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete 2 records" }).click();
    await page.getByText("10 records", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Frankenstein" }).waitFor({ state: "detached" });
  });

  it("shows another page of many records and comes back", async () => {
    const token = await admin.service.superadminToken();
    const requests = Array.from({ length: 60 }, (_, index) => ({ method: "POST", collection: "loans", body: { due: new Date(1.7e12 + index * 864e5).toISOString() } }));
    await demand(200, admin.service.request("POST", "/api/batch", { token, tenant: "city-library", body: { requests } }));
    await page.goto(`${admin.service.url}/admin/#/t/city-library/c/loans`);
    await page.getByText("61 records").waitFor();
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("Page 2").waitFor();
    await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 11);
    await page.getByRole("button", { name: "Previous" }).click();
    await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 50);
  });
});
