// The data of the bench: 100,000 records of about 279 bytes, a hundred owners with a thousand each, in the service's
// store and in a plain table for the yardsticks.
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import Database from "better-sqlite3";
import { createRecordsService } from "records-service";

export interface Seeded {
  /** Of the yardsticks. */
  readonly file: string;
  /** Of the service. */
  readonly folder: string;
  readonly owner: string;
  readonly password: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly key: string;
  readonly ids: readonly string[];
  readonly tenantId: string;
  /** A record with a file of 1 MiB in its field `file`, in the collection `files`. */
  readonly fileRecord: string;
  /** The same bytes as a file on disk. */
  readonly download: string;
}

export const password = "a long enough password";

export async function seed(folder: string, records: number): Promise<Seeded> {
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const service = createRecordsService({ storage: join(folder, "service"), logger: silent, accessTokenTtl: 86_400 });
  await service.ready();
  const { id: tenantId } = await service.tenants.create({ slug: "bench" });
  const tenant = service.tenant("bench");
  const user = await tenant.users.create({ username: "owner", password });
  await tenant.collections.create({
    name: "items",
    fields: [{ name: "owner", type: "TEXT" }, { name: "n", type: "NUMBER" }, { name: "title", type: "TEXT" }, { name: "text", type: "TEXT" }],
    indexes: [{ fields: ["owner", "n"], unique: false }],
    listRule: "owner = @auth.id", viewRule: "owner = @auth.id", createRule: "owner = @auth.id", updateRule: "owner = @auth.id", deleteRule: "owner = @auth.id",
  });
  const file = join(folder, "plain.sqlite");
  const db = new Database(file);
  db.pragma("journal_mode = WAL");
  db.exec("CREATE TABLE items (id TEXT PRIMARY KEY NOT NULL, doc TEXT NOT NULL); CREATE INDEX items_owner_n ON items (json_extract(doc,'$.owner'), json_extract(doc,'$.n'), id)");
  const insert = db.prepare("INSERT INTO items (id, doc) VALUES (?, ?)");
  const data = tenant.as("system");
  const ids: string[] = [];
  const others = Array.from({ length: Math.max(1, records / 1000 - 1) }, () => crypto.randomUUID());
  for (let at = 0; at < records; at += 100) {
    const requests = Array.from({ length: 100 }, (_, offset) => {
      const n = at + offset;
      const owner = n % 100 === 0 ? user.id : others[n % others.length]!;
      return { method: "POST" as const, collection: "items", body: { owner, n, title: `Record number ${n}`, text: "a text of some length that stands for what people write ".repeat(2).slice(0, 90) } };
    });
    const results = await data.batch(requests);
    db.transaction(() => {
      for (const { body } of results) {
        const record = body as { id: string; owner: string };
        insert.run(record.id, JSON.stringify(record));
        if (record.owner === user.id) ids.push(record.id);
      }
    })();
  }
  db.close();
  const { key } = await tenant.apiKeys.create({ name: "bench", userId: user.id });
  const pair = await tenant.auth.login({ username: "owner", password });
  await tenant.collections.create({
    name: "files", fields: [{ name: "file", type: "FILE", maxSize: 4_000_000, widths: [320, 640, 1280] }], viewRule: "@auth.id != null", createRule: "@auth.id != null",
  });
  const bytes = randomBytes(1024 * 1024);
  const download = join(folder, "download.bin");
  writeFileSync(download, bytes);
  const { id: fileRecord } = await data.collection("files").create({});
  await data.files.upload("files", fileRecord, "file", { name: "data.bin", stream: Readable.from([bytes]) });
  await service.close();
  return { file, folder: join(folder, "service"), owner: user.id, password, accessToken: pair.accessToken, refreshToken: pair.refreshToken, key, ids, tenantId, fileRecord, download };
}
