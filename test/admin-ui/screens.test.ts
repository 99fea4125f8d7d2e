// Each screen with real data: no broken policy, no error, nothing for axe-core to find, no sideways scrolling on a phone.
// With SCREENSHOTS set, the pictures of the docs are taken too.
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import sharp from "sharp";
import { accessibilityFaults, openAdminBrowser, type AdminBrowser, type Visit } from "./browser.js";
import { makeLibrary, type Library } from "./library.js";

const images = fileURLToPath(new URL("../../docs/images/", import.meta.url));

interface Screen {
  readonly name: string;
  readonly place: (library: Library) => string;
  /** Text that is there once the screen is ready. */
  readonly ready: string | RegExp;
}

const screens: readonly Screen[] = [
  { name: "tenants", place: () => "#/tenants", ready: "City Library" },
  { name: "figures", place: () => "#/figures", ready: "Hashing slots in use" },
  { name: "account", place: () => "#/account", ready: "Second factor" },
  { name: "collections", place: () => "#/t/city-library", ready: "Open to" },
  { name: "records", place: () => "#/t/city-library/c/books?sort=year:desc", ready: "12 records" },
  { name: "record", place: ({ bookId }) => `#/t/city-library/c/books/r/${bookId}`, ready: "cover.png" },
  { name: "schema", place: () => "#/t/city-library/c/books/schema", ready: "Unique together" },
  { name: "rules", place: () => "#/t/city-library/c/books/rules", ready: "How a rule is written" },
  { name: "api", place: () => "#/t/city-library/c/books/api", ready: "Sign in" },
  { name: "live", place: () => "#/t/city-library/c/books/live", ready: "Waiting for a change" },
  { name: "transfer", place: () => "#/t/city-library/c/books/transfer", ready: "Export" },
  { name: "users", place: () => "#/t/city-library/c/users", ready: "2 accounts" },
  { name: "user", place: ({ ada }) => `#/t/city-library/c/users/r/${ada.id}`, ready: "An inactive user" },
  { name: "keys", place: () => "#/t/city-library/keys", ready: "catalogue import" },
  { name: "hooks", place: () => "#/t/city-library/hooks", ready: "beforeCreate" },
  { name: "hook", place: ({ hookId }) => `#/t/city-library/hooks/${hookId}`, ready: "Send a sample" },
  { name: "hook-log", place: () => "#/t/city-library/hooks/log", ready: "allowed" },
  { name: "hook-pending", place: () => "#/t/city-library/hooks/pending", ready: "Nothing here" },
  { name: "request-log", place: () => "#/t/city-library/log?status=200", ready: "no rules" },
  { name: "backup", place: () => "#/t/city-library/backup", ready: "Restore a backup" },
  { name: "settings", place: () => "#/t/city-library/settings", ready: "Webhook allowlist" },
];

/** The docs show each screen once, and the records in the dark and on a phone. */
const pictured: ReadonlySet<string> = new Set([...screens.map((screen) => screen.name), "records-dark", "records-phone"]);

async function keep({ page }: Visit, name: string): Promise<void> {
  if (!pictured.has(name)) return;
  await mkdir(images, { recursive: true });
  await sharp(await page.screenshot()).png({ palette: true, colours: 128, effort: 10 }).toFile(`${images}${name}.png`);
}

describe("admin page: every screen with real data", function () {
  this.timeout(120_000);
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

  const show = async ({ page }: Visit, screen: Screen) => {
    await page.goto(`${admin.service.url}/admin/${screen.place(library)}`);
    await page.getByText(screen.ready).first().waitFor();
    await page.waitForFunction(() => document.querySelector(".loading, [aria-busy=true]") === null);
  };

  for (const [theme, width] of [["light", 1280], ["dark", 1280], ["light", 380]] as const) {
    describe(`${theme}, ${width} pixels wide`, () => {
      let visit: Visit;
      before(async () => {
        visit = await admin.signedIn("#/tenants", { colorScheme: theme, viewport: { width, height: width < 500 ? 780 : 860 } });
      });
      after(() => visit.page.context().close());
      for (const screen of screens) {
        it(`shows ${screen.name}`, async () => {
          await show(visit, screen);
          expect(await accessibilityFaults(visit.page)).to.deep.equal([]);
          expect(await visit.page.evaluate(() => document.documentElement.scrollWidth)).to.be.at.most(width);
          expect(visit.faults).to.deep.equal([]);
          if (process.env["SCREENSHOTS"] !== undefined) await keep(visit, `${screen.name}${width < 500 ? "-phone" : theme === "dark" ? "-dark" : ""}`);
        });
      }
    });
  }
});
