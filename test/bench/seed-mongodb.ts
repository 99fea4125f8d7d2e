// The data of M1 to M4: the same records in the service's store and, as plain documents with the same index, in a
// collection of the yardstick's. Several users with a token each, since one caller's row would be read for all.
import { MongoClient } from "mongodb";
import { createRecordsService } from "records-service";
import type { MongoServer } from "./mongodb.js";
import { secrets } from "./secrets.js";

export interface SeededMongo {
  readonly server: MongoServer;
  readonly records: number;
  readonly users: readonly SeededUser[];
}

export interface SeededUser {
  readonly id: string;
  readonly accessToken: string;
  /** Ids of records that are the user's. */
  readonly ids: readonly string[];
}

interface Item {
  readonly id: string;
  readonly owner: string;
}

const callers = 10;
const password = "a long enough password";
const text = "a text of some length that stands for what people write ".repeat(2).slice(0, 90);

/** Seeds so many records, of which the users own half together. */
export async function seedMongo(server: MongoServer, records: number): Promise<SeededMongo> {
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const service = createRecordsService({ storage: server.url, secrets, logger: silent, announceSetup: false, accessTokenTtl: 86_400 });
  const client = await MongoClient.connect(server.url, { writeConcern: { w: "majority", journal: true } });
  try {
    await service.ready();
    await service.tenants.create({ slug: "bench" });
    const tenant = service.tenant("bench");
    await tenant.collections.create({
      name: "items",
      fields: [{ name: "owner", type: "TEXT" }, { name: "n", type: "NUMBER" }, { name: "title", type: "TEXT" }, { name: "text", type: "TEXT" }],
      indexes: [{ fields: ["owner", "n"], unique: false }],
      listRule: "owner = @auth.id", viewRule: "owner = @auth.id", createRule: "owner = @auth.id",
    });
    await tenant.collections.create({ name: "shared", fields: [{ name: "title", type: "TEXT" }], viewRule: "@auth.id != null", createRule: "@auth.id != null" });
    const users: (SeededUser & { readonly ids: string[] })[] = [];
    for (let at = 0; at < callers; at += 1) {
      const username = `user${at}`;
      const { id } = await tenant.users.create({ username, password });
      const { accessToken } = await tenant.auth.login({ username, password });
      users.push({ id, accessToken, ids: [] });
    }
    const others = Array.from({ length: callers * 4 }, () => crypto.randomUUID());
    const bare = client.db(server.bareName).collection<{ _id: string }>("items");
    await bare.createIndex({ owner: 1, n: 1, _id: 1 });
    const data = tenant.as("system");
    for (let at = 0; at < records; at += 100) {
      const results = await data.batch(Array.from({ length: 100 }, (_, offset) => {
        const n = at + offset;
        const owner = n % 2 === 0 ? users[(n / 2) % callers]!.id : others[n % others.length]!;
        return { method: "POST" as const, collection: "items", body: { owner, n, title: `Record number ${n}`, text } };
      }));
      const items = results.map(({ body }) => body as unknown as Item);
      await bare.insertMany(items.map(({ id, ...fields }) => ({ _id: id, ...fields })));
      for (const { id, owner } of items) users.find((user) => user.id === owner)?.ids.push(id);
    }
    return { server, records, users };
  } finally {
    await client.close();
    await service.close();
  }
}
