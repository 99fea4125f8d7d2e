// What a server cannot do, the proof of it that is tried on the server itself before the tests run, and the tests
// that are left out for it, by title. Where the proof fails nothing is left out.
import { MongoClient, type Collection } from "mongodb";

export interface Lack {
  readonly reason: string;
  /** The titles of the tests that need it. */
  readonly tests: readonly string[];
  /** The part of the suite they are in, where that may be left out as a whole. */
  readonly part?: string;
  /** True where the server in fact cannot do it. `collection` is empty. */
  readonly proof?: (collection: Collection<Numbered>) => Promise<boolean>;
}

interface Numbered {
  _id: number;
  text?: string;
  count?: number;
}

/** Tests that hold on the embedded store only, whatever the server. */
const onEveryServer: readonly Lack[] = [
  {
    reason: "it is about the data folder of the embedded store: with MongoDB there is none, and the secrets must be given",
    part: "http",
    tests: ["otherwise they are made once and kept in the data folder, readable by the owner alone; tokens outlive a restart"],
  },
];

const codeUnits: Lack = {
  reason: "mongo-java-server compares texts by UTF-16 code unit, not by code point",
  tests: ["texts are ordered by code point", "less: beyond the basic plane", "text is compared by code points, whatever its script"],
  async proof(collection) {
    await collection.insertMany([{ _id: 1, text: "\uFFFD" }, { _id: 2, text: "😀" }]);
    const sorted = await collection.find({}).sort({ text: 1 }).toArray();
    return sorted[0]?._id === 2;
  },
};

const losesUpdates: Lack = {
  reason: "FerretDB loses updates of one document that meet, so it stands behind one process only",
  tests: [
    "each gets its turn, every write is there, and the log has them all in one order",
    "of a tenant that one drops while the others write nothing stays",
    "an entry whose process died before its rows were written is finished by another",
    "a stream on one node hears what is written on the other",
    "a stream through the balancer is subscribed on the node that has it",
    "nodes killed in turn under load: no acknowledged write is lost, and no after-hook",
    "two nodes that look at the same time send each mail once, with the token that counts",
    "its mail is sent by a node that lives, and only that one's link works",
    "is one node's at a time; one that dies over it leaves it to another when its lease has ended",
    "an image whose node was killed over it is scaled by a node that lives",
  ],
  async proof(collection) {
    const clients = 32;
    for (let round = 0; round < 10; round += 1) {
      await collection.insertOne({ _id: round, count: 0 });
      await Promise.all(Array.from({ length: clients }, () => collection.updateOne({ _id: round }, { $inc: { count: 1 } })));
      if ((await collection.findOne({ _id: round }))?.count !== clients) return true;
    }
    return false;
  },
};

const scans: Lack = {
  reason: "FerretDB reads the whole table for each query that is not by id, and is too slow for this one",
  part: "http",
  tests: ["a long chain of cascades is removed whole", "a connection that falls silent counts as lost"],
  async proof(collection) {
    await collection.insertOne({ _id: 1, text: "a" });
    await collection.createIndex({ text: 1 });
    const plan = await collection.find({ text: { $eq: "a" } }).explain("queryPlanner");
    return plan["filterPushdown"] === false;
  },
};

const heavy: Lack = {
  reason: "FerretDB takes seconds for documents of megabytes, and its answers pass the store's time limits",
  tests: ["small updates of large rows, all at once, are all written", "a unit that removes more than an entry holds is refused, and nothing of it happens"],
};

const lacks: Readonly<Record<string, readonly Lack[]>> = {
  "mongo-java-server": [...onEveryServer, codeUnits],
  ferretdb: [...onEveryServer, losesUpdates, scans, heavy],
};

/** Lacks of a kind of server that are proven on the one at the URL. */
export async function provenLacks(kind: string, url: string): Promise<readonly Lack[]> {
  const proven: Lack[] = [];
  const client = await MongoClient.connect(url, { serverSelectionTimeoutMS: 10_000, socketTimeoutMS: 30_000 });
  try {
    const database = client.db(`proofs${process.pid}`);
    for (const [index, lack] of (lacks[kind] ?? onEveryServer).entries()) {
      if (lack.proof === undefined || (await lack.proof(database.collection<Numbered>(`proof${index}`)))) proven.push(lack);
    }
    await database.dropDatabase();
  } finally {
    await client.close();
  }
  return proven;
}

/** How the runner hands them to test processes. */
export function skipsEnvironment(proven: readonly Lack[]): Record<string, string> {
  return { TEST_MONGODB_SKIPS: JSON.stringify(Object.fromEntries(proven.flatMap(({ tests, reason }) => tests.map((test) => [test, reason])))) };
}

/** Title to reason, as the runner has set it for this process. */
export function skippedTests(): Readonly<Record<string, string>> {
  return JSON.parse(process.env["TEST_MONGODB_SKIPS"] ?? "{}") as Record<string, string>;
}
