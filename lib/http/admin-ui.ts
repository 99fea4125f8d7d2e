// The admin page: its index under a strict policy, its hashed assets from memory, the redirects that lead to it.
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { NotFound } from "../core/errors.js";
import type { Exchange, Handler } from "./exchange.js";

export interface AdminUiDeps {
  /** The folder of the built page. @default `dist/admin-ui` of this package */
  readonly folder?: string | undefined;
}

/** Nothing but the page's own files, no inline script or style, no string that becomes markup. */
export const adminPolicy = [
  "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' blob: data:", "font-src 'self'", "media-src 'self' blob:", "connect-src 'self'",
  "form-action 'none'", "base-uri 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
].join("; ");

const pageHeaders = {
  "Content-Security-Policy": adminPolicy,
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  // The page's own requests keep their Origin, which the session cookie asks for.
  "Referrer-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
} as const;

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
};

interface Asset {
  readonly type: string;
  /** By content coding; `identity` is always there. */
  readonly bodies: ReadonlyMap<string, Buffer>;
}

interface Page {
  readonly index: Buffer;
  readonly assets: ReadonlyMap<string, Asset>;
}

/** The handler of `/admin`, `/admin/`, `/admin/…` and `/authenticate`. */
export function createAdminUi({ folder = builtFolder() }: AdminUiDeps = {}): Handler {
  let page: Promise<Page | null> | undefined;
  const load = async () => {
    page ??= readPage(folder);
    const found = await page;
    // A build may come while the service runs from its sources.
    if (found === null) page = undefined;
    return found;
  };

  return async (exchange) => {
    const path = pathOf(exchange);
    // Relative, so that it holds below every mount path; what follows # never reaches a server.
    if (path === "/authenticate") return redirect("admin/#/sign-in");
    if (path === "/admin") return redirect("admin/");
    const built = await load();
    if (built === null) {
      send(exchange, 503, { ...pageHeaders, "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store" }, notBuilt);
      return undefined;
    }
    const rest = path.slice("/admin/".length);
    if (rest === "" || rest === "index.html") {
      send(exchange, 200, { ...pageHeaders, "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store" }, built.index);
      return undefined;
    }
    const asset = rest.startsWith("assets/") ? built.assets.get(rest.slice("assets/".length)) : undefined;
    if (asset === undefined) throw new NotFound();
    const coding = choose(exchange.req.headers["accept-encoding"], asset);
    send(exchange, 200, {
      ...pageHeaders,
      "Content-Type": asset.type,
      "Cache-Control": "public, max-age=31536000, immutable",
      Vary: "Accept-Encoding",
      ...(coding === "identity" ? {} : { "Content-Encoding": coding }),
    }, asset.bodies.get(coding)!);
    return undefined;
  };
}

/** `dist/admin-ui`, seen from the package's modules in `dist` and from the sources. */
function builtFolder(): string {
  const here = new URL(".", import.meta.url);
  return fileURLToPath(here.pathname.endsWith("/lib/http/") ? new URL("../../dist/admin-ui/", here) : new URL("./admin-ui/", here));
}

function pathOf({ req }: Exchange): string {
  return (req.url ?? "/").split("?", 1)[0]!;
}

function redirect(location: string) {
  return { status: 302, headers: { Location: location, "Cache-Control": "no-store" } } as const;
}

async function readPage(folder: string): Promise<Page | null> {
  const assetFolder = join(folder, "assets");
  try {
    const [index, names] = await Promise.all([readFile(join(folder, "index.html")), readdir(assetFolder)]);
    const assets = new Map<string, Asset>();
    for (const name of names) {
      const type = types[extname(name)];
      if (type === undefined) continue;
      const bodies = new Map([["identity", await readFile(join(assetFolder, name))]]);
      if (names.includes(`${name}.br`)) bodies.set("br", await readFile(join(assetFolder, `${name}.br`)));
      if (names.includes(`${name}.gz`)) bodies.set("gzip", await readFile(join(assetFolder, `${name}.gz`)));
      assets.set(name, { type, bodies });
    }
    return { index, assets };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** The best coding that both sides have. */
function choose(header: string | string[] | undefined, asset: Asset): string {
  const accepted = new Set(String(header ?? "").toLowerCase().split(",").map((part) => part.trim()).filter((part) => !/;\s*q=0(?:\.0*)?$/.test(part)).map((part) => part.split(";", 1)[0]!));
  return ["br", "gzip"].find((coding) => accepted.has(coding) && asset.bodies.has(coding)) ?? "identity";
}

function send({ req, res, facts }: Exchange, status: number, headers: Record<string, string>, body: Buffer): void {
  res.writeHead(status, { "X-Request-Id": facts.requestId, ...headers, "Content-Length": String(body.length) });
  res.end(req.method === "HEAD" ? undefined : body);
}

const notBuilt = Buffer.from(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Admin page not built</title>
<h1>The admin page is not built</h1>
<p>The service runs, but the files of its admin page are missing. Build them with <code>npm run build</code> and load this page again.</p></html>`);
