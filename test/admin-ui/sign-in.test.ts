// Signing in, with the second factor, and a session that ends in the middle of work.
import { expect } from "chai";
import { URI, type TOTP } from "otpauth";
import { openAdminBrowser, superadmin, type AdminBrowser } from "./browser.js";
import { makeLibrary, type Library } from "./library.js";

describe("admin page: sign-in", function () {
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

  it("says that the credentials are wrong, then takes the right ones and goes on to the deep link", async () => {
    const { page, faults } = await admin.visit();
    await page.goto(`${admin.service.url}/admin/#/t/city-library/c/books`);
    await page.getByLabel("User name").fill(superadmin.username);
    await page.getByLabel("Password").fill("not the password at all");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("The user name or the password is wrong.").waitFor();
    await page.getByLabel("Password").fill(superadmin.password);
    await page.keyboard.press("Enter");
    await page.getByText("12 records").waitFor();
    expect(faults).to.deep.equal([]);
    await page.context().close();
  });

  it("sets up the second factor with a code drawn on the page, asks for it, and takes a recovery code", async () => {
    const { page, faults } = await admin.signedIn("#/account");
    await page.getByRole("button", { name: "Set it up" }).click();
    await page.getByLabel("Your password").fill("wrong password, surely");
    await page.getByRole("button", { name: "Go on" }).click();
    await page.getByRole("dialog").locator(".error, [role=alert]").first().waitFor();
    await page.getByLabel("Your password").fill(superadmin.password);
    await page.getByRole("button", { name: "Go on" }).click();
    await page.getByRole("img", { name: "QR code" }).waitFor();
    const secret = await page.getByRole("textbox", { name: "Key" }).innerText();
    const [recovery = ""] = await page.locator(".codes li").allInnerTexts();
    const totp = URI.parse(`otpauth://totp/x?secret=${secret}`) as TOTP;
    const code = () => totp.generate({ timestamp: admin.service.clock.now() });
    await page.getByLabel("A code of the app").fill(code());
    await page.getByRole("button", { name: "Switch it on" }).click();
    await page.getByText("The second factor is on.").waitFor();

    await page.getByRole("button", { name: "Sign out" }).click();
    const signIn = async (text: string) => {
      await page.getByLabel("User name").fill(superadmin.username);
      await page.getByLabel("Password").fill(superadmin.password);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByLabel("Code of the second factor").fill(text);
      await page.getByRole("button", { name: "Sign in" }).click();
    };
    admin.service.clock.advance(60_000);
    await signIn(code());
    await page.getByRole("heading", { name: "Tenants" }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await signIn(recovery);
    await page.getByRole("heading", { name: "Tenants" }).waitFor();

    await page.getByRole("link", { name: superadmin.username }).click();
    await page.getByRole("button", { name: "Switch it off" }).click();
    await page.getByLabel("Your password").fill(superadmin.password);
    await page.getByRole("dialog").getByRole("button", { name: "Switch it off" }).click();
    await page.getByText("The second factor is off.").waitFor();
    expect(faults).to.deep.equal([]);
    await page.context().close();
  });

  it("asks for a session that has ended above the form, and loses nothing that was typed", async () => {
    const { page, faults } = await admin.signedIn("#/t/city-library/c/books/r/new");
    await page.locator("dialog.sheet").getByLabel("title").fill("The Word for World Is Forest");
    await page.context().clearCookies();
    await page.getByRole("button", { name: "Add", exact: true }).click();
    const again = page.getByRole("dialog", { name: "Sign in again" });
    await again.getByLabel("User name").fill(superadmin.username);
    await again.getByLabel("Password").fill(superadmin.password);
    await again.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("link", { name: "The Word for World Is Forest" }).waitFor();
    expect(faults).to.deep.equal([]);
    await page.context().close();
  });

  it("never reads as a guest where the session is gone: it asks for it first", async () => {
    const { page } = await admin.signedIn("#/t/city-library/c/books");
    await page.getByText("Mrs Dalloway").waitFor();
    await page.context().clearCookies();
    await page.clock.install();
    await page.clock.fastForward(10_000);
    await page.getByRole("button", { name: "Load again" }).click();
    await page.getByRole("dialog", { name: "Sign in again" }).waitFor();
    await page.getByRole("button", { name: "Leave, and drop what is not saved" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.context().close();
  });

  it("keeps what was typed where the connection is lost, and says so", async () => {
    const { page } = await admin.signedIn("#/t/city-library/c/books/r/new");
    await page.locator("dialog.sheet").getByLabel("title").fill("Rocannon's World");
    await page.context().setOffline(true);
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("The service could not be reached").waitFor();
    expect(await page.locator("dialog.sheet").getByLabel("title").inputValue()).to.equal("Rocannon's World");
    await page.context().setOffline(false);
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("link", { name: "Rocannon's World" }).waitFor();
    await page.context().close();
  });
});
