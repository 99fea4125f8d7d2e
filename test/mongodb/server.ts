// The server of these tests: its address, and the removal of what a test has made there.
import { MongoClient } from "mongodb";
import { databaseOf, withDatabase } from "../support/mongo-url.js";
import { skippedTests } from "./lacks.js";

export interface MongoServer {
  withDatabase(name: string): string;
}

/**
 * The server that TEST_MONGODB_URL names; undefined where none is given. Databases are called after the one in its path,
 * so that two runs on one server do not meet.
 */
export function mongoUrl(): MongoServer | undefined {
  const url = process.env["TEST_MONGODB_URL"];
  if (url === undefined || url === "") return undefined;
  return { withDatabase: (name) => withDatabase(url, `${databaseOf(url)}${name}`) };
}

/** Removes the system database that the URL names, and those of its tenants. */
export async function removeDatabases(url: string): Promise<void> {
  const own = databaseOf(url);
  await drop(url, (name) => name === own || name.startsWith(`${own}_`));
}

/** Removes every database whose name begins with that of the URL. */
export async function removeDatabasesBelow(url: string): Promise<void> {
  const own = databaseOf(url);
  await drop(url, (name) => own !== "" && name.startsWith(own));
}

/** The collections that hold something, as `database.collection`, of every database whose name begins with that of the URL. */
export async function filledBelow(url: string): Promise<string[]> {
  const client = await MongoClient.connect(url, { serverSelectionTimeoutMS: 3_000, socketTimeoutMS: 30_000 });
  const filled: string[] = [];
  try {
    const { databases } = await client.db("admin").admin().listDatabases({ nameOnly: true });
    for (const { name } of databases.filter((each) => each.name.startsWith(databaseOf(url)))) {
      for (const each of await client.db(name).listCollections({}, { nameOnly: true }).toArray()) {
        if ((await client.db(name).collection(each.name).findOne()) !== null) filled.push(`${name}.${each.name}`);
      }
    }
    return filled;
  } finally {
    await client.close();
  }
}

async function drop(url: string, wanted: (name: string) => boolean): Promise<void> {
  // FerretDB takes seconds for each, and its folder goes as a whole.
  if (process.env["TEST_MONGODB_KIND"] === "ferretdb") return;
  const client = await MongoClient.connect(url, { serverSelectionTimeoutMS: 3_000, socketTimeoutMS: 30_000 });
  try {
    const { databases } = await client.db("admin").admin().listDatabases({ nameOnly: true });
    for (const each of databases) if (wanted(each.name)) await client.db(each.name).dropDatabase();
  } finally {
    await client.close();
  }
}

/** For `storageSuite`: the cases that the server cannot pass, with the reason. */
export const skippedOn = skippedTests;
