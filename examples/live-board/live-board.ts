// A live board: cards in three lanes that everybody signed in sees move, private ones only their owner. The host app
// serves the page and the client's modules, and mounts the service beside them.
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import express, { type Express } from "express";
import { createRecordsService, type RecordsService } from "records-service";

export interface LiveBoard {
  readonly app: Express;
  readonly service: RecordsService;
}

/** @param folder where records are kept */
export async function createLiveBoard(folder: string): Promise<LiveBoard> {
  const service = createRecordsService({ storage: folder, adminUi: false });
  await service.ready();
  await prepare(service);

  const app = express();
  app.use("/backend", service);
  app.use((_request, response, next) => {
    response.set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'");
    next();
  });
  // The client is plain modules: a page may load them as they are, or a bundler takes them in.
  app.use("/client", express.static(dirname(createRequire(import.meta.url).resolve("records-service/client"))));
  app.use(express.static(fileURLToPath(new URL("./public/", import.meta.url))));
  return { app, service };
}

/** The tenant with its one collection, on the first start. */
async function prepare(service: RecordsService): Promise<void> {
  if ((await service.tenants.list()).some((tenant) => tenant.slug === "board")) return;
  await service.tenants.create({ slug: "board", name: "Board" });
  const board = service.tenant("board");
  await board.settings.update({ selfRegistration: true });
  const seen = "@auth.id != null && (private = false || owner = @auth.id)";
  await board.collections.create({
    name: "cards",
    fields: [
      { name: "title", type: "TEXT", required: true, maxLength: 200 },
      { name: "lane", type: "SELECT", values: ["todo", "doing", "done"], required: true },
      { name: "private", type: "BOOLEAN", required: true },
      { name: "owner", type: "RELATION", collection: "users", onDelete: "cascade", required: true },
    ],
    listRule: seen,
    viewRule: seen,
    createRule: "owner = @auth.id",
    updateRule: `${seen} && !@changed.owner && (!@changed.private || owner = @auth.id)`,
    deleteRule: seen,
  });
}
