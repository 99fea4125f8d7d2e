// Every relative link leads to a file that is there, and every anchor to a heading.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { allPages, anchors, links, readPage, root, type Page } from "./pages.js";

function broken(page: Page): string[] {
  return links(page).filter((link) => !/^[a-z]+:/i.test(link)).filter((link) => {
    const [path = "", anchor] = link.split("#", 2) as [string, string | undefined];
    const url = path === "" ? page.url : new URL(path, page.url);
    if (!existsSync(fileURLToPath(url))) return true;
    if (anchor === undefined || !url.pathname.endsWith(".md")) return false;
    return !anchors(path === "" ? page : readPage(url.href.slice(root.href.length))).has(anchor);
  });
}

describe("docs: links", () => {
  for (const page of allPages()) {
    it(`${page.path} has no broken link`, () => {
      expect(broken(page)).to.deep.equal([]);
    });
  }

  it("every page of docs/ can be reached from its index", () => {
    const index = new Set(links(readPage("docs/README.md")));
    const pages = allPages().map(({ path }) => path).filter((path) => /^docs\/[^/]+\.md$/.test(path) && path !== "docs/README.md");
    expect(pages.filter((path) => !index.has(path.slice("docs/".length)))).to.deep.equal([]);
  });

  it("tells a broken link and a broken anchor", () => {
    const page = readPage("docs/options.md");
    expect(broken({ ...page, text: "# A\n[a](#a) [b](#b) [c](nowhere.md) [d](options.md#nowhere) [e](options.md)" })).to.deep.equal(["#b", "nowhere.md", "options.md#nowhere"]);
  });
});
