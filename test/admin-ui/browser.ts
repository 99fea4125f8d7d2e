// A real browser on the admin page of a real service. Whatever breaks the page's policy or throws in it fails the test.
import { createRequire } from "node:module";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { launchChromium } from "../support/chromium.js";
import { startService, testPassword, type TestService } from "../support/service.js";

const axePath = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

export interface Visit {
  readonly page: Page;
  /** What the page did that it must not: broken policies, errors, failed assets. */
  readonly faults: string[];
}

export interface AdminBrowser {
  readonly service: TestService;
  readonly browser: Browser;
  /** A page of its own session. */
  visit(options?: BrowserContextOptions): Promise<Visit>;
  /** A page that is signed in and shows the place, such as `#/tenants`. */
  signedIn(place?: string, options?: BrowserContextOptions): Promise<Visit>;
  close(): Promise<void>;
}

export const superadmin = { username: "root", password: testPassword } as const;

export async function openAdminBrowser(options: Parameters<typeof startService>[0] = {}): Promise<AdminBrowser> {
  const service = await startService(options);
  const browser = await launchChromium();

  async function visit(contextOptions: BrowserContextOptions = {}): Promise<Visit> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, locale: "en-GB", timezoneId: "UTC", ...contextOptions });
    context.setDefaultTimeout(30_000);
    const page = await context.newPage();
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
    page.on("console", (message) => {
      if (/Content Security Policy|Trusted|Refused to/.test(message.text())) faults.push(`policy: ${message.text()}`);
    });
    page.on("response", (response) => {
      if (response.url().includes("/admin/assets/") && response.status() >= 400) faults.push(`asset: ${response.status()} ${response.url()}`);
    });
    await page.addInitScript(() => {
      addEventListener("securitypolicyviolation", (event) => console.error(`Content Security Policy: ${event.violatedDirective} ${event.blockedURI}`));
    });
    return { page, faults };
  }

  return {
    service,
    browser,
    visit,
    async signedIn(place = "#/tenants", contextOptions = {}) {
      await service.superadminToken();
      const visited = await visit(contextOptions);
      // The same sign-in as the page's own, so that each test starts at its screen.
      const answer = await visited.page.context().request.post(`${service.url}/api/admin/login`, { data: superadmin, headers: { origin: new URL(service.url).origin } });
      if (!answer.ok()) throw new Error(`sign-in: ${answer.status()} ${await answer.text()}`);
      await visited.page.goto(`${service.url}/admin/${place}`);
      await visited.page.locator("h1").first().waitFor();
      return visited;
    },
    async close() {
      await browser.close();
      await service.close();
    },
  };
}

/** What axe-core finds wrong on the page as it is, one line each. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // The page's policy allows no foreign script; the check runs in a world of its own.
  const source = (await import("node:fs")).readFileSync(axePath, "utf8");
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send("Page.getFrameTree");
  const { executionContextId } = await session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id, worldName: "axe" });
  await session.send("Runtime.evaluate", { expression: source, contextId: executionContextId });
  const { result, exceptionDetails } = await session.send("Runtime.evaluate", {
    expression: `axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }).then((found) => JSON.stringify(found.violations.map((item) => item.id + ": " + item.nodes.map((node) => node.html + " " + (node.any[0] ? node.any[0].message : "")).join(" | "))))`,
    contextId: executionContextId,
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return JSON.parse(result.value as string) as string[];
}
