// The service under test: `mounted` in a host's Express app, such an app `served` by `listen`, or the service on its `own`
// listener, as the standalone server has it.
import express from "express";
import { createRecordsService, listen } from "records-service";
import { secrets } from "../secrets.js";
import { announce } from "./announce.js";

/** A folder, or a `mongodb://` URL. */
const [storage = "", kind = "mounted"] = process.argv.slice(2);
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const service = createRecordsService({ storage, logger: silent, defaultTenant: "bench", ...(storage.startsWith("mongodb") ? { secrets, announceSetup: false } : {}) });
await service.ready();
if (kind === "own") {
  announce((await listen(service, { port: 0 })).server);
} else {
  const app = express();
  app.use(express.json());
  app.use("/backend", service);
  announce(kind === "served" ? (await listen(service, { app, port: 0 })).server : app.listen(0, "127.0.0.1"), { base: "/backend" });
}
