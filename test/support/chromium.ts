// The browser of the tests: a real Chromium. Its shell without windows starts in half the time and takes half the CPU.
import { existsSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";

const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
/** As Debian's packages `chromium-headless-shell` and `chromium` install them. */
const places = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

/** Launches it. The environment variable CHROMIUM names another one. */
export function launchChromium(): Promise<Browser> {
  const executablePath = process.env["CHROMIUM"] ?? places.find((place) => existsSync(place));
  if (executablePath === undefined) throw new Error(`No browser: install one of ${places.join(" and ")}, or name one in CHROMIUM.`);
  return chromium.launch({ executablePath, args: flags });
}
