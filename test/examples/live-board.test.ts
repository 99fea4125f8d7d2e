// The live board example, in a real browser: two users, two pages, one of which loses its connection for a while.
import { expect } from "chai";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { createLiveBoard, type LiveBoard } from "../../examples/live-board/live-board.js";
import { launchChromium } from "../support/chromium.js";
import { closeServer } from "../support/service.js";

describe("the live board example", () => {
  let folder: string;
  let board: LiveBoard;
  let server: Server;
  let browser: Browser | undefined;
  let url: string;
  let alice: Page;
  let bob: Page;
  const faults: string[] = [];

  async function openPage(): Promise<Page> {
    const page = await (await browser!.newContext()).newPage();
    page.on("pageerror", (error) => faults.push(error.message));
    await page.goto(url);
    return page;
  }

  async function register(page: Page, name: string): Promise<void> {
    await page.getByLabel("Name").fill(name);
    await page.getByLabel("Password").fill("a password of some length");
    await page.getByRole("button", { name: "Register" }).click();
    await page.getByText(`Signed in as ${name}`).waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
  }

  async function add(page: Page, title: string, isPrivate = false): Promise<void> {
    await page.getByLabel("New card").fill(title);
    await page.getByLabel("private").setChecked(isPrivate);
    await page.getByRole("button", { name: "Add" }).click();
    await card(page, "To do", title).waitFor();
  }

  const card = (page: Page, lane: string, title: string) => page.getByRole("region", { name: lane }).getByRole("listitem").filter({ hasText: title });
  const press = (page: Page, lane: string, title: string, button: string) => card(page, lane, title).getByRole("button", { name: button }).click();

  /** Everything on the board. */
  async function shown(page: Page): Promise<Record<string, string[]>> {
    const lanes: Record<string, string[]> = {};
    for (const lane of ["To do", "Doing", "Done"]) lanes[lane] = (await page.getByRole("region", { name: lane }).locator(".title").allTextContents()).sort();
    return lanes;
  }

  before(async function start() {
    this.timeout(60_000);
    folder = await mkdtemp(join(tmpdir(), "live-board-"));
    board = await createLiveBoard(folder);
    server = createServer(board.app);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await launchChromium();
    alice = await openPage();
    bob = await openPage();
  });
  after(async () => {
    await browser?.close();
    await board.service.close();
    await closeServer(server);
    await rm(folder, { recursive: true, force: true });
  });

  it("two users see each other's changes", async () => {
    await register(alice, "alice");
    await register(bob, "bob");
    await add(alice, "Paint the fence");
    await card(bob, "To do", "Paint the fence").waitFor();
    await press(bob, "To do", "Paint the fence", "On");
    await card(alice, "Doing", "Paint the fence").waitFor();
    await add(bob, "Buy paint");
    await press(alice, "To do", "Buy paint", "Remove");
    await card(bob, "To do", "Buy paint").waitFor({ state: "detached" });
  });

  it("nobody sees another's private cards", async () => {
    await add(alice, "Secret of alice", true);
    await add(alice, "After the secret");
    await card(bob, "To do", "After the secret").waitFor();
    expect(await card(bob, "To do", "Secret of alice").count()).to.equal(0);
  });

  it("a page that loses its connection for a while catches up by itself", async () => {
    const context: BrowserContext = bob.context();
    // Going offline lets open connections live: they are cut as a network would.
    await context.setOffline(true);
    server.closeAllConnections();
    await bob.getByText("Connection lost").waitFor();
    await press(alice, "Doing", "Paint the fence", "On");
    await press(alice, "To do", "After the secret", "Remove");
    await add(alice, "Clean the brushes");
    await alice.getByText("Live", { exact: true }).waitFor();
    expect(await card(bob, "Doing", "Paint the fence").count()).to.equal(1);
    await context.setOffline(false);
    await bob.getByText("Live", { exact: true }).waitFor();
    await card(bob, "Done", "Paint the fence").waitFor();
    await card(bob, "To do", "After the secret").waitFor({ state: "detached" });
    await card(bob, "To do", "Clean the brushes").waitFor();
    expect(await shown(bob)).to.deep.equal({ "To do": ["Clean the brushes"], Doing: [], Done: ["Paint the fence"] });
  });

  it("a reload keeps the session, and sign-out ends it", async () => {
    const before = await shown(alice);
    await alice.reload();
    await alice.getByText("Signed in as alice").waitFor();
    await card(alice, "To do", "Secret of alice").waitFor();
    expect(await shown(alice)).to.deep.equal(before);
    await alice.getByRole("button", { name: "Sign out" }).click();
    await alice.getByRole("button", { name: "Sign in" }).waitFor();
    expect(await alice.locator("li").count()).to.equal(0);
  });

  it("the pages had no fault", () => {
    expect(faults).to.deep.equal([]);
  });
});
