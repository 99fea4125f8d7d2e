// The gallery example, in a real browser: register, upload, and see the variant that fits.
import { expect } from "chai";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { createGallery, type Gallery } from "../../examples/gallery/gallery.js";
import { makePhotographs, type Photograph } from "../../examples/gallery/photographs.js";
import { launchChromium } from "../support/chromium.js";
import { closeServer } from "../support/service.js";

describe("the gallery example", () => {
  let folder: string;
  let gallery: Gallery;
  let server: Server;
  let browser: Browser;
  let page: Page;
  let url: string;
  let photographs: Photograph[];
  const faults: string[] = [];

  before(async function start() {
    this.timeout(60_000);
    folder = await mkdtemp(join(tmpdir(), "gallery-"));
    gallery = await createGallery(folder);
    server = createServer(gallery.app);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    photographs = await makePhotographs();
    browser = await launchChromium();
    page = await (await browser.newContext({ viewport: { width: 1200, height: 900 }, deviceScaleFactor: 2 })).newPage();
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (message) => { if (message.type() === "error") faults.push(message.text()); });
  });
  after(async () => {
    await browser.close();
    await gallery.service.close();
    await closeServer(server);
    await rm(folder, { recursive: true, force: true });
  });

  /** What the browser shows for a photograph, once it is loaded. */
  async function shown(title: string): Promise<{ source: string; width: number; height: number }> {
    const image = page.getByRole("img", { name: title, exact: true });
    await image.scrollIntoViewIfNeeded();
    return image.evaluate(async (element) => {
      const picture = element as HTMLImageElement;
      await picture.decode();
      return { source: picture.currentSrc, width: picture.naturalWidth, height: picture.naturalHeight };
    });
  }

  it("registers and signs in", async () => {
    await page.goto(url);
    await page.getByLabel("Name").fill("ansel");
    await page.getByLabel("Password").fill("moonrise over the river");
    await page.getByRole("button", { name: "Register" }).click();
    await page.getByText("Signed in as ansel").waitFor();
  });

  it("uploads photographs, and refuses what is none", async () => {
    for (const { name, bytes } of photographs) {
      await page.getByLabel("Title").fill(name);
      await page.getByLabel("Photograph", { exact: true }).setInputFiles({ name, mimeType: "image/jpeg", buffer: bytes });
      await page.getByRole("button", { name: "Add" }).click();
      await page.getByRole("img", { name, exact: true }).waitFor();
    }
    await page.getByLabel("Title").fill("a page");
    await page.getByLabel("Photograph", { exact: true }).setInputFiles({ name: "page.png", mimeType: "image/png", buffer: Buffer.from("<html>") });
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByText("image must be of type image/jpeg or image/png or image/gif").waitFor();
    expect(await page.getByRole("img").count()).to.equal(photographs.length);
    // A refused request is told in the console as well.
    expect(faults.splice(0).filter((fault) => !fault.includes("400"))).to.deep.equal([]);
  });

  it("shows each in the variant that fits, upright, and small ones as they are", async () => {
    const data = gallery.service.tenant("gallery").as("system");
    for (const record of (await data.collection("photos").list()).items) {
      const { width } = record["image"] as { width: number };
      for (const wanted of [160, 480, 1200].filter((one) => one < width)) {
        const deliveredWidth = async () => {
          const { stream, headers } = await data.files.read("photos", record.id, "image", { width: wanted });
          stream.destroy();
          return headers["X-Image-Width"];
        };
        while ((await deliveredWidth()) !== String(wanted)) await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
    // In a page of its own, so that nothing comes from before the variants were made.
    await page.context().clearCookies();
    page = await (await browser.newContext({ viewport: { width: 1200, height: 900 }, deviceScaleFactor: 2 })).newPage();
    await page.goto(url);
    await page.getByLabel("Name").fill("ansel");
    await page.getByLabel("Password").fill("moonrise over the river");
    await page.getByRole("button", { name: "Sign in" }).click();
    for (const { name, width, height } of photographs) {
      const seen = await shown(name);
      expect(seen.height > seen.width, name).to.equal(height > width);
      const used = Number(/width=(\d+)/.exec(seen.source)?.[1]);
      expect(used, name).to.equal(480);
      const { status, label } = await page.evaluate(async (source) => {
        const response = await fetch(source);
        return { status: response.status, label: response.headers.get("x-image-width") };
      }, seen.source);
      expect([status, label], name).to.deep.equal([200, width > 480 ? "480" : "original"]);
    }
    expect(faults).to.deep.equal([]);
  });

  it("removes a photograph, and its bytes", async () => {
    const source = (await shown("stamp.jpg")).source;
    await page.getByRole("button", { name: "Remove stamp.jpg" }).click();
    await page.getByRole("img", { name: "stamp.jpg" }).waitFor({ state: "detached" });
    expect(await page.evaluate(async (address) => (await fetch(address, { cache: "no-store" })).status, source)).to.equal(404);
  });
});
