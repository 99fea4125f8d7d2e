// The server of these tests: its address, what it lacks, and the removal of what a test has made there.
import { MongoClient } from "mongodb";

/** The server that TEST_MONGODB_URL names; undefined where none is given. */
export function mongoUrl(): { withDatabase(name: string): string } | undefined {
  const url = process.env["TEST_MONGODB_URL"];
  if (url === undefined || url === "") return undefined;
  return { withDatabase: (name) => url.replace(/^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?/, `$1/${name}`) };
}

/** Removes the system database that the URL names, and those of its tenants. */
export async function removeDatabases(url: string): Promise<void> {
  // FerretDB takes seconds for each, and its folder goes as a whole.
  if (process.env["TEST_MONGODB_KIND"] === "ferretdb") return;
  const name = /^mongodb[^/]*:\/\/[^/]+\/([^?]*)/.exec(url)![1]!;
  const client = await MongoClient.connect(url, { serverSelectionTimeoutMS: 3_000 });
  try {
    const { databases } = await client.db("admin").admin().listDatabases({ nameOnly: true });
    for (const each of databases) if (each.name === name || each.name.startsWith(`${name}_`)) await client.db(each.name).dropDatabase();
  } finally {
    await client.close();
  }
}

/** What the server (TEST_MONGODB_KIND) cannot do: a case's name, and why it is left out. */
const lacking: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "mongo-java-server": {
    "texts are ordered by code point": "mongo-java-server compares texts by UTF-16 unit",
    "less: beyond the basic plane": "mongo-java-server compares texts by UTF-16 unit",
  },
  ferretdb: { "a transform may swap names, and reach many rows": "FerretDB does not finish a hundred updates in one command within a socket's fifteen seconds" },
};

export function skippedOn(): Readonly<Record<string, string>> {
  return lacking[process.env["TEST_MONGODB_KIND"] ?? ""] ?? {};
}
