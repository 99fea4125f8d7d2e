// Providers of one's own in place of the built-in ones. test/examples runs the exported conformance suite on the hasher.
import { createRecordsService, listen } from "records-service";
import { createFolderMailer } from "./folder-mailer.js";
import { scryptHasher } from "./scrypt-hasher.js";

const records = createRecordsService({
  storage: "./data",
  hasher: scryptHasher,
  mailer: createFolderMailer("./mails"),
});

const { url } = await listen(records, { port: Number(process.argv[2] ?? 8080) });
console.log(`listening on ${url}`);
