// A tenant with something of everything, and archives taken apart and put together again.
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import sharp from "sharp";
import yauzl from "yauzl";
import yazl from "yazl";
import type { TestService, TestTenant } from "../support/service.js";

export interface Furnished {
  readonly tenant: TestTenant;
  readonly key: string;
  readonly userId: string;
  readonly hookId: string;
  readonly hookSecret: string;
}

/** Collections with relations, records, files with variants, users, a hook, a key and settings. */
export async function furnish(service: TestService, slug?: string): Promise<Furnished> {
  const tenant = await service.createTenant(slug);
  const handle = service.service.tenant(tenant.slug);
  await handle.collections.update("users", { fields: [...(await handle.collections.get("users")).fields, { name: "nick", type: "TEXT", unique: true }] });
  await handle.collections.create({
    name: "authors", fields: [{ name: "name", type: "TEXT", required: true, unique: true }, { name: "portrait", type: "FILE", widths: [16, 32], maxSize: 1_000_000 }], listRule: "true", viewRule: "true",
  });
  await handle.collections.create({
    name: "books",
    fields: [
      { name: "title", type: "TEXT", required: true },
      { name: "author", type: "RELATION", collection: "authors", required: true, onDelete: "cascade" },
      { name: "price", type: "NUMBER" },
      { name: "meta", type: "JSON" },
      { name: "scans", type: "FILE", multiple: true, maxFiles: 5 },
    ],
    indexes: [{ fields: ["title", "author"], unique: true }],
    listRule: '@auth.role = "reader"', viewRule: "@auth.id != null",
  });
  const user = await service.signUp(tenant, "ann", { email: "ann@example.com", role: "reader", nick: "Änne" });
  await service.signUp(tenant, "ben");
  const system = handle.as("system");
  const author = await system.collection("authors").create({ name: "Stanisław Lem" });
  await system.files.upload("authors", author.id, "portrait", { name: "portrait.png", stream: Readable.from([await picture()]) });
  const book = await system.collection("books").create({ title: "Solaris", author: author.id, price: 9.5, meta: { tags: ["a\u2028b", null] } });
  await system.files.upload("books", book.id, "scans", { name: "eins.txt", stream: Readable.from([Buffer.from("first")]) });
  await system.files.upload("books", book.id, "scans", { name: "zwei.bin", stream: Readable.from([Buffer.from([0, 1, 2, 255])]) });
  for (let index = 0; index < 450; index += 1) await system.collection("books").create({ title: `Book ${index}`, author: author.id, price: index });
  const { key } = await handle.apiKeys.create({ name: "reader", userId: user.id, allowedCidrs: ["127.0.0.0/8"] });
  await handle.settings.update({ selfRegistration: true, tokenIssuers: [user.id], webhookAllowlist: ["127.0.0.1:9"] });
  const hook = await handle.hooks.create({ collection: "books", event: "beforeDelete", url: "http://127.0.0.1:9/hook", headers: { "X-Own": "header-secret" }, failOpen: true });
  return { tenant, key, userId: user.id, hookId: hook.id, hookSecret: hook.secret! };
}

export async function picture(): Promise<Buffer> {
  return await sharp({ create: { width: 64, height: 48, channels: 3, background: "#336699" } }).png().toBuffer();
}

export async function archiveOf(service: TestService, tenant: TestTenant): Promise<Buffer> {
  return await buffer(await service.service.tenant(tenant.slug).backup());
}

/** Every entry's content. */
export async function unpack(archive: Buffer): Promise<Map<string, Buffer>> {
  const zip = await yauzl.fromBufferPromise(archive, { lazyEntries: true });
  const entries = new Map<string, Buffer>();
  for await (const entry of zip.eachEntry()) entries.set(entry.fileName, await buffer(await zip.openReadStreamPromise(entry)));
  return entries;
}

export async function pack(entries: Iterable<readonly [string, Buffer | string]>): Promise<Buffer> {
  const zip = new yazl.ZipFile();
  for (const [path, content] of entries) zip.addBuffer(Buffer.from(content), path);
  zip.end();
  return await buffer(zip.outputStream as Readable);
}
