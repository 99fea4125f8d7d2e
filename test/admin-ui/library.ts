// A tenant with real data for the screens: books with covers, loans, users, a key, a hook that was called, requests.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import sharp from "sharp";
import { closeServer, demand, type TestService, type TestTenant, type TestUser } from "../support/service.js";

export interface Library {
  readonly tenant: TestTenant;
  readonly ada: TestUser;
  readonly hookId: string;
  readonly bookId: string;
  /** Calls that the hook's receiver has got. */
  readonly calls: string[];
  close(): Promise<void>;
}

const books: readonly (readonly [string, string, number, string, number])[] = [
  ["The Left Hand of Darkness", "Ursula K. Le Guin", 1969, "on loan", 11.5],
  ["Solaris", "Stanisław Lem", 1961, "on the shelf", 9.9],
  ["Kindred", "Octavia E. Butler", 1979, "on the shelf", 12],
  ["Die Verwandlung", "Franz Kafka", 1915, "on loan", 4.8],
  ["Cien años de soledad", "Gabriel García Márquez", 1967, "on the shelf", 13.25],
  ["Snow Country", "Yasunari Kawabata", 1948, "on the shelf", 10],
  ["The Master and Margarita", "Михаил Булгаков", 1967, "lost", 8.75],
  ["Frankenstein", "Mary Shelley", 1818, "on loan", 5],
  ["Things Fall Apart", "Chinua Achebe", 1958, "on the shelf", 9],
  ["Invisible Cities", "Italo Calvino", 1972, "on the shelf", 10.4],
  ["Mrs Dalloway", "Virginia Woolf", 1925, "on the shelf", 7.2],
  ["The Dispossessed", "Ursula K. Le Guin", 1974, "on loan", 11],
];

export const bookFields = [
  { name: "title", type: "TEXT", required: true, maxLength: 200 },
  { name: "author", type: "TEXT", maxLength: 200 },
  { name: "year", type: "NUMBER", integer: true, min: 0, max: 2100 },
  { name: "state", type: "SELECT", values: ["on the shelf", "on loan", "lost"] },
  { name: "price", type: "NUMBER", min: 0 },
  { name: "cover", type: "FILE", mimeTypes: ["image/*"], widths: [64, 200] },
  { name: "notes", type: "JSON" },
  { name: "acquired", type: "DATE" },
  { name: "owner", type: "RELATION", collection: "users", onDelete: "setNull" },
];

export async function makeLibrary(service: TestService): Promise<Library> {
  const calls: string[] = [];
  const receiver = createServer((req, res) => {
    req.resume();
    calls.push(String(req.headers["x-service-event"]));
    res.writeHead(200, { "content-type": "application/json" });
    res.end('{"continue":true}');
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const { port } = receiver.address() as AddressInfo;

  const tenant = (await demand(201, service.meta("POST", "/api/meta/tenants", { slug: "city-library", name: "City Library" }))).body as TestTenant;
  const path = `/api/meta/tenants/${tenant.id}`;
  await demand(200, service.meta("PATCH", `${path}/settings`, { webhookAllowlist: [`127.0.0.1:${port}`] }));
  const ada = await service.signUp(tenant, "ada", { email: "ada@example.com" });
  await service.signUp(tenant, "grace", { email: "grace@example.com" });
  await service.createCollection(tenant, {
    name: "books", fields: bookFields, indexes: [{ fields: ["author", "year"], unique: false }],
    listRule: "true", viewRule: "true", createRule: "@auth.id != null", updateRule: "owner = @auth.id && !@changed.owner", deleteRule: null,
  });
  await service.createCollection(tenant, { name: "loans", fields: [{ name: "book", type: "RELATION", collection: "books" }, { name: "due", type: "DATE" }] });
  const hook = (await demand(201, service.meta("POST", `${path}/hooks`, { event: "beforeCreate", collection: "books", url: `http://127.0.0.1:${port}/check` }))).body as { id: string };

  const token = await service.superadminToken();
  let bookId = "";
  for (const [title, author, year, state, price] of books) {
    const record = await demand(201, service.request("POST", "/api/collections/books", {
      token: ada.token, body: { title, author, year, state, price, notes: { shelf: title.slice(0, 1) }, acquired: `${Math.max(year, 1971)}-05-04T09:30:00.000Z`, owner: ada.id },
    }));
    bookId ||= record.body.id as string;
  }
  await demand(200, service.request("PATCH", `/api/collections/books/${bookId}`, { token, tenant: tenant.slug, ...(await multipart("cover", "cover.png", await cover())) }));
  await demand(201, service.request("POST", "/api/collections/loans", { token, tenant: tenant.slug, body: { book: bookId, due: "2026-12-24T12:00:00.000Z" } }));
  const key = await demand(201, service.meta("POST", `${path}/api-keys`, { name: "catalogue import", userId: ada.id, allowedCidrs: ["127.0.0.0/8"], bypassRules: true }));
  await service.request("GET", "/api/collections/books", { token: key.body.key as string });
  for (const status of ["lost", "on loan"]) await service.request("GET", `/api/collections/books?filter=state:eq:${encodeURIComponent(status)}`, { tenant: tenant.slug });
  await service.request("GET", "/api/collections/loans", { tenant: tenant.slug });
  return { tenant, ada, hookId: hook.id, bookId, calls, close: () => closeReceiver(receiver) };
}

async function closeReceiver(receiver: Server): Promise<void> {
  await closeServer(receiver);
}

function cover(): Promise<Buffer> {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="600" height="800"><rect width="600" height="800" fill="#20345c"/><circle cx="300" cy="330" r="170" fill="#e9b44c"/><path d="M0 560L600 420V800H0z" fill="#9b2915"/></svg>';
  return sharp(Buffer.from(svg)).png().toBuffer();
}

/** One file as a multipart body. */
export async function multipart(field: string, name: string, bytes: Buffer): Promise<{ readonly body: Buffer; readonly headers: Record<string, string> }> {
  const form = new FormData();
  form.append(field, new Blob([new Uint8Array(bytes)]), name);
  const encoded = new Response(form);
  return { body: Buffer.from(await encoded.arrayBuffer()), headers: { "content-type": encoded.headers.get("content-type") ?? "" } };
}
