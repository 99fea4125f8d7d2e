// The whole backend in an Express app of its own.
import express from "express";
import { createRecordsService } from "records-service";

const records = createRecordsService({ storage: "./data" }); // embedded SQLite and local files
const app = express();
app.use("/backend", records); // the service is an Express router
await records.ready();

const server = app.listen(Number(process.argv[2] ?? 8080), "127.0.0.1", () => {
  const { port } = server.address() as { port: number };
  console.log(`listening on http://127.0.0.1:${port}/backend`);
});
