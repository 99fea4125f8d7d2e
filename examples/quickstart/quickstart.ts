// The main job, end to end, against a running server: a tenant, a collection, 1,589 books out of a CSV file, two
// people with different rights, and searches. Run `npm start` in one terminal and `npm run quickstart` in another.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { parseArgs, promisify } from "node:util";
import { createClient, type Book, type Page, type Wish } from "./client.js";

const { values } = parseArgs({
  options: {
    url: { type: "string", default: "http://127.0.0.1:8080" },
    /** As the server prints it while there is no superadmin; without it the command records-service makes one. */
    "setup-token": { type: "string" },
    /** Of the superadmin, where there is one already. */
    username: { type: "string", default: "root" },
    password: { type: "string" },
  },
});

const { ask, demand } = createClient(values.url);
const say = (text: string) => console.log(text);
const show = (books: readonly Book[]) => books.forEach((book) => say(`     ${book.year}  ${book.price.toFixed(2).padStart(6)}  ${book.title} (${book.author})${book.available ? "" : "  – not available"}`));

await fetch(`${values.url}/health`).catch(() => {
  console.error(`No server answers at ${values.url}. Run \`npm start\` in another terminal first, or name one with --url.`);
  process.exit(1);
});
say(`Against ${values.url}\n`);
const root = await becomeSuperadmin();

say("2. A tenant, with a collection of books: everybody sees what is available, staff sees all.");
const tenant = await makeTenant();
await demand(201, "POST", `/api/meta/tenants/${tenant.id}/collections`, {
  token: root,
  body: {
    name: "books",
    fields: [
      { name: "title", type: "TEXT", required: true, maxLength: 200 },
      { name: "author", type: "TEXT", required: true },
      { name: "language", type: "TEXT", minLength: 2, maxLength: 2 },
      { name: "year", type: "NUMBER", integer: true },
      { name: "pages", type: "NUMBER", integer: true, min: 1 },
      { name: "price", type: "NUMBER", min: 0 },
      { name: "acquired", type: "DATE" },
      { name: "available", type: "BOOLEAN", default: true },
    ],
    indexes: [{ fields: ["language"], unique: false }, { fields: ["year"], unique: false }, { fields: ["price"], unique: false }],
    listRule: 'available || @auth.role = "staff"',
    viewRule: 'available || @auth.role = "staff"',
  },
});
await demand(201, "POST", `/api/meta/tenants/${tenant.id}/collections`, {
  token: root,
  body: {
    name: "wishes",
    fields: [
      { name: "owner", type: "RELATION", collection: "users", required: true, onDelete: "cascade" },
      { name: "book", type: "RELATION", collection: "books", required: true, onDelete: "cascade" },
      { name: "note", type: "TEXT" },
    ],
    listRule: "owner = @auth.id", viewRule: "owner = @auth.id", createRule: "owner = @auth.id", deleteRule: "owner = @auth.id",
  },
});
say(`   The tenant is ${tenant.slug}.\n`);

say("3. The books, out of examples/quickstart/books.csv: first a dry run, then the import.");
const csv = await readFile(new URL("./books.csv", import.meta.url), "utf8");
const importPath = `/api/meta/tenants/${tenant.id}/collections/books/import?format=csv`;
const broken = await demand(200, "POST", `${importPath}&dryRun=true`, { token: root, csv: csv.replace("1961,", "nineteen sixty-one,") });
say(`   A dry run of a file with a slip in it: ${broken["errors"].map((fault: { line: number; field: string; message: string }) => `line ${fault.line}, ${fault.field} ${fault.message}`).join("; ")}.`);
const started = performance.now();
const imported = await demand(200, "POST", importPath, { token: root, csv });
say(`   ${imported["imported"]} of ${imported["rows"]} rows imported in ${((performance.now() - started) / 1000).toFixed(1)} s.\n`);

say("4. Two people sign up; the superadmin makes one of them staff.");
await demand(200, "PATCH", `/api/meta/tenants/${tenant.id}/settings`, { token: root, body: { selfRegistration: true } });
const ann = await signUp("ann");
const ben = await signUp("ben");
await demand(200, "PATCH", `/api/meta/tenants/${tenant.id}/users/${ben.id}`, { token: root, body: { role: "staff" } });
for (const [who, token] of [["A guest", undefined], ["Ann, a customer,", ann.token], ["Ben, staff,", ben.token]] as const) {
  say(`   ${who} sees ${(await list("limit=1&count=true", token)).total} books.`);
}
const [hidden] = (await list(`limit=1&where=${encodeURIComponent("!available")}`, ben.token)).items;
say(`   ${JSON.stringify(hidden!.title)} is not available: Ben gets ${(await ask("GET", `/api/collections/books/${hidden!.id}`, { token: ben.token })).status}, Ann ${(await ask("GET", `/api/collections/books/${hidden!.id}`, { token: ann.token })).status}.\n`);

say("5. Searches, as Ann.");
say("   The oldest in Polish (filter, sort):");
show((await list("filter=language:eq:pl&sort=year:asc&limit=3", ann.token)).items);
say("   With “sea” in the title, under 20 (where):");
show((await list(`where=${encodeURIComponent('title ~ "sea" && price < 20')}&sort=year:asc&limit=4`, ann.token)).items);
say("   With НОЧИ in the title, whatever the case:");
show((await list(`where=${encodeURIComponent('title ~ "НОЧИ"')}`, ann.token)).items);
let pages = 0;
let seen = 0;
for (let cursor: string | null = ""; cursor !== null; pages += 1) {
  const page: Page<Book> = await list(`limit=100&sort=price:asc${cursor === "" ? "" : `&cursor=${cursor}`}`, ann.token);
  seen += page.items.length;
  cursor = page.nextCursor;
}
say(`   All of them by price, page by page with a cursor: ${seen} books on ${pages} pages.\n`);

say("6. Wishes, which nobody but their owner sees.");
const [solaris] = (await list(`where=${encodeURIComponent('title = "Solaris"')}`, ben.token)).items;
await demand(201, "POST", "/api/collections/wishes", { token: ann.token, body: { owner: ann.id, book: solaris!.id, note: "Für den Sommer ☀" } });
const refused = await ask("POST", "/api/collections/wishes", { token: ben.token, body: { owner: ann.id, book: solaris!.id } });
say(`   Ben may not wish in Ann's name: ${refused.status}.`);
const wishes = (await demand(200, "GET", "/api/collections/wishes?expand=book", { token: ann.token })) as unknown as Page<Wish>;
for (const wish of wishes.items) say(`   Ann wishes ${wish.expand?.book?.title ?? "a book that she may not see"}: ${wish.note}`);
say(`   Ben sees ${((await demand(200, "GET", "/api/collections/wishes", { token: ben.token })) as unknown as Page<Wish>).items.length} wishes.\n`);
say(`Look at it all at ${values.url}/admin/`);

async function becomeSuperadmin(): Promise<string> {
  const password = values.password ?? randomBytes(12).toString("base64url");
  const credentials = { username: values.username, password };
  if (values.password === undefined) {
    const token = values["setup-token"] ?? (await newSetupToken());
    await demand(201, "POST", "/api/admin/setup", { body: { token, ...credentials } });
    say(`1. A superadmin, by the setup token: ${credentials.username}, with the password ${password}\n`);
  } else {
    say(`1. The superadmin ${credentials.username} signs in.\n`);
  }
  return (await demand(200, "POST", "/api/admin/token", { body: credentials }))["accessToken"] as string;
}

/** From the command line of a server on this machine, which reads the same environment. */
async function newSetupToken(): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, ["dist/command-line/main.cjs", "setup-token", "--first", "--json"], { cwd: new URL("../..", import.meta.url) });
    return (JSON.parse(stdout) as { token: string }).token;
  } catch (error) {
    const reason = (error as { stderr?: string }).stderr?.trim() ?? "";
    console.error(`No setup token: ${reason}\nGive the one that the server has printed (--setup-token), or the superadmin's own --username and --password.`);
    process.exit(1);
  }
}

async function makeTenant(): Promise<{ id: string; slug: string }> {
  for (let count = 1; ; count += 1) {
    const answer = await ask("POST", "/api/meta/tenants", { token: root, body: { slug: count === 1 ? "bookshop" : `bookshop-${count}`, name: "The book shop" } });
    if (answer.status === 201) return answer.body as unknown as { id: string; slug: string };
    if (answer.status !== 400 || count === 100) throw new Error(`the tenant could not be made: ${answer.status}`);
  }
}

async function signUp(username: string): Promise<{ id: string; token: string }> {
  const password = randomBytes(12).toString("base64url");
  const { id } = await demand(201, "POST", "/api/auth/register", { body: { tenant: tenant.slug, username, password, email: `${username}@example.com` } });
  const pair = await demand(200, "POST", "/api/auth/login", { body: { tenant: tenant.slug, username, password } });
  return { id, token: pair["accessToken"] };
}

async function list(query: string, token: string | undefined): Promise<Page<Book>> {
  return (await demand(200, "GET", `/api/collections/books?${query}`, { token, tenant: tenant.slug })) as unknown as Page<Book>;
}
