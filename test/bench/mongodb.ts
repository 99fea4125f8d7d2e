// The MongoDB server of the scenarios M1 to M4: the one that is given, or a stand-in started for the run.
import { MongoClient } from "mongodb";
import { buildStandIns, startStandIn, type StandIn } from "../mongodb/stand-ins.js";

export interface MongoServer {
  /** For the report. */
  readonly name: string;
  /** Its path names the service's system database; tenants' databases are called after it. */
  readonly url: string;
  /** The yardstick's database. */
  readonly bareName: string;
  /** It holds everything in the memory of a small process, and has no indexes that lists could use. */
  readonly isStandIn: boolean;
  /** Removes what the run has made there, and ends the stand-in. */
  stop(): Promise<void>;
}

interface Asked {
  /** `--mongodb`, else TEST_MONGODB_URL. */
  readonly url: string | undefined;
  /** `--stand-in`: the kind, "" for the first that can be built here. */
  readonly standIn: string | undefined;
}

/** undefined where no server is asked for. Throws where the stand-in cannot be built here. */
export async function openMongoServer({ url, standIn }: Asked): Promise<MongoServer | undefined> {
  if (standIn !== undefined) return await ofStandIn(standIn);
  if (url === undefined || url === "") return undefined;
  const base = /^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?(\?.*)?$/.exec(url);
  if (base === null) throw new Error("--mongodb or TEST_MONGODB_URL is no mongodb:// URL");
  const name = `bench${process.pid}`;
  const own = `${base[1]}/${name}${base[2] ?? ""}`;
  return { name: "the given server", url: own, bareName: `${name}bare`, isStandIn: false, stop: () => removeDatabases(own, name) };
}

async function ofStandIn(asked: string): Promise<MongoServer> {
  const kinds = buildStandIns();
  const kind: StandIn["kind"] | undefined = asked === "" ? kinds[0] : kinds.find((each) => each === asked);
  if (kind === undefined) throw new Error(`--stand-in: ${asked === "" ? "none" : asked} can be built here; there is ${kinds.join(", ") || "nothing"}`);
  const server = await startStandIn(kind);
  return { name: server.name, url: `${server.url}/bench`, bareName: "benchbare", isStandIn: true, stop: () => server.stop() };
}

async function removeDatabases(url: string, name: string): Promise<void> {
  const client = await MongoClient.connect(url, { serverSelectionTimeoutMS: 3_000 });
  try {
    const { databases } = await client.db("admin").admin().listDatabases({ nameOnly: true });
    for (const each of databases) if (each.name === name || each.name === `${name}bare` || each.name.startsWith(`${name}_`)) await client.db(each.name).dropDatabase();
  } finally {
    await client.close();
  }
}
